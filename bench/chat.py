"""A conversation as a document: what its words and one more edit of it cost, in this process.

Floors are what no way of doing it goes without: to put the pieces together, and to cut the text
into lines.

Limits: a delta goes through a few looks at how its line begins, 25 µs. An edit finds its place
from the headings of the whole text, makes the new one and is compared with the old one.
"""

import gc
import time
from collections.abc import Callable

from bench.measure import Limit, Row, in_turns
from bench.setting import Setting
from lsp_agent.protocol.events import StepStarted, TextDelta
from lsp_agent.server.chat.grammar import Part, written
from lsp_agent.server.chat.words import Words
from lsp_agent.text.edits import text_edits
from lsp_agent.text.lines import Text, split_lines

_DELTAS = 100_000
_LINES = 10_000


def chat_words(setting: Setting) -> Row:
    """All deltas of a long answer become the document's words."""
    pieces = [f"word{number % 100} " + "\n" * int(number % 20 == 0) for number in range(_DELTAS)]
    deltas = [TextDelta(piece) for piece in pieces]

    def put_together() -> None:
        so_far: list[str] = []
        for piece in pieces:
            so_far.append(piece)
        if not "".join(so_far):
            raise RuntimeError("nothing was said")

    def taken() -> None:
        words = Words()
        words.take(StepStarted(1))
        for delta in deltas:
            words.take(delta)
        if len(words.said) < _DELTAS:
            raise RuntimeError("words are missing")

    floor, ours = in_turns(
        setting.sizes.rounds, lambda: _timed(put_together), lambda: _timed(taken)
    )
    what = f"{_DELTAS:,} deltas into a conversation, to their text"
    return Row("chat_words", what, "ms", floor, ours, Limit(added=_DELTAS * 0.025))


def chat_edit(setting: Setting) -> Row:
    """More of an answer comes into a long conversation."""
    turn = "## You\n\nGo on.\n\n## Agent\n\n- `bash: make`\n\nIt is made.\n\n"
    before = turn * (_LINES // turn.count("\n")) + "## You\n\nAnd then?\n"
    part = Part("t-0123456789ab", "And then?", said="It is")
    begun = written(before, part)
    more = Part(part.turn_id, part.prompt, said="It is made again.", told=len(part.said))

    def edited() -> None:
        if len(text_edits(Text.of(begun), Text.of(written(begun, more)))) != 1:
            raise RuntimeError("that is not one edit")

    floor, ours = in_turns(
        setting.sizes.rounds, lambda: _timed(lambda: split_lines(begun)), lambda: _timed(edited)
    )
    what = f"an edit of a conversation of {_LINES:,} lines, to its lines"
    return Row("chat_edit", what, "ms", floor, ours, Limit(added=50))


def _timed(work: Callable[[], object]) -> float:
    gc.collect()
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)
