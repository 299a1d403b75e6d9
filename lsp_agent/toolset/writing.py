"""``write``: a whole text in the place of another, and why it cannot be had there."""

from lsp_agent.text.lines import Text


def open_directory(path: str) -> str:
    """For ``write``."""
    return f"open {path}: is a directory"


def with_line_ends_of(content: str, now: Text) -> Text:
    """The whole text of a ``write`` in place of ``now``: its encoding, its BOM, and, where a
    model wrote plain ``\\n`` for a file that only has ``\\r\\n``, its line ends."""
    old = now.content
    if "\r" not in content and "\r\n" in old and old.count("\n") == old.count("\r\n"):
        content = content.replace("\n", "\r\n")
    return Text.of(content.removeprefix("\ufeff") if now.bom else content, like=now)
