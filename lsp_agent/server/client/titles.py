"""Titles that are short and in one line."""

from lsp_agent.text.plain import escaped_line

_LENGTH = 60


def shortened(text: str) -> str:
    """The first line of ``text``, escaped and cut to 60 characters; "" for blank text."""
    first, _, _ = text.strip().partition("\n")
    shown = escaped_line(first[: _LENGTH + 1].rstrip())
    return shown if len(shown) <= _LENGTH else f"{shown[:_LENGTH]}…"
