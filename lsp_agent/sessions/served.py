"""What a session's agent was shown, and how that differs from what is there now."""

import os
import time
from dataclasses import dataclass

import anyio.to_thread

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.sessions.services import Services
from lsp_agent.text.diff import diff
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.surrogates import whole_text
from lsp_agent.workspace.paths import from_ledger

Stamp = tuple[int | str, ...]

_MAX_DIFF_LINES = 40
_SETTLED_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Shown:
    """``stamp`` tells the file from a changed one; None if it cannot be trusted to."""

    text: Text
    stamp: Stamp | None


class Served:
    """By real path, the text last given to the agent, its own proposals merged in."""

    def __init__(self, services: Services, session_id: str) -> None:
        self._services = services
        self._session_id = session_id
        self._shown: dict[str, _Shown] = {}
        self._rejections: list[str] = []

    def get(self, path: str) -> Text | None:
        shown = self._shown.get(path)
        return shown.text if shown else None

    def paths(self) -> list[str]:
        return list(self._shown)

    def put(self, path: str, text: Text) -> Text:
        """What is shown of ``text``: U+FFFD for halves of surrogate pairs. Were it not what the
        agent saw, its next whole text would seem to change them."""
        shown = whole_text(text)
        self._shown[path] = _Shown(shown, None)
        return shown

    def clear(self) -> None:
        self._shown.clear()

    def tell_rejected(self, path: str, reason: str | None) -> None:
        """The user took back a change of the agent's; it hears so at its next tool result or
        prompt, whichever is first."""
        why = f": {reason}" if reason else ", without giving a reason"
        self._rejections.append(f"The user rejected your change of {path}{why}.")

    def rejections(self) -> str:
        """What ``tell_rejected`` was told, a line each, to go out now; "" when nothing was."""
        lines, self._rejections = self._rejections, []
        return "\n".join(dict.fromkeys(lines))

    async def changes(self, shown_path: str) -> str:
        """A note on what the user rejected and on every served file that is now another text,
        each with a short diff; the agent then knows, so they are served anew. "" when nothing
        changed."""
        notes = [rejected] if (rejected := self.rejections()) else []
        for path, shown in list(self._shown.items()):
            stamp = await self._stamp(path)
            if stamp is not None and stamp == shown.stamp:
                continue
            now = await self._now(path)
            if now is None:
                continue
            self._shown[path] = _Shown(now, stamp)
            if now != shown.text:
                diff = short_diff(shown.text, now)
                notes.append(f"{path} changed since you last saw it:\n{diff}")
        if not notes:
            return ""
        return f"\n[Note from the editor, not part of {shown_path}]\n" + "\n".join(notes)

    async def _stamp(self, path: str) -> Stamp | None:
        """Of a file that is not open: its own, and the proposals that are merged in."""
        if self._services.documents.at(path) is not None:
            return None
        found = await anyio.to_thread.run_sync(_stamp_of, path)
        if found is None:
            return None
        proposals = self._services.ledger.changes(
            session_id=self._session_id, path=path, status="proposed"
        )
        return *found, *(change.id for change in proposals)

    async def _now(self, path: str) -> Text | None:
        """None where nothing can be said: a note must not fail a call that is done."""
        try:
            view = await self._services.host.view(from_ledger(path), self._session_id)
        except LspAgentError:
            return None
        return None if view.not_text else whole_text(view.text or EMPTY)


def _stamp_of(path: str) -> tuple[int, ...] | None:
    """None for a file that was just written: a second write could leave the same stamp."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a path of the ledger is a string
    except OSError:
        return None
    if time.time() - found.st_mtime < _SETTLED_SECONDS:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def short_diff(before: Text, after: Text) -> str:
    """``-``/``+`` rows with 1-based line numbers, cut at a length a model can digest."""
    rows: list[str] = []
    for hunk in diff(before.lines, after.lines):
        rows.append(f"@@ line {hunk.new_start + 1} @@")
        rows += [f"-{line.rstrip()}" for line in before.lines[hunk.old_start : hunk.old_end]]
        rows += [f"+{line.rstrip()}" for line in after.lines[hunk.new_start : hunk.new_end]]
    if len(rows) > _MAX_DIFF_LINES:
        left = len(rows) - _MAX_DIFF_LINES
        rows = [*rows[:_MAX_DIFF_LINES], f"... {left} more rows; read the file again"]
    return "\n".join(rows) + "\n"
