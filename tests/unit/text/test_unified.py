"""Unified diffs, as diff(1) writes them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.unified import unified_diff


def of(before: str, after: str) -> str:
    return unified_diff(Text.of(before), Text.of(after), "a.txt")


def numbered(*changed: int) -> str:
    return "".join(f"{'L' if n in changed else 'l'}ine {n}\n" for n in range(1, 31))


def test_without_a_change_there_is_nothing() -> None:
    assert of("one\n", "one\n") == ""
    assert unified_diff(EMPTY, EMPTY, "a.txt") == ""


def test_a_change_has_three_lines_of_context() -> None:
    assert of(numbered(), numbered(10)) == (
        "--- a/a.txt\n+++ b/a.txt\n@@ -7,7 +7,7 @@\n"
        " line 7\n line 8\n line 9\n-line 10\n+Line 10\n line 11\n line 12\n line 13\n"
    )


def test_changes_whose_contexts_touch_are_one_section() -> None:
    assert of(numbered(), numbered(10, 17)).count("@@ -") == 1
    assert of(numbered(), numbered(10, 18)).count("@@ -") == 2


def test_a_new_text_starts_at_line_zero_of_nothing() -> None:
    assert of("", "one\ntwo\n") == "--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n"


def test_a_missing_last_newline_is_said() -> None:
    assert of("one", "one\n").endswith("@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+one\n")


def test_line_ends_are_kept() -> None:
    assert of("one\n", "one\r\n").endswith("-one\n+one\r\n")


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abc"), max_size=30))
def test_it_leads_from_the_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    assert (
        patched(before, of(*("".join(f"{x}\n" for x in lines) for lines in (before, after))))
        == after
    )


def patched(lines: list[str], diff: str) -> list[str]:
    """``lines`` after the diff, every number and line of which is checked."""
    made: list[str] = []
    at = 0
    for section in re.split(r"^(?=@@ )", diff, flags=re.MULTILINE)[1:]:
        head, *body = section.splitlines()
        match = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", head)
        assert match
        start, size, new_start, new_size = (1 if n is None else int(n) for n in match.groups())
        old = [line[1:] for line in body if line[0] in " -"]
        new = [line[1:] for line in body if line[0] in " +"]
        assert (len(old), len(new)) == (size, new_size)
        start -= bool(size)  # without lines it is the line before
        assert lines[start : start + size] == old
        made += lines[at:start]
        assert len(made) == new_start - bool(new_size)
        made += new
        at = start + size
    return made + lines[at:]
