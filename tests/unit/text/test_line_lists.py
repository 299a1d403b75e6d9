from hypothesis import given
from hypothesis import strategies as st
from random_texts import contents, numbered

from lsp_agent.text.lines import append_lines, clamp, splice, split_lines


def test_only_the_line_ends_of_lsp_end_a_line():
    assert split_lines("a\x0cb\x85c\u2028d\ne\r\nf\rg") == [
        "a\x0cb\x85c\u2028d\n",
        "e\r\n",
        "f\r",
        "g",
    ]


@given(contents)
def test_joined_lines_are_the_text_again(content: str):
    assert "".join(split_lines(content)) == content


@given(contents, contents)
def test_appended_lines_are_the_lines_of_both_texts_together(one: str, other: str):
    lines = split_lines(one)
    append_lines(lines, split_lines(other))
    assert lines == split_lines(one + other)


@given(contents, contents, st.tuples(*[st.integers(-1, 12)] * 4))
def test_a_spliced_list_is_the_split_of_the_spliced_text(
    content: str, new: str, range_: tuple[int, int, int, int]
):
    lines = split_lines(content)
    start, end = sorted((clamp(lines, *range_[:2]), clamp(lines, *range_[2:])))
    begin, stop = (sum(map(len, lines[:line])) + column for line, column in (start, end))
    splice(lines, *start, *end, new)
    assert lines == split_lines(content[:begin] + new + content[stop:])


def test_a_position_past_the_end_is_the_end():
    lines = ["a\n", "b\n"]
    splice(lines, 9, 9, 9, 9, "c")
    assert lines == ["a\n", "b\n", "c"]
    splice(lines, 2, 99, 7, 0, "d")
    assert lines == ["a\n", "b\n", "cd"]


def test_a_column_past_a_line_is_before_its_end():
    lines = ["a\r\n", "b\n"]
    splice(lines, 0, 99, 0, 99, "x")
    assert lines == ["ax\r\n", "b\n"]


def test_a_line_feed_put_after_a_carriage_return_joins_it():
    lines = ["a\r", "b\n"]
    splice(lines, 1, 0, 1, 0, "\n")
    assert lines == ["a\r\n", "b\n"]


def test_a_line_that_comes_to_start_with_a_line_feed_joins_the_carriage_return_above():
    lines = ["a\r", "b\n", "c\n"]
    splice(lines, 1, 0, 1, 1, "")
    assert lines == ["a\r\n", "c\n"]


def test_a_keystroke_leaves_all_other_lines_the_same_objects():
    before = list(numbered(50).lines)
    lines = list(before)
    splice(lines, 20, 3, 20, 3, "x")
    assert [at for at in range(50) if lines[at] is not before[at]] == [20]
