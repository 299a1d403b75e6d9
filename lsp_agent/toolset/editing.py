"""``edit``: texts looked for in a file and replaced, each once.

Better than zot's own on purpose: an edit leaves the line ends outside of what it replaces alone,
matches text that was copied with its ``\\r\\n`` out of a file that has such line ends, and says
where it was found twice, or nearly found.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise

from lsp_agent.text.edits import replace_spans
from lsp_agent.text.lines import Text
from lsp_agent.toolset.arguments import Replacement, ToolFailure

EDIT_REQUIRED = "at least one edit is required"
NO_CHANGE = "(nothing changed)"
#: Of what an edit's ``oldText`` matches.
_MOST_PLACES = 8
#: Characters of a file that is searched once more for what was nearly meant.
_MOST_SEARCHED = 1 << 20


def missing_open(path: str) -> str:
    """For ``edit``."""
    return f"open {path}: no such file or directory"


def read_directory(path: str) -> str:
    """For ``edit``."""
    return f"read {path}: is a directory"


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of the LF-normalised text and what goes there."""

    start: int
    end: int
    new: str


def edit_text(path: str, text: Text, edits: tuple[Replacement, ...]) -> Text:
    """``text`` after ``edits``, all of which are looked for in ``text`` itself.

    Matching reads ``\\r\\n`` as ``\\n``. Everything outside of what changes keeps its line
    ends; new lines get those of the place that they go to. Raises ToolFailure if an edit is
    empty, changes nothing, is not found or is found twice, or if two overlap.
    """
    if not edits:
        raise ToolFailure(EDIT_REQUIRED)
    content = text.content
    # A single character is looked for many times as fast as two.
    crlf = "\r" in content and "\r\n" in content
    body = content.replace("\r\n", "\n") if crlf else content
    spans = sorted(
        (_found(number, edit, body, crlf, path) for number, edit in enumerate(edits, 1)),
        key=lambda span: span.start,
    )
    if any(one.end > following.start for one, following in pairwise(spans)):
        raise ToolFailure("edits overlap; merge them into one edit")
    if not crlf:
        return replace_spans(text, [(span.start, span.end, span.new) for span in spans])
    ends = _LineEnds(content, body)
    return replace_spans(text, [ends.restored(_trimmed(span, body)) for span in spans])


def _found(number: int, edit: Replacement, body: str, crlf: bool, path: str) -> _Span:
    old, new = edit.old, edit.new
    if crlf:
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not old:
        raise ToolFailure(f"edit {number}: oldText must not be empty")
    if old == new:
        raise ToolFailure(f"edit {number}: oldText equals newText")
    start = body.find(old)
    if start < 0:
        raise ToolFailure(f"edit {number}: oldText not found in {path}{_near(body, old)}")
    if body.find(old, start + 1) >= 0:
        count = sum(body.startswith(old, at) for at in range(start, len(body)))
        raise ToolFailure(
            f"edit {number}: oldText matches {count} times (must be unique) in {path}"
            f" (at lines {_lines(body, old)})"
        )
    return _Span(start, start + len(old), new)


def _lines(body: str, old: str) -> str:
    """Where ``old`` begins, at most _MOST_PLACES."""
    places: list[str] = []
    start = body.find(old)
    while start >= 0 and len(places) < _MOST_PLACES:
        places.append(str(body.count("\n", 0, start) + 1))
        start = body.find(old, start + len(old))
    return ", ".join(places) + (", …" if start >= 0 else "")


def _near(body: str, old: str) -> str:
    """Where the file has ``old`` but for the white space at the ends of its lines."""
    wanted = [line.strip() for line in old.strip().split("\n")]
    if not wanted[0] or len(body) > _MOST_SEARCHED:
        return ""
    lines = [line.strip() for line in body.split("\n")]
    for place, line in enumerate(lines):
        if line == wanted[0] and lines[place : place + len(wanted)] == wanted:
            return f"; line {place + 1} differs from it in white space only"
    return ""


def _trimmed(span: _Span, body: str) -> _Span:
    """Without what old and new begin and end with alike, so that its line ends stay too."""
    old, new = body[span.start : span.end], span.new
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    most -= head
    tail = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    return _Span(span.start + head, span.end - tail, new[head : len(new) - tail])


class _LineEnds:
    """Where the ``\\r\\n`` of a text are, by their places in the text with ``\\n`` for them."""

    def __init__(self, content: str, body: str) -> None:
        self._content = content
        self._body = body
        self._mixed: list[int] | None = None
        if content.count("\r\n") != content.count("\n"):
            self._mixed = [m.start() - i for i, m in enumerate(re.finditer("\r\n", content))]

    def restored(self, span: _Span) -> tuple[int, int, str]:
        """``span`` in the text itself."""
        new = span.new.replace("\n", "\r\n") if self._is_crlf_at(span.start) else span.new
        return self._offset(span.start), self._offset(span.end), new

    def _offset(self, place: int) -> int:
        """The offset in the text itself."""
        if self._mixed is None:
            return place + self._body.count("\n", 0, place)
        return place + bisect_left(self._mixed, place)

    def _is_crlf_at(self, place: int) -> bool:
        """Whether the line at ``place`` ends in ``\\r\\n``; the last line, if it has no end, goes
        by the line before it."""
        start = self._offset(place)
        end = self._content.find("\n", start)
        if end < 0:
            end = self._content.rfind("\n", 0, start)
        return end > 0 and self._content[end - 1] == "\r"
