"""What stands behind lines of a conversation without being its text: how far a turn is, what it
took, how many lines a change has. Pure.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lsp_agent.server.chat.grammar import marked
from lsp_agent.server.chat.outline import exchanges
from lsp_agent.server.chat.turn_states import TurnState
from lsp_agent.text.lines import split_lines

#: As ``words.py`` writes them.
_PLACE = re.compile(r"  - .*:\d+$")
_DIFF = re.compile(r"(`{3,})diff$")
_MORE = re.compile(r"… (\d+ more lines)$")
_SECONDS_A_MINUTE = 60
_THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class StateHint:
    """Behind the end of ``line``."""

    line: int
    words: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Of the session that a document goes on with: ``ended`` are its turns of this run, the last
    one first, ``state`` is that of one that has begun, ``is_written`` whether more words of it
    come, ``asked`` whether a question waits, ``now`` a time as theirs."""

    ended: Iterable[TurnState]
    state: Callable[[str], TurnState | None]
    is_written: Callable[[str], bool]
    asked: bool
    now: float


def state_hints(text: str, standing: Standing | None) -> list[StateHint]:
    """None is for a document that goes on with no session."""
    found = [*_changes(text)]
    if standing is not None:
        found += [*_running(text, standing), *_ended(text, standing)]
    return sorted(found, key=lambda hint: hint.line)


def _running(text: str, standing: Standing) -> Iterator[StateHint]:
    """At their marks."""
    written = [each for each in marked(text) if standing.is_written(each[0])]
    states = [standing.state(turn_id) for turn_id, _ in written]
    for (_, at), state in zip(written, states, strict=True):
        if state is None:
            words = "waits for the turn before it" if any(states) else "the agent starts"
        elif standing.asked and state.ended is None:
            words = "waiting for you"
        else:
            words = ", ".join([*_step(state), *_took(state, standing.now)])
        yield StateHint(text.count("\n", 0, at), words)


def _ended(text: str, standing: Standing) -> Iterator[StateHint]:
    """At the headings of their answers: both are in one order, in which some may be missing."""
    left = [one for one in reversed(exchanges(text)) if one.you and one.agent]
    prompts = [text[one.you.body : one.you.end].strip() if one.you else "" for one in left]
    at = 0
    for state in standing.ended:
        try:
            found = prompts.index(state.prompt.strip(), at)
        except ValueError:
            continue
        at = found + 1
        agent = left[found].agent
        if agent is not None:
            words = ", ".join(_took(state, standing.now))
            yield StateHint(text.count("\n", 0, agent.start), words)


def _step(state: TurnState) -> Iterator[str]:
    if state.step:
        yield f"step {state.step}"


def _took(state: TurnState, now: float) -> Iterator[str]:
    seconds = max(round((state.ended or now) - state.begun), 0)
    minutes, rest = divmod(seconds, _SECONDS_A_MINUTE)
    yield f"{minutes} min {rest} s" if minutes else f"{rest} s"
    if state.tokens:
        many = state.tokens >= _THOUSAND
        count = f"{state.tokens / _THOUSAND:.1f}k" if many else str(state.tokens)
        yield f"{count} tokens"


def _changes(text: str) -> Iterator[StateHint]:
    """At the last place that a change names, before its lines."""
    place: int | None = None
    fence, added, removed, more = "", 0, 0, ""
    for number, whole in enumerate(split_lines(text)):
        line = whole.rstrip()
        if fence:
            if line == fence:
                if place is not None:
                    yield StateHint(place, f"+{added} −{removed}{more}")
                place, fence = None, ""
            elif found := _MORE.match(line):
                more = f", {found[1]}"
            else:
                added += line.startswith("+")
                removed += line.startswith("-")
        elif _PLACE.match(line):
            place = number
        elif place is not None and (found := _DIFF.match(line)):
            fence, added, removed, more = found[1], 0, 0, ""
        elif line:
            place = None
