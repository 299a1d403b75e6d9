"""Diffs of the tokens of some lines, in which words are matched before all else.

Blanks and line ends are alike everywhere. As many of them as of words would be matched as well,
and then a word stands for another one beside which it never was.

Pure.
"""

import re
from collections.abc import Iterator, Sequence

from lsp_agent.text.diff import Hunk, by_line, raw_diff, slid_down

# Words, runs of blanks, single punctuation marks, line ends: joined they give the text again.
_TOKEN = re.compile(r"\r\n|\r|\n|\w+|[^\S\r\n]+|[^\w\s]")
_WORD = re.compile(r"\w+")
_LINE_ENDS = ("\n", "\r\n", "\r")

Tokens = tuple[str, ...]


def tokens_of(lines: Sequence[str]) -> Tokens:
    return tuple(_TOKEN.findall("".join(lines)))


def words_of(lines: Sequence[str]) -> list[str]:
    return _WORD.findall("".join(lines))


def token_diff(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """The changed ranges, ascending. Other words on a line are one of them, or as many as there
    are words where these have been changed one by one."""
    old, new = tuple(old), tuple(new)
    old_at = new_at = 0
    hunks: list[Hunk] = []
    for old_word, new_word in (*_same_words(old, new), (len(old), len(new))):
        hunks += _between(old, new, Hunk(old_at, old_word, new_at, new_word))
        old_at, new_at = old_word + 1, new_word + 1
    return slid_down(hunks, old, new)


def _same_words(old: Tokens, new: Tokens) -> Iterator[tuple[int, int]]:
    old_places, new_places = _word_places(old), _word_places(new)
    old_at = new_at = 0
    hunks = raw_diff([old[at] for at in old_places], [new[at] for at in new_places])
    end = Hunk(len(old_places), len(old_places), len(new_places), len(new_places))
    for hunk in (*hunks, end):
        yield from zip(
            old_places[old_at : hunk.old_start], new_places[new_at : hunk.new_start], strict=True
        )
        old_at, new_at = hunk.old_end, hunk.new_end


def _word_places(tokens: Tokens) -> list[int]:
    return [at for at, token in enumerate(tokens) if _WORD.fullmatch(token)]


def _between(old: Tokens, new: Tokens, gap: Hunk) -> Iterator[Hunk]:
    """What differs in a range without a word that both have."""
    here, there = old[gap.old_start : gap.old_end], new[gap.new_start : gap.new_end]
    if not (_word_places(here) and _word_places(there)):
        for hunk in raw_diff(here, there):
            yield Hunk(
                gap.old_start + hunk.old_start,
                gap.old_start + hunk.old_end,
                gap.new_start + hunk.new_start,
                gap.new_start + hunk.new_end,
            )
        return
    old_lines, new_lines = _line_sizes(here), _line_sizes(there)
    if len(old_lines) != len(new_lines):
        old_lines, new_lines = [len(here)], [len(there)]
    old_at, new_at = gap.old_start, gap.new_start
    for old_size, new_size in zip(old_lines, new_lines, strict=True):
        yield from _on_a_line(old, new, Hunk(old_at, old_at + old_size, new_at, new_at + new_size))
        old_at, new_at = old_at + old_size, new_at + new_size


def _line_sizes(tokens: Tokens) -> list[int]:
    """How many tokens are on each line, the end included."""
    ends = [at + 1 for at, token in enumerate(tokens) if token in _LINE_ENDS]
    return [end - start for start, end in zip((0, *ends), (*ends, len(tokens)), strict=True)]


def _on_a_line(old: Tokens, new: Tokens, hunk: Hunk) -> Iterator[Hunk]:
    singles = list(by_line([hunk]))
    changed = [h for h in singles if old[h.old_start : h.old_end] != new[h.new_start : h.new_end]]
    one_by_one = len(singles) > 1 and all(
        _WORD.fullmatch(token) for h in changed for token in (old[h.old_start], new[h.new_start])
    )
    yield from changed if one_by_one else _trimmed(old, new, hunk)


def _trimmed(old: Tokens, new: Tokens, hunk: Hunk) -> Iterator[Hunk]:
    """Without what both ranges begin and end with; nothing where they are alike."""
    start, new_start = hunk.old_start, hunk.new_start
    end, new_end = hunk.old_end, hunk.new_end
    while start < end and new_start < new_end and old[start] == new[new_start]:
        start, new_start = start + 1, new_start + 1
    while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    if start < end or new_start < new_end:
        yield Hunk(start, end, new_start, new_end)
