"""An edit as it was sent, found in a text that it was not made for: where nothing is checked, an
editor puts it at the same line and column of whatever it shows by then. Pure."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

from lsp_agent.text.edits import TextEdit, apply_edits
from lsp_agent.text.lines import Text, clamp, split_lines
from lsp_agent.text.positions import Encoding, to_column, to_units
from lsp_agent.workspace.documents.open_document import ContentChange
from lsp_agent.workspace.placing.repair import offset_of, splice_between
from lsp_agent.workspace.placing.signs import MOST_COMPARED, TELLING_LENGTH

#: Code points that no person types just then, and alike, somewhere else.
_NEVER_TYPED = 20
# Line ends that edits may have taken out more than their own, or less; and so many less at the end
# of a text. Each is tried.
_FEW, _FEW_AT_END = 2, 8
# The widest code point less one.
_SLACK: dict[Encoding, int] = {"utf-8": 3, "utf-16": 1, "utf-32": 0}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One send: ``edits`` make ``base`` into ``meant``."""

    base: Text
    meant: Text
    edits: tuple[TextEdit, ...]


def as_sent(
    attempt: Attempt, text: Text, encoding: Encoding, *, selected_as: Text | None = None
) -> Text | None:
    """What the edits make of ``text`` at the places that they were sent with; ``selected_as``: in
    Kakoune, whose client had told of that text last."""
    if selected_as is not None:
        return _selected(attempt, text, selected_as, encoding)

    def moved(line: int, column: int) -> tuple[int, int]:
        units = _units(line, column, attempt.base.lines, encoding)
        return line, to_column(text.lines[line], units, encoding) if line < len(text.lines) else 0

    edits = [
        TextEdit(*moved(e.start_line, e.start_column), *moved(e.end_line, e.end_column), e.new_text)
        for e in attempt.edits
    ]
    try:
        return apply_edits(text, edits)
    except ValueError:
        return None


def _selected(attempt: Attempt, text: Text, told: Text, encoding: Encoding) -> Text | None:
    """As Kakoune does it, the last edit first. The sign at a place behind a line's last one is the
    line end; with a range goes the sign before its end. Its texts end with a line end."""
    for edit in reversed(attempt.edits):
        if _is_left_out(edit, attempt.base, told, encoding):
            continue
        starts = _sign(text, edit.start_line, edit.start_column, attempt.base, encoding)
        stops = starts
        if (edit.start_line, edit.start_column) < (edit.end_line, edit.end_column):
            line, column = edit.end_line, edit.end_column
            stops = sum(map(len, text.lines[:line]))
            if column:
                stops = _sign(text, line, column - 1, attempt.base, encoding) + 1
        if not 0 <= starts <= stops:
            return None
        content, new = text.content, edit.new_text
        if starts < stops == len(content):
            new += "\n"
            starts -= content[starts - 1 : starts] == "\n"  # taken for the last one
        text = Text.of(content[:starts] + new + content[stops:], like=text)
    return text


def _is_left_out(edit: TextEdit, base: Text, told: Text, encoding: Encoding) -> bool:
    """As kakoune-lsp leaves out an edit within one line: at columns which that does not have in the
    text that it has told of, or which changes nothing there (22, src/text_edit.rs)."""
    if edit.start_line != edit.end_line or edit.end_line >= len(told.lines):
        return False
    line = told.lines[edit.start_line]
    columns = edit.start_column, edit.end_column
    start, end = (_units(edit.start_line, column, base.lines, encoding) for column in columns)
    if end > to_units(line, len(line), encoding) + 1:
        return True
    start, end = (to_column(line, units, encoding) for units in (start, end))
    return line[start:end] == edit.new_text


def _sign(text: Text, line: int, column: int, base: Text, encoding: Encoding) -> int:
    """The offset of the sign that Kakoune selects for a place in ``base``."""
    if line >= len(text.lines):
        return len(text.content) - 1
    units = _units(line, column, base.lines, encoding)
    column = to_column(text.lines[line], units, encoding)
    return sum(map(len, text.lines[:line])) + min(column, len(text.lines[line]) - 1)


def before_moved_lines(
    attempt: Attempt, told: Text, after: Text, known: Text, encoding: Encoding
) -> Text | None:
    """The text of which the edits, at the places that they were sent with, have made ``after`` in a
    Kakoune whose client had told of ``known`` last, where since ``told`` lines were typed or taken
    out above the first of them and nothing else was done: what they took out is known from ``told``
    then. None where it was not so, and where to have typed all that differs is less to assume."""
    edits = [e for e in attempt.edits if not _is_left_out(e, attempt.base, known, encoding)]
    if not edits:
        return None
    (most, most_signs), found = _typed(told, after), None
    for move, above in itertools.product(_moves(edits, told, after), (0, 1)):
        # An edit at the end may have taken out the end of the line above it.
        at = min(edits[0].start_line, len(told.lines) + move - 1) - above
        if move == 0 or at < 0 or at < move:
            continue
        before = Text.of("".join((*after.lines[:at], *told.lines[at - move :])), like=after)
        typed, signs = _typed(told, before)
        if typed >= most or signs >= most_signs:
            continue
        if _alike(told, before) + max(move, 0) > at:  # the edits took out some of what was typed
            continue
        if as_sent(attempt, before, encoding, selected_as=known) == after:
            most, most_signs, found = typed, signs, before
    return found


def _moves(edits: Sequence[TextEdit], told: Text, after: Text) -> range:
    """By how many lines the rest may have moved."""
    taken = sum(edit.end_line - edit.start_line for edit in edits)
    grown = sum(len(split_lines(f"{edit.new_text}.")) - 1 for edit in edits) - taken
    moved = len(after.lines) - len(told.lines) - grown
    some = min(len(edits), _FEW)
    ended = edits[-1].end_line + 1 - len(told.lines) - some <= moved
    return range(moved - some - (min(taken, _FEW_AT_END) if ended else 0), moved + some + 1)


def _alike(one: Text, other: Text) -> int:
    """How many lines from the first on."""
    pairs = enumerate(zip(one.lines, other.lines, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one.lines), len(other.lines)))


def _typed(told: Text, now: Text) -> tuple[int, int]:
    """How many code points that is in whole lines, and at least: lines that are alike look as if
    signs of them had been typed, and a line that was split as if it were two."""
    begin, stop, new = splice_between(told, now)
    old = told.content[begin:stop]
    lines = len(old) + len(new)
    return lines, lines if lines > MOST_COMPARED else Indel.distance(old, new)


def before_insertions(attempt: Attempt, after: Text, encoding: Encoding) -> Text | None:
    """The text of which the edits, at the places that they were sent with, have made ``after``.
    None where they are not there; where one takes something out, since what that was cannot be
    known; and where they are so short that a person may have typed them."""
    if not any(len(edit.new_text.strip()) >= TELLING_LENGTH for edit in attempt.edits):
        return None
    content = after.content
    for edit in attempt.edits:
        if (edit.start_line, edit.start_column) != (edit.end_line, edit.end_column):
            return None
        begin = _inserted_at(edit, attempt.base, Text.of(content), encoding)
        if begin is None:
            return None
        content = content[:begin] + content[begin + len(edit.new_text) :]
    return Text.of(content, like=after)


def _inserted_at(edit: TextEdit, base: Text, now: Text, encoding: Encoding) -> int | None:
    """The offset where the new text stands, its line and column in ``base`` being the edit's: in
    a line that was shorter, at its end. Else the one place where it is at all: lines may have been
    typed above it since."""
    line, new = edit.start_line, edit.new_text
    units = _units(line, edit.start_column, base.lines, encoding)
    there = now.lines[line].rstrip("\r\n") if line < len(now.lines) else ""
    first = split_lines(new)[0].rstrip("\r\n")
    start = offset_of(now, line, 0, encoding)
    places = offset_of(now, line, units, encoding), start + len(there) - len(first)
    found = next((place for place in places if now.content.startswith(new, place)), None)
    if found is None and len(new.strip()) >= _NEVER_TYPED and now.content.count(new) == 1:
        return now.content.index(new)
    return found


class Track:
    """Looks for an attempt's edits among the changes, on a text that they were not made for.

    Editors apply the last edit first, so that each range is as it was sent.
    """

    def __init__(self, attempt: Attempt, sent_at: int, encoding: Encoding) -> None:
        self._encoding: Encoding = encoding
        self.attempt = attempt
        self.sent_at = sent_at
        self._left: list[TextEdit] = []
        self._before: Text | None = None
        self._reached: Text | None = None

    def follow(self, change: ContentChange) -> Text | None:
        """The text before the first of the edits, when ``change`` is the last of them."""
        if not self._left or self._reached is not change.before:
            self._start(change)
        if not _is(change, self._left[-1], self.attempt.base, self._encoding):
            self._start(change)  # not the next one; perhaps the first of a new run
            if not _is(change, self._left[-1], self.attempt.base, self._encoding):
                self._reached = None
                return None
        self._left.pop()
        self._reached = change.after
        return None if self._left else self._before

    def _start(self, change: ContentChange) -> None:
        self._left = list(self.attempt.edits)
        self._before = change.before


def _is(change: ContentChange, edit: TextEdit, base: Text, encoding: Encoding) -> bool:
    """Whether ``change`` is what applying ``edit``, as it was sent, to ``change.before`` gives:
    clamped to that text, and where it fell inside a code point moved to either side of it."""
    if change.span is None or change.text != edit.new_text:
        return False
    sent = base.lines, encoding
    starts = _units(edit.start_line, edit.start_column, *sent)
    ends = _units(edit.end_line, edit.end_column, *sent)
    first, start, last, end = change.span
    on = change.before.lines, encoding
    return _same((first, start), (edit.start_line, starts), *on) and _same(
        (last, end), (edit.end_line, ends), *on
    )


def _same(
    seen: tuple[int, int], sent: tuple[int, int], lines: Sequence[str], encoding: Encoding
) -> bool:
    line, units = sent
    if line >= len(lines):
        place = clamp(lines, line, 0)
        line, units = place[0], _units(*place, lines, encoding)
    else:
        units = min(units, to_units(lines[line], len(lines[line]), encoding))
    return seen[0] == line and abs(seen[1] - units) <= _SLACK[encoding]


def _units(line: int, column: int, lines: Sequence[str], encoding: Encoding) -> int:
    return to_units(lines[line], column, encoding) if line < len(lines) else 0
