"""Half a surrogate pair, which no UTF-8 can hold.

JavaScript cuts strings anywhere, so an editor may send one in a document, a prompt or a path.
Inside, texts keep them as they came, so that positions and the editor's own text stay right.
What leaves as UTF-8 for somebody to read (an agent, the store) has U+FFFD in their place; lines
that come back as they were shown are what they were. A file with one is refused
(``workspace/disk/files.py``), for it would be changed silently.
"""

import re
from collections.abc import Callable

from lsp_agent.text.diff import diff
from lsp_agent.text.lines import Text

_HALF = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """``text`` with halves that stand together joined to what they are, others as U+FFFD; so for
    stray bytes too, as ``surrogateescape`` has them."""
    if text.isascii() or not _HALF.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def whole_text(text: Text) -> Text:
    """The same object where it has no halves. A line's halves are never joined to another's."""
    if not _HALF.search(text.content):
        return text
    return text.with_lines(tuple(map(whole, text.lines)))


def made_of_shown(text: Text, make: Callable[[Text], Text]) -> Text:
    """What ``make`` gives for ``text`` as it is shown, with the lines that it left alone as they
    are in ``text``."""
    shown = whole_text(text)
    made = make(shown)
    if shown is text:
        return made
    lines: list[str] = []
    left = 0
    for hunk in diff(shown.lines, made.lines):
        lines += text.lines[left : hunk.old_start]
        lines += made.lines[hunk.new_start : hunk.new_end]
        left = hunk.old_end
    return made.with_lines((*lines, *text.lines[left:]))
