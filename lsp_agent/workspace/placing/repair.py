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
    begin = _offset(change.before, first, start, encoding)
    return begin, max(begin, _offset(change.before, last, end, encoding)), change.text


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


def _offset(text: Text, line: int, units: int, encoding: Encoding) -> int:
    column = to_column(text.lines[line], units, encoding) if 0 <= line < len(text.lines) else 0
    return _point(text, line, column)


def _point(text: Text, line: int, column: int) -> int:
    line, column = clamp(text.lines, line, column)
    return sum(map(len, text.lines[:line])) + column
