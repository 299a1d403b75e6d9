"""What the editor's other language servers say of an agent's edits: only what is new.

They take their time, and a result does not wait long for them: what comes later is named in the
result of the agent's next file call.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import anyio

from lsp_agent.protocol.client_requests import Diagnostic
from lsp_agent.workspace.documents.documents import Documents

#: By URI as it was asked for, what is said now; a document without an answer is left out.
#: Bounded in time; never raises.
AskDiagnostics = Callable[[Sequence[str]], Awaitable[Mapping[str, list[Diagnostic]]]]

#: How long the result of an edit waits for something new, and how often it looks.
_SECONDS = 0.5
_PAUSE = 0.1

_SEVERITIES = {1: "error", 2: "warning"}
_MOST_FILES = 5
_MOST_PROBLEMS = 5
_LONGEST_MESSAGE = 300


@dataclass(slots=True)
class _Watched:
    """``known`` is what the agent need not be told: there before its edit, or told already.
    ``edited``: it has changed the document, and nothing new was said since; ``just`` until the
    first look."""

    uri: str
    known: list[Diagnostic]
    edited: bool = False
    just: bool = False


class NewProblems:
    """Of one session, by real path; without ``ask`` it does nothing. Each turn begins anew."""

    def __init__(self, ask: AskDiagnostics | None, documents: Documents) -> None:
        self._ask = ask
        self._documents = documents
        self._turn_id: str | None = None
        self._watched: dict[str, _Watched] = {}

    async def before_edit(self, path: str, turn_id: str | None) -> None:
        """Remembers what is said of the document before the agent changes it."""
        if turn_id != self._turn_id:
            self._turn_id = turn_id
            self._watched.clear()
        document = self._documents.at(path)
        watched = self._watched.get(path)
        if self._ask is None or document is None or (watched is not None and watched.edited):
            return
        now = await self._ask([document.uri])
        if document.uri in now:
            self._watched[path] = _Watched(document.uri, now[document.uri])

    def edited(self, path: str) -> None:
        """The agent's edit is in the document."""
        if (watched := self._watched.get(path)) is not None:
            watched.edited = watched.just = True

    async def note(self, still_wanted: Callable[[], bool]) -> str:
        """What is new in the documents that were edited; "" where nothing is. Waits for it half
        a second at most, and only after an edit that was not asked about yet."""
        waiting = {path: one for path, one in self._watched.items() if one.edited}
        if self._ask is None or not waiting:
            return ""
        patient = any(one.just for one in waiting.values())
        for one in waiting.values():
            one.just = False
        found: dict[str, list[Diagnostic]] = {}
        with anyio.move_on_after(_SECONDS):
            while still_wanted():
                fresh = await self._fresh(waiting)
                if fresh == found and (fresh or not patient):
                    break  # nothing more came
                found = fresh
                await anyio.sleep(_PAUSE)
        for path, new in found.items():
            waiting[path].known += new
            waiting[path].edited = False
        return "".join(_told(path, new) for path, new in found.items())

    async def _fresh(self, waiting: Mapping[str, _Watched]) -> dict[str, list[Diagnostic]]:
        assert self._ask is not None
        latest = dict(list(waiting.items())[-_MOST_FILES:])
        now = await self._ask([one.uri for one in latest.values()])
        fresh = {
            path: new_problems(one.known, now.get(one.uri, [])) for path, one in latest.items()
        }
        return {path: new for path, new in fresh.items() if new}


def new_problems(known: Sequence[Diagnostic], now: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The errors and warnings of ``now`` that are not among ``known``, errors first. Edits move
    problems about, so they are told by their words, and of several alike the last are new."""
    left = Counter(map(_key, known))
    new: list[Diagnostic] = []
    for problem in sorted(now, key=lambda problem: problem.range.start.line):
        key = _key(problem)
        if left[key]:
            left[key] -= 1
        elif _severity(problem) in _SEVERITIES:
            new.append(problem)
    return sorted(new, key=_severity)


def _severity(problem: Diagnostic) -> int:
    """One without a severity counts as an error."""
    return problem.severity or 1


def _key(problem: Diagnostic) -> tuple[object, ...]:
    return _severity(problem), problem.source, problem.code, problem.message


def _told(path: str, new: Sequence[Diagnostic]) -> str:
    lines = [f"\n[Note from the editor]\nNew problems in {path}, say its language servers:"]
    for problem in new[:_MOST_PROBLEMS]:
        message = " ".join(problem.message.split())[:_LONGEST_MESSAGE]
        by = " ".join(str(word) for word in (problem.source, problem.code) if word is not None)
        kind = _SEVERITIES[_severity(problem)]
        place = f"line {problem.range.start.line + 1}"
        lines.append(f"{kind}, {place}: {message}" + (f" ({by})" if by else ""))
    if len(new) > _MOST_PROBLEMS:
        lines.append(f"and {len(new) - _MOST_PROBLEMS} more")
    return "\n".join(lines) + "\n"
