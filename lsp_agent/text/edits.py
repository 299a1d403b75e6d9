"""Edits of a text: ranges in code points, as they stand in the text before any of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replaces (start, end) by ``new_text``; lines and columns 0-based, columns in code points."""

    start_line: int
    start_column: int
    end_line: int
    end_column: int
    new_text: str
