"""The line ends that editors give to a text, whatever an edit says; pure.

What an editor makes of an edit must be known, for the edit to be recognised in the text.
"""

from collections.abc import Sequence

from lsp_agent.text.edits import TextEdit
from lsp_agent.text.lines import Text, body_length, split_lines


def with_line_ends_of(base: Text, meant: Text, edits: Sequence[TextEdit]) -> Text:
    """``meant`` with the line ends that ``base`` has throughout: editors make them alike.
    ``edits`` lead from one to the other."""
    first = base.lines[0] if base.lines else ""
    end = first[body_length(first) :]
    strange = (edit for edit in edits if not _all_end_with(split_lines(edit.new_text), end))
    if not end or next(strange, None) is None or not _all_end_with(base.lines, end):
        return meant
    return meant.with_lines(
        tuple(
            line[: body_length(line)] + end if body_length(line) < len(line) else line
            for line in meant.lines
        )
    )


def with_last_line_end_of(base: Text, meant: Text) -> Text:
    """``meant`` with an end to its last line where ``base`` has one, else without."""
    had = base.lines[-1] if base.lines else ""
    end = had[body_length(had) :]
    last = meant.lines[-1] if meant.lines else ""
    if not base.lines or bool(end) == (body_length(last) < len(last)):
        return meant
    return meant.with_lines((*meant.lines[:-1], last[: body_length(last)] + end))


def _all_end_with(lines: Sequence[str], end: str) -> bool:
    """Whether all lines end so, or, as the last one may, not at all."""
    return all(line[body_length(line) :] in {end, ""} for line in lines)
