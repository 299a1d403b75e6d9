import random
import subprocess
import sys
from itertools import pairwise
from unittest import mock

from hypothesis import example, given
from hypothesis import strategies as st
from random_texts import changed_lines, numbered

from lsp_agent.text import diff as diff_module
from lsp_agent.text.diff import Hunk, diff, raw_diff

few_lines = st.lists(st.sampled_from("abcd"), max_size=30)


def patched(old: list[str], new: list[str], hunks: list[Hunk]) -> list[str]:
    for hunk in reversed(hunks):
        old = [*old[: hunk.old_start], *new[hunk.new_start : hunk.new_end], *old[hunk.old_end :]]
    return old


def lcs_length(old: list[str], new: list[str]) -> int:
    row = [0] * (len(new) + 1)
    for line in old:
        above = row
        row = [0]
        for at, other in enumerate(new):
            row.append(above[at] + 1 if line == other else max(above[at + 1], row[at]))
    return row[-1]


@given(few_lines, few_lines)
def test_the_hunks_make_old_into_new_and_are_minimal(old: list[str], new: list[str]):
    hunks = raw_diff(old, new)
    assert patched(old, new, hunks) == new
    assert len(old) - sum(hunk.old_end - hunk.old_start for hunk in hunks) == lcs_length(old, new)


@given(few_lines, few_lines)
def test_a_kept_line_lies_between_any_two_hunks(old: list[str], new: list[str]):
    for above, below in pairwise(diff(old, new)):
        assert above.old_end - below.old_start == above.new_end - below.new_start < 0


def test_a_changed_line_is_one_hunk():
    assert diff(["a", "b", "c"], ["a", "B", "c"]) == [Hunk(1, 2, 1, 2)]


def test_lists_and_tuples_compare():
    assert diff(["a", "b"], ("a",)) == [Hunk(1, 2, 1, 1)]


@given(few_lines, few_lines)
@example([*"bax"], [*"axx"])
@example([*"axxb"], [*"xbb"])
def test_among_repeated_lines_a_change_stands_as_far_down_as_it_can(old: list[str], new: list[str]):
    for hunk in raw_diff(old, new):
        if hunk.old_start == hunk.old_end and hunk.new_end < len(new):
            assert new[hunk.new_start] != new[hunk.new_end]
        if hunk.new_start == hunk.new_end and hunk.old_end < len(old):
            assert old[hunk.old_start] != old[hunk.old_end]


def test_a_near_total_rewrite_is_one_hunk():
    old = [f"old {at}" for at in range(200)]
    new = [old[at] if at % 10 == 5 else f"new {at}" for at in range(200)]
    assert diff(old, new) == [Hunk(0, 200, 0, 200)]
    assert len(raw_diff(old, new)) == 21


def test_many_changes_that_keep_most_lines_stay_many_hunks():
    old = [f"old {at}" for at in range(200)]
    new = [old[at] if at % 4 else f"new {at}" for at in range(200)]
    assert len(diff(old, new)) == 50


def test_lines_spread_through_a_long_new_text_are_kept():
    old = [f"old {at}" for at in range(50)]
    new = [line for at in range(50) for line in (old[at], *[f"new {at}"] * 9)]
    assert all(hunk.old_start == hunk.old_end for hunk in diff(old, new))


def test_a_range_too_large_for_exact_search_is_cut_at_runs_that_occur_once(monkeypatch):
    monkeypatch.setattr(diff_module, "_FAST_CELLS", 100)
    monkeypatch.setattr(diff_module, "_EXACT_CELLS", 4_000)
    rng = random.Random(1)
    for kinds in (5, 40, 10_000):
        old = [f"{rng.randrange(kinds)}\n" for _ in range(2_000)]
        new = changed_lines(rng, changed_lines(rng, old, lambda: "new\n"), lambda: "newer\n")
        hunks = diff(old, new)
        assert patched(old, new, hunks) == new
        assert sum(hunk.old_end - hunk.old_start for hunk in hunks) < 100


def test_a_range_too_large_with_nothing_unique_is_replaced_whole(monkeypatch):
    monkeypatch.setattr(diff_module, "_FAST_CELLS", 100)
    monkeypatch.setattr(diff_module, "_EXACT_CELLS", 100)
    monkeypatch.setattr(diff_module, "_TRIES", 0)
    old, new = ["x", *["a"] * 50, "b"], ["y", *["a"] * 60, "c"]
    assert diff(old, new) == [Hunk(0, 52, 0, 62)]


@given(st.randoms(use_true_random=False), st.sampled_from([3, 40, 10_000]))
def test_a_long_text_is_walked_from_change_to_change(rng: random.Random, kinds: int):
    old = [f"{rng.randrange(kinds)}\n" for _ in range(300)]
    new = changed_lines(rng, changed_lines(rng, old, lambda: "new\n"), lambda: "newer\n")
    with mock.patch.object(diff_module, "_FAST_CELLS", 100):
        hunks = raw_diff(old, new)
    assert patched(old, new, hunks) == new
    for above, below in pairwise(hunks):
        assert above.old_end - below.old_start == above.new_end - below.new_start < 0


def test_changes_far_apart_in_100_000_lines_are_found_one_by_one():
    old = numbered(100_000).lines
    new = [*old[:70_000], *(f"more {at}\n" for at in range(500)), *old[70_001:]]
    new[50_000] = "changed\n"
    del new[20_000:20_300]
    assert diff(old, new) == [
        Hunk(20_000, 20_300, 20_000, 20_000),
        Hunk(50_000, 50_001, 49_700, 49_701),
        Hunk(70_000, 70_001, 69_700, 70_200),
    ]


def test_one_changed_line_among_100_000():
    old = numbered(100_000).lines
    new = (*old[:70_000], "changed\n", *old[70_001:])
    assert diff(old, new) == [Hunk(70_000, 70_001, 70_000, 70_001)]


def test_a_start_does_not_pay_for_the_diff_library():
    code = (
        "import sys, lsp_agent.text.merge, lsp_agent.text.review; print('rapidfuzz' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
