"""What a session's agent knows of the files, and what it is told of how they are now."""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import anyio.to_thread

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.sessions.files.knowledge import Knowledge, first_read, news, whole
from lsp_agent.sessions.shared.services import Services
from lsp_agent.text.lines import EMPTY, Text, is_long
from lsp_agent.text.surrogates import whole_text
from lsp_agent.workspace.disk.paths import from_ledger

Stamp = tuple[object, ...]

#: Of the files that are not open, how many are looked at for a note: those that the agent met
#: last, and as many of the others, which take turns. What a call costs must not grow with them.
_LAST = 32
_IN_TURN = 32
_SETTLED_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Known:
    """``stamp`` tells the text that was last looked at from a changed one; None if none does."""

    knowledge: Knowledge
    stamp: Stamp | None = None


class ShownToAgent:
    """By real path, what the agent knows of a file; its own proposals are part of that."""

    def __init__(self, services: Services, session_id: str) -> None:
        self._services = services
        self._session_id = session_id
        # In the order in which the agent met them.
        self._known: dict[str, _Known] = {}
        #: By path, the agent's own calls that are changing it.
        self._changing: Counter[str] = Counter()
        self._turn = 0
        self._rejections: list[str] = []

    def knowledge(self, path: str) -> Knowledge | None:
        known = self._known.get(path)
        return known.knowledge if known else None

    def paths(self) -> list[str]:
        return list(self._known)

    def read(self, path: str, now: Text, start: int = 0, end: int | None = None) -> Text:
        """The agent is shown the lines ``start`` to ``end`` (0-based, half-open) of ``now``.

        The result is what is shown of the text: U+FFFD for halves of surrogate pairs. Were they
        not what it saw, its next whole text would seem to change them.
        """
        now = whole_text(now)
        size = len(now.lines)
        known = self.knowledge(path)
        if start <= 0 and (end is None or end >= size):
            self._put(path, whole(now))
        elif known is None:
            self._put(path, first_read(now, start, size if end is None else end))
        else:
            self._put(path, known.read(now, start, size if end is None else end))
        return now

    def wrote(self, path: str, text: Text) -> None:
        """The agent has made the whole file ``text``, knowing of nothing else in it."""
        self._put(path, whole(whole_text(text)))

    def edited(self, path: str, before: Text, after: Text) -> None:
        """The agent's edit made ``after`` of ``before``."""
        before, after = whole_text(before), whole_text(after)
        known = self.knowledge(path) or Knowledge(None, before)
        self._put(path, known.edited(before, after))

    @contextmanager
    def changing(self, path: str) -> Generator[None]:
        """While a call of the agent's changes ``path`` and has not said what it made: what another
        call finds there meanwhile may be the agent's own."""
        self._changing[path] += 1
        try:
            yield
        finally:
            self._changing[path] -= 1

    def clear(self) -> None:
        self._known.clear()

    def tell_rejected(self, path: str, reason: str | None) -> None:
        """The user took back a change of the agent's; it hears so at its next tool result or
        prompt, whichever is first."""
        why = f": {reason}" if reason else ", without giving a reason"
        self._rejections.append(f"The user rejected your change of {path}{why}.")

    def rejections(self) -> str:
        """What ``tell_rejected`` was told, a line each, to go out now; "" when nothing was."""
        lines, self._rejections = self._rejections, []
        return "\n".join(dict.fromkeys(lines))

    def reject_again(self, lines: str) -> None:
        """What ``rejections`` gave did not go out."""
        self._rejections[:0] = lines.splitlines()

    async def changes(self, shown_path: str) -> str:
        """A note, which the agent is then shown, on what the user rejected and on every file that
        is not what it was told it is, each with a short diff. "" when there is nothing to say."""
        notes = [rejected] if (rejected := self.rejections()) else []
        for path, stamp in (await self._stamps(self._to_look_at())).items():
            known = self._known.get(path)
            if known is None or (stamp is not None and stamp == known.stamp):
                continue
            now = await self._now(path)
            if now is None or self._known.get(path) is not known or self._changing[path]:
                continue
            rows, told = await _news(known.knowledge.told, now)
            knowledge = replace(known.knowledge, told=told)
            self._known[path] = _Known(knowledge, stamp if told == now else None)
            if rows:
                notes.append(f"{path} changed since you last saw it:\n{rows}")
        if not notes:
            return ""
        return f"\n[Note from the editor, not part of {shown_path}]\n" + "\n".join(notes)

    def _put(self, path: str, knowledge: Knowledge) -> None:
        self._known.pop(path, None)
        self._known[path] = _Known(knowledge)

    def _to_look_at(self) -> list[str]:
        """All that are open, and some of the others."""
        paths = list(self._known)
        if len(paths) <= _LAST + _IN_TURN:
            return paths
        opened = (document.path for document in self._services.documents.all())
        others = paths[:-_LAST]
        self._turn = (self._turn + _IN_TURN) % len(others)
        in_turn = [*others, *others][self._turn : self._turn + _IN_TURN]
        known_and_open = [path for path in opened if path is not None and path in self._known]
        return list(dict.fromkeys([*known_and_open, *in_turn, *paths[-_LAST:]]))

    async def _stamps(self, paths: Sequence[str]) -> dict[str, Stamp | None]:
        """Of the texts that are there now, and the proposals that are merged in."""
        shown = {path: self._services.documents.at(path) for path in paths}
        closed = [path for path, document in shown.items() if document is None]
        on_disk = await anyio.to_thread.run_sync(_stamps_of, closed)
        proposals: defaultdict[str, list[str]] = defaultdict(list)
        for change in self._services.ledger.changes(session_id=self._session_id, status="proposed"):
            proposals[change.path].append(change.id)
        stamps: dict[str, Stamp | None] = {}
        for path, document in shown.items():
            found = on_disk[path] if document is None else (document.text,)
            stamps[path] = None if found is None else (*found, *proposals[path])
        return stamps

    async def _now(self, path: str) -> Text | None:
        """None where nothing can be said: a note must not fail a call that is done."""
        try:
            view = await self._services.host.view(from_ledger(path), self._session_id)
        except LspAgentError:
            return None
        return None if view.not_text else whole_text(view.text or EMPTY)


async def _news(told: Text, now: Text) -> tuple[str, Text]:
    if told == now:
        return "", now
    if is_long(now.lines) or is_long(told.lines):
        return await anyio.to_thread.run_sync(news, told, now)
    return news(told, now)


def _stamps_of(paths: Sequence[str]) -> dict[str, tuple[int, ...] | None]:
    """None for a file that was just written: a second write could leave the same stamp."""
    now = time.time()
    stamps: dict[str, tuple[int, ...] | None] = {}
    for path in paths:
        try:
            found = os.stat(path)  # noqa: PTH116 - a path of the ledger is a string
        except OSError:
            stamps[path] = None
            continue
        settled = now - found.st_mtime >= _SETTLED_SECONDS
        stamps[path] = (found.st_ino, found.st_size, found.st_mtime_ns) if settled else None
    return stamps
