"""The script of the provider ``script``: what the agent says and does, written down.

Plain dataclasses, checked by hand: the embedded agent reads one at every start, and a modelling
library would be most of its start-up time. ``SCRIPT`` describes the format for the docs.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from lsp_agent.protocol.errors import LspAgentError

Stop = Literal["end", "length"]


class ScriptError(LspAgentError):
    """A script that does not have the form; the message names the place and what is allowed."""


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    args: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    stop: Stop = "end"
    error: str | None = None
    delay_ms: float = 0
    pace_ms: float = 0
    match: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Script:
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class FieldDoc:
    """A row of the docs' table: the key, what it takes in words, and what it does."""

    key: str
    takes: str
    does: str


#: The keys of a step, in the order in which the docs show them.
STEP_FIELDS: tuple[FieldDoc, ...] = (
    FieldDoc("text", "a string", "What the agent says, streamed word by word."),
    FieldDoc(
        "thinking",
        "a string",
        "What the model thinks before it says anything, streamed word by word.",
    ),
    FieldDoc(
        "calls",
        "a list of objects with name (a string) and args (an object)",
        "The tools that are then run, in this order; the next step follows in the same turn."
        " Without calls the turn ends, and the next prompt goes on with the next step.",
    ),
    FieldDoc(
        "stop",
        '"end" (default) or "length"',
        '"length": the answer was cut off by the token limit; its calls are not run.',
    ),
    FieldDoc(
        "error",
        "a string",
        "The model's service fails with this message after the text. Not together with calls.",
    ),
    FieldDoc("delay_ms", "a number", "Milliseconds of silence before the step."),
    FieldDoc(
        "pace_ms", "a number", "Milliseconds before each streamed piece of text or arguments."
    ),
    FieldDoc(
        "match",
        "a regular expression",
        "A prompt in which it is found goes on here, at the first step that matches.",
    ),
)

_WORDS: Mapping[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def parse_script(data: object) -> Script:
    """``data`` is decoded JSON. Raises ScriptError."""
    script = _object(data, "the script", {"steps"})
    if "steps" not in script:
        raise ScriptError('the script has no steps; it looks like {"steps": [{"text": "Hello."}]}')
    return Script(
        tuple(_step(item, f"steps[{i}]") for i, item in enumerate(_list(script["steps"], "steps")))
    )


def _step(data: object, where: str) -> Step:
    given = _object(data, where, {row.key for row in STEP_FIELDS})
    calls = _list(given.get("calls", []), f"{where}.calls")
    error = given.get("error")
    stop = given.get("stop", "end")
    if stop not in ("end", "length"):
        raise ScriptError(f'{where}.stop must be "end" or "length"')
    if error is not None and calls:
        raise ScriptError(f"{where} has an error and calls; a step that fails calls nothing")
    return Step(
        text=_string(given.get("text", ""), f"{where}.text"),
        thinking=_string(given.get("thinking", ""), f"{where}.thinking"),
        calls=tuple(_call(item, f"{where}.calls[{i}]") for i, item in enumerate(calls)),
        stop=stop,
        error=None if error is None else _string(error, f"{where}.error"),
        delay_ms=_milliseconds(given.get("delay_ms", 0), f"{where}.delay_ms"),
        pace_ms=_milliseconds(given.get("pace_ms", 0), f"{where}.pace_ms"),
        match=_pattern(given.get("match"), f"{where}.match"),
    )


def _call(data: object, where: str) -> Call:
    given = _object(data, where, {"name", "args"})
    if "name" not in given:
        raise ScriptError(f"{where} has no name; name the tool that it calls")
    args = _object(given.get("args", {}), f"{where}.args")
    return Call(_string(given["name"], f"{where}.name"), args)


def _object(data: object, where: str, known: set[str] | None = None) -> Mapping[str, object]:
    if not isinstance(data, dict):
        raise _mistyped(where, "an object", data)
    given = cast(dict[str, object], data)
    for key in given:
        if known is not None and key not in known:
            raise ScriptError(
                f"{where} has the unknown key {key!r}; known: {', '.join(sorted(known))}"
            )
    return given


def _list(data: object, where: str) -> list[object]:
    if not isinstance(data, list):
        raise _mistyped(where, "a list", data)
    return cast(list[object], data)


def _string(data: object, where: str) -> str:
    if not isinstance(data, str):
        raise _mistyped(where, "a string", data)
    return data


def _milliseconds(data: object, where: str) -> float:
    if isinstance(data, bool) or not isinstance(data, (int, float)) or data < 0:
        raise ScriptError(f"{where} must be a number of milliseconds, 0 or more")
    return data


def _pattern(data: object, where: str) -> re.Pattern[str] | None:
    if data is None:
        return None
    try:
        return re.compile(_string(data, where))
    except re.error as error:
        raise ScriptError(f"{where} is no regular expression: {error}") from None


def _mistyped(where: str, wanted: str, data: object) -> ScriptError:
    return ScriptError(f"{where} must be {wanted}; it is {_WORDS[type(data)]}")
