"""The provider ``script``: answers that were written down beforehand.

Everything else of the agent is the same as with a model behind it, so this is what runs the
demo and the tests, offline and without a key.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from itertools import count
from pathlib import Path

import orjson

from lsp_agent.protocol.script import Script, ScriptError, Step, parse_script
from lsp_agent.runtime.options import NotConfigured
from lsp_agent.runtime.providers.provider import (
    CallArguments,
    CallEnded,
    CallStarted,
    Model,
    Piece,
    ProviderFailure,
    Request,
    Stopped,
    TextPiece,
    ThinkingPiece,
)
from lsp_agent.runtime.transcript import Message, Usage, text_of

_END = "The script has no more steps."
_WORD = re.compile(r"\s*\S+\s?|\s+")
_ARGUMENTS_PIECE = 24


class ScriptProvider:
    """Goes through the steps of a script, one for each answer or summary."""

    name = "script"
    reasoning: str | None = None
    models = (Model("script", context_window=200_000, max_output=64_000, reasoning=False),)

    #: Its steps are written for prompts, not for summaries that come by themselves.
    compacts = False

    def __init__(self, script: Script) -> None:
        self._steps = script.steps
        self._next = 0
        self._call_numbers = count(1)

    @classmethod
    def from_file(cls, path: str) -> "ScriptProvider":
        """Raises NotConfigured or ScriptError, both with the file's name."""
        try:
            data = orjson.loads(Path(path).read_bytes())
        except OSError as error:
            raise NotConfigured(f"the script {path} cannot be read: {error.strerror}") from None
        except orjson.JSONDecodeError as error:
            raise ScriptError(f"the script {path} is not JSON: {error}") from None
        try:
            return cls(parse_script(data))
        except ScriptError as error:
            raise ScriptError(f"{path}: {error}") from None

    def find(self, model: str) -> Model | None:
        return next((known for known in self.models if known.id == model), None)

    async def answer(self, request: Request) -> AsyncGenerator[Piece]:
        last = request.messages[-1]
        prompt = text_of(last) if last["role"] == "user" else None
        step = self._take(prompt) or Step(text=_END)
        await asyncio.sleep(step.delay_ms / 1000)
        if step.error is not None and not step.text:
            yield Stopped("error", step.error)
            return
        pieces = 0
        for piece in self._pieces(step):
            # Even without a pace the loop must turn, or an abort would not be read.
            await asyncio.sleep(step.pace_ms / 1000)
            yield piece
            pieces += 1
        yield Usage(input=len((prompt or "").split()), output=pieces)
        if step.error is not None:
            yield Stopped("error", step.error)
        elif step.stop == "length":
            yield Stopped("length")
        else:
            yield Stopped("tool_use" if step.calls else "end")

    async def summarize(self, model: str, messages: Sequence[Message]) -> tuple[str, Usage]:  # noqa: ARG002  it needs neither
        step = self._take(None) or Step(error=_END)
        await asyncio.sleep(step.delay_ms / 1000)
        if step.error is not None:
            raise ProviderFailure(step.error)
        return step.text, Usage(output=len(step.text.split()))

    def _take(self, prompt: str | None) -> Step | None:
        """The step that is next, None past the last."""
        if prompt is not None:
            self._next = next(
                (
                    index
                    for index, step in enumerate(self._steps)
                    if step.match is not None and step.match.search(prompt)
                ),
                self._next,
            )
        if self._next >= len(self._steps):
            return None
        self._next += 1
        return self._steps[self._next - 1]

    def _pieces(self, step: Step) -> Iterable[Piece]:
        for word in _WORD.findall(step.thinking):
            yield ThinkingPiece(word)
        for word in _WORD.findall(step.text):
            yield TextPiece(word)
        for call in step.calls:
            call_id = f"call_{next(self._call_numbers):02}"
            yield CallStarted(call_id, call.name)
            text = orjson.dumps(call.args).decode()
            for start in range(0, len(text), _ARGUMENTS_PIECE):
                yield CallArguments(call_id, text[start : start + _ARGUMENTS_PIECE])
            yield CallEnded(call_id)
