"""Carrying an edit over what was typed since, key by key; nothing that was typed is dropped.

Pure. A merge sees a conflict where a key stands at the edge of an edit or inside it; where an
edit went astray, that is no way out: the harm must be undone all the same.
"""

from collections.abc import Sequence

from lsp_agent.text.edits import text_edits
from lsp_agent.text.lines import Text, clamp
from lsp_agent.text.positions import Encoding, to_column
from lsp_agent.workspace.documents.open_document import ContentChange

Splice = tuple[int, int, str]
"""The code points from the first offset to the second became the text."""

_TYPED = -1


def splice_of(change: ContentChange, encoding: Encoding) -> Splice:
    """``change`` in offsets; ``encoding`` is that of its span."""
    if change.span is None:
        return 0, len(change.before.content), change.text
    first, start, last, end = change.span
    begin = offset_of(change.before, first, start, encoding)
    return begin, max(begin, offset_of(change.before, last, end, encoding)), change.text


def splice_between(before: Text, after: Text) -> Splice:
    """All lines from the first to the last that differ."""
    shortest = min(len(before.lines), len(after.lines))
    pairs = enumerate(zip(before.lines, after.lines, strict=False))
    first = next((i for i, (one, other) in pairs if one != other), shortest)
    kept = 0
    while kept < shortest - first and before.lines[-1 - kept] == after.lines[-1 - kept]:
        kept += 1
    begin = sum(map(len, before.lines[:first]))
    lines = before.lines[first : len(before.lines) - kept]
    new = after.lines[first : len(after.lines) - kept]
    return begin, begin + sum(map(len, lines)), "".join(new)


def carried(base: Text, meant: Text, since: Sequence[Splice]) -> Text:
    """The edit from ``base`` to ``meant``, made on what ``since`` has left of ``base``.

    What was typed where ``meant`` has other text comes before that text or behind it.
    """
    # For each code point of the present text the offset in ``base`` that it had.
    content = base.content
    origins = list(range(len(content)))
    for begin, stop, text in since:
        origins[begin:stop] = [_TYPED] * len(text)
        content = content[:begin] + text + content[stop:]
    for edit in reversed(text_edits(base, meant)):
        begin = _point(base, edit.start_line, edit.start_column)
        stop = _point(base, edit.end_line, edit.end_column)
        place = next((i for i, origin in enumerate(origins) if origin >= begin), len(origins))
        kept = [i for i in range(place, len(origins)) if not begin <= origins[i] < stop]
        content = content[:place] + edit.new_text + "".join(content[i] for i in kept)
        origins = origins[:place] + [_TYPED] * len(edit.new_text) + [origins[i] for i in kept]
    return Text.of(content, like=meant)


def offset_of(text: Text, line: int, units: int, encoding: Encoding) -> int:
    """Of a place in LSP's units; the end where it is behind it."""
    column = to_column(text.lines[line], units, encoding) if 0 <= line < len(text.lines) else 0
    return _point(text, line, column)


def _point(text: Text, line: int, column: int) -> int:
    line, column = clamp(text.lines, line, column)
    return sum(map(len, text.lines[:line])) + column
