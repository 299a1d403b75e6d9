"""What a person is told of what an agent changed on disk: only what the editor does not show."""

import os
from collections.abc import Iterable, Sequence

from lsp_agent.protocol.events import Level, Notice
from lsp_agent.text.lines import Text
from lsp_agent.text.plain import escaped_line
from lsp_agent.workspace.disk.look import Content, Unreadable
from lsp_agent.workspace.mirror.disk_change import Brought

_MAX_NAMES = 5
_MAX_WHAT = 60


def disk_notices(brought: Sequence[Brought], tool: str, what: str, cwd: str) -> list[Notice]:
    """One notice for each thing there is to say; ``what`` is the command line, or the path, of
    the call of ``tool`` that did it."""
    by = _by(tool, what)

    def named(paths: Iterable[str]) -> str:
        return _names(sorted(set(paths)), cwd)

    clashing = [b.disk.path for b in brought if b.what == "proposed" and not b.reason]
    gone = [b.disk.path for b in brought if b.what == "gone" and b.disk.renamed_to is None]
    moved = [b for b in brought if b.what == "gone" and b.disk.renamed_to is not None]
    notices: list[Notice] = []
    if clashing:
        notices.append(
            _notice(
                f"{by} changed {named(clashing)} on disk where you have unsaved text. Yours stays"
                " in the editor and the agent's version is a proposal. Saving overwrites that"
                " version on disk; the proposal keeps it."
            )
        )
    if gone:
        notices.append(
            _notice(
                f"{by} deleted {named(gone)} on disk; your editor still shows it. Saving brings it"
                " back."
            )
        )
    for one in moved:
        new = _names([one.disk.renamed_to or ""], cwd)
        notices.append(
            _notice(
                f"{by} renamed {named([one.disk.path])} to {new} on disk; your editor still shows"
                " the old name. Saving brings that back."
            )
        )
    return notices + _reasons(brought, by, cwd)


def _reasons(brought: Sequence[Brought], by: str, cwd: str) -> list[Notice]:
    """By reason, which files could not be brought in, or only as proposals."""
    by_reason: dict[tuple[Level, str], list[str]] = {}
    for one in brought:
        match one.what:
            case "proposed" if one.reason:
                key: tuple[Level, str] = ("warning", one.reason)
            case "unreadable" if one.open:
                key = ("warning", f"{one.reason}; the editor still shows the old text.")
            case "unreadable" if _was_text(one.disk.before):
                key = ("info", f"{one.reason}; this cannot be reviewed or undone.")
            case "failed":
                key = ("warning", one.reason)
            case _:
                continue
        by_reason.setdefault(key, []).append(one.disk.path)
    return [
        Notice(level, f"{by} changed {_names(sorted(paths), cwd)} on disk: {reason}", "lsp-agent")
        for (level, reason), paths in by_reason.items()
    ]


def _was_text(content: Content) -> bool:
    """In whatever encoding: of what a build makes anew nothing need be said."""
    return isinstance(content, Text) or (isinstance(content, Unreadable) and not content.binary)


def _by(tool: str, what: str) -> str:
    shown = escaped_line(what.strip())
    cut = "…" if len(shown) > _MAX_WHAT else ""
    return f"The agent's {escaped_line(tool)} ({shown[:_MAX_WHAT]}{cut})"


def _names(paths: Sequence[str], cwd: str) -> str:
    shown = [escaped_line(os.path.relpath(path, cwd)) for path in paths[:_MAX_NAMES]]
    more = f" and {len(paths) - _MAX_NAMES} more" if len(paths) > _MAX_NAMES else ""
    return ", ".join(shown) + more


def _notice(message: str) -> Notice:
    return Notice("warning", message, "lsp-agent")
