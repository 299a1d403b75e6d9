from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.text.token_diff import token_diff, tokens_of

contents = st.lists(st.sampled_from(["a", "b", "c", " ", " ", ".", "\n", "\r\n"]), max_size=20).map(
    "".join
)


def replaced(old: str, new: str) -> list[tuple[str, str]]:
    """What became what."""
    before, after = tokens_of([old]), tokens_of([new])
    return [
        ("".join(before[h.old_start : h.old_end]), "".join(after[h.new_start : h.new_end]))
        for h in token_diff(before, after)
    ]


@given(contents, contents)
def test_the_hunks_make_old_into_new(old: str, new: str) -> None:
    before, after = tokens_of([old]), tokens_of([new])
    made = before
    for hunk in reversed(token_diff(before, after)):
        new_tokens = after[hunk.new_start : hunk.new_end]
        made = (*made[: hunk.old_start], *new_tokens, *made[hunk.old_end :])
    assert made == after


@given(contents, contents)
def test_a_kept_token_lies_between_any_two_hunks(old: str, new: str) -> None:
    for above, below in pairwise(token_diff(tokens_of([old]), tokens_of([new]))):
        assert above.old_end - below.old_start == above.new_end - below.new_start < 0


def test_words_are_matched_before_the_blanks_between_them() -> None:
    """By blanks alone each word would stand for one that was never at its place."""
    assert replaced(" a b\n c d\n", " c d x y\n") == [("a b\n ", ""), ("", " x y")]


def test_what_is_written_anew_on_each_of_two_lines_are_two_changes() -> None:
    assert replaced("a b\nc d\n", "x\ny z w\n") == [("a b", "x"), ("c d", "y z w")]


def test_words_that_change_one_by_one_are_as_many_changes() -> None:
    assert replaced("a b c\n", "x y c\n") == [("a", "x"), ("b", "y")]


def test_lines_that_become_more_are_one_change() -> None:
    assert replaced("a b\n", "x\ny\n") == [("a b", "x\ny")]
