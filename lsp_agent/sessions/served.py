"""What a session's agent was shown, and how that differs from what is there now."""

from lsp_agent.sessions.edits import text_now
from lsp_agent.text.diff import diff
from lsp_agent.text.lines import Text
from lsp_agent.workspace.file_host import FileHost

_MAX_DIFF_LINES = 40


class Served:
    """By real path, the text last given to the agent."""

    def __init__(self, host: FileHost) -> None:
        self._host = host
        self._texts: dict[str, Text] = {}

    def get(self, path: str) -> Text | None:
        return self._texts.get(path)

    def put(self, path: str, text: Text) -> None:
        self._texts[path] = text

    def clear(self) -> None:
        self._texts.clear()

    async def changes(self, shown_path: str) -> str:
        """A note on every served file that is now another text, each with a short diff; the
        agent then knows, so they are served anew. "" when nothing changed."""
        notes: list[str] = []
        for path, text in list(self._texts.items()):
            now = await text_now(self._host, path)
            if now != text:
                self._texts[path] = now
                notes.append(f"{path} changed since you last saw it:\n{short_diff(text, now)}")
        if not notes:
            return ""
        return f"\n[Note from the editor, not part of {shown_path}]\n" + "\n".join(notes)


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
