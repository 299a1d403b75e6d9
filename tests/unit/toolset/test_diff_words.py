"""zot's diffs, against its own answers and against the table it is said to fill."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.zot_recordings import disk_texts, tool_results

from lsp_agent.text.lines import Text
from lsp_agent.toolset import diff_words as zot_diff
from lsp_agent.toolset.diff_words import edit_result, lines_diff


def slow_diff(before: list[str], after: list[str]) -> str:
    """zot's documented way: the whole table, walked back from the end, rows kept by nearness."""
    if before == after:
        return ""
    rows = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i, line in enumerate(before, 1):
        for j, other in enumerate(after, 1):
            same = rows[i - 1][j - 1] + 1
            rows[i][j] = same if line == other else max(rows[i - 1][j], rows[i][j - 1])
    i, j = len(before), len(after)
    walked: list[tuple[str, str]] = []
    while i or j:
        if i and j and before[i - 1] == after[j - 1]:
            i, j = i - 1, j - 1
            walked.append((" ", before[i]))
        elif j and (not i or rows[i][j - 1] >= rows[i - 1][j]):
            j -= 1
            walked.append(("+", after[j]))
        else:
            i -= 1
            walked.append(("-", before[i]))
    walked.reverse()
    changed = [k for k, (sign, _) in enumerate(walked) if sign != " "]
    kept = [any(abs(k - c) <= 3 for c in changed) for k in range(len(walked))]
    shown, had_run = "", False
    for k, (sign, line) in enumerate(walked):
        if kept[k]:
            if had_run and not kept[k - 1]:
                shown += "...\n"
            shown += f"{sign}{line}\n"
            had_run = True
        elif had_run and kept[k - 1]:
            shown += "...\n"
    return shown


LINES = st.lists(st.sampled_from("abcx"), max_size=24)


@given(LINES, LINES)
def test_every_diff_is_the_one_that_zot_would_choose(before: list[str], after: list[str]):
    assert lines_diff(before, after) == slow_diff(before, after)


@given(LINES, LINES, st.lists(st.sampled_from("axyz"), max_size=12), LINES)
def test_common_ends_change_nothing_of_that(
    head: list[str], before: list[str], tail: list[str], after: list[str]
):
    one, other = head + before + tail, head + after + tail
    assert lines_diff(one, other) == slow_diff(one, other)


@given(
    st.integers(60, 70),
    st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "d\r"]), max_size=12),
    st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "d\r", "e"]), max_size=12),
    st.lists(st.sampled_from(["a\n", "b\n", "d\r", "e"]), max_size=8),
    st.booleans(),
)
def test_looking_only_around_the_change_changes_nothing(
    repeats: int, before: list[str], after: list[str], tail: list[str], repeated: bool
):
    head = ["a\n"] * repeats if repeated else [f"{number}\n" for number in range(repeats)]
    one = Text.of("".join([*head, *before, *tail]))
    other = Text.of("".join([*head, *after, *tail]))
    expected = slow_diff(normalised(one), normalised(other))
    assert edit_result(one, other) == expected


def normalised(text: Text) -> list[str]:
    return text.content.replace("\r\n", "\n").split("\n")


def test_two_edits_of_one_recording_give_the_recorded_diff():
    before = Text.of(tool_results("edit_lf_multiple")[0])
    after = Text.of(disk_texts("edit_lf_multiple")[-1])
    assert edit_result(before, after) == tool_results("edit_lf_multiple")[1]


def test_emptying_a_file_gives_the_recorded_diff():
    assert edit_result(Text.of("x\n"), Text.of("")) == tool_results("edit_delete_all")[0]


def test_a_repeated_line_is_matched_with_the_later_one():
    assert lines_diff(["x"], ["x", "x"]) == "+x\n x\n"


def test_nothing_changed_is_an_empty_diff():
    assert edit_result(Text.of("a\n"), Text.of("a\n")) == ""


def test_a_crlf_file_shows_only_what_changed():
    assert edit_result(Text.of("a\r\nb\r\n"), Text.of("a\r\nB\r\n")) == " a\n-b\n+B\n \n"


def test_a_diff_past_the_limit_says_the_same_in_another_way():
    before, after = list("abcdef"), list("axcdyf")
    assert lines_diff(before, after, most_bits=0) == " a\n-b\n+x\n c\n d\n-e\n+y\n f\n"


@pytest.mark.parametrize("lines", [1_000, 100_000])
def test_of_a_long_file_only_the_lines_around_the_change_are_looked_at(
    lines: int, monkeypatch: pytest.MonkeyPatch
):
    looked_at = 0

    def counting(one: Sequence[str], other: Sequence[str], *, cut: bool) -> str | None:
        nonlocal looked_at
        looked_at += len(one) + len(other)
        return lines_diff(one, other, cut=cut)

    monkeypatch.setattr(zot_diff, "lines_diff", counting)
    before = [f"line {number}\n" for number in range(lines)]
    after = [*before[: lines // 2], "new\n", *before[lines // 2 :]]
    diff = edit_result(Text.of("".join(before)), Text.of("".join(after)))
    assert diff.count("\n") == 8
    assert looked_at < 200
