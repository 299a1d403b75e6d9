"""Review by hunk: what stays a hunk, whose it is, and what keep and undo make of the texts."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_agent.text.diff import diff
from lsp_agent.text.lines import Text
from lsp_agent.text.live_hunks import Accepted, with_hunks
from lsp_agent.text.merge import merge3
from lsp_agent.text.review import Review
from lsp_agent.text.review_hunks import Turned


def text(content: str) -> Text:
    return Text.of(content)


def review(before: str, *afters: str) -> Review:
    found = Review.of(text(before))
    for number, after in enumerate(afters, start=1):
        found, _ = found.edited(text(after), f"c{number}")
    return found


def all_keys(of: Review) -> list[tuple[str, int]]:
    return [hunk.key for hunk in of.hunks]


def test_an_agents_hunks_are_open_one_by_one() -> None:
    found = review("a\nb\nc\nd\n", "A\nb\nc\nd\nD\n")
    assert [(h.key, h.start, h.end, h.base_start, h.base_end) for h in found.hunks] == [
        (("c1", 0), 0, 1, 0, 1),
        (("c1", 1), 4, 5, 4, 4),
    ]
    assert found.base == text("a\nb\nc\nd\n")


def test_undoing_one_hunk_leaves_the_other() -> None:
    found = review("a\nb\nc\n", "A\nb\nC\n")
    undo = found.undo([("c1", 0)])
    assert undo.text == text("a\nb\nC\n")
    after, gone, out = found.undone(undo.text, undo.undone)
    assert (all_keys(after), gone, out) == ([("c1", 1)], [], [("c1", 0)])


def test_keeping_a_hunk_puts_it_into_the_base() -> None:
    found = review("a\nb\nc\n", "A\nA2\nb\nC\n").kept([("c1", 0)])
    assert found.base == text("A\nA2\nb\nc\n")
    assert found.undo(all_keys(found)).text == found.base


def test_a_hunk_that_was_kept_is_open_again_between_others() -> None:
    before, kept, after = "a\nb\nc\nd\ne\n", "a\nb\nC\nC2\nd\ne\n", "A\nA2\nb\nC\nC2\nd\nE\n"
    found = review(before, kept).kept([("c1", 0)]).edited(text(after), "c2")[0]
    again = found.with_open("c1", text(before), text(kept))
    assert all_keys(again) == [("c2", 0), ("c1", 0), ("c2", 1)]
    assert (again.text, again.base) == (text(after), text(before))
    assert again.undo([("c1", 0)]).text == text("A\nA2\nb\nc\nd\nE\n")


def test_a_hunk_that_was_kept_and_typed_in_is_open_again_with_what_was_typed() -> None:
    before, kept = "a\none two\nz\n", "a\nONE\nz\n"
    found = review(before, kept).kept([("c1", 0)]).typed(text("a\nONE mine\nz\n"))[0]
    (hunk,) = found.with_open("c1", text(before), text(kept)).hunks
    assert (hunk.key, hunk.start, hunk.end, hunk.touched) == (("c1", 0), 1, 2, True)


@pytest.mark.parametrize("now", ["a\nc\n", "a\nX\nc\n"])
def test_of_a_hunk_that_is_not_there_nothing_is_open_again(now: str) -> None:
    found = Review.of(text(now))
    assert found.with_open("c1", text("a\nc\n"), text("a\nB\nc\n")) == found


@pytest.mark.parametrize(
    ("now", "was_in", "is_open"),
    [("a\nc\n", True, True), ("a\nc\n", False, False), ("b\na\nc\n", True, False)],
)
def test_a_deletion_is_open_again_where_it_is_known_to_have_been_there(
    now: str, *, was_in: bool, is_open: bool
) -> None:
    again = Review.of(text(now)).with_open("c1", text("a\nb\nc\n"), text("a\nc\n"), was_in=was_in)
    assert all_keys(again) == [("c1", 0)] * is_open
    assert again.undo(all_keys(again)).text == text("a\nb\nc\n" if is_open else now)


def test_what_others_have_a_hunk_in_is_not_open_again_beneath_it() -> None:
    before, kept = "a\nb\nc\n", "a\nB\nc\n"
    found = review(before, kept).kept([("c1", 0)]).edited(text("a\nB B\nc\n"), "c2")[0]
    assert found.with_open("c1", text(before), text(kept)) == found


def test_typing_elsewhere_goes_into_both_texts_and_moves_the_hunk() -> None:
    found, gone = review("a\nb\nc\n", "a\nb\nC\n").typed(text("new\na\nb\nC\n"))
    assert (found.base, gone) == (text("new\na\nb\nc\n"), [])
    assert [(h.start, h.end, h.touched) for h in found.hunks] == [(3, 4, False)]


def test_typing_in_a_hunk_joins_it_and_undoing_keeps_what_was_typed() -> None:
    found, _ = review("a\nz\n", "a\none\ntwo\nz\n").typed(text("a\none\nmine\ntwo\nz\n"))
    (hunk,) = found.hunks
    assert hunk.touched
    undo = found.undo([hunk.key])
    assert (undo.text, undo.clashing) == (found.text, (hunk.key,))


def test_typing_that_can_be_told_apart_stays_when_its_hunk_is_undone() -> None:
    found, _ = review("one\ntwo\nthree\n", "ONE\nTWO\nTHREE\n").typed(text("ONE\nTWO\nTHREE\nx\n"))
    undo = found.undo([("c1", 0)])
    assert undo.text == text("one\ntwo\nthree\nx\n")


def test_what_the_person_undid_by_hand_is_rejected() -> None:
    found, gone = review("a\nb\n", "a\nB\n").typed(text("a\nb\n"))
    assert (found.hunks, gone) == ((), [Turned(("c1", 0), "rejected")])


def test_a_later_change_takes_over_what_it_overlaps_and_undoes_to_before_both() -> None:
    found = Review.of(text("a\nb\nc\n"))
    found, _ = found.edited(text("a\nB\nc\n"), "c1")
    found, gone = found.edited(text("a\nB2\nc\n"), "c2")
    assert gone == [Turned(("c1", 0), "superseded")]
    assert found.undo([("c2", 0)]).text == text("a\nb\nc\n")


def test_a_change_that_takes_an_earlier_one_back_leaves_nothing_open() -> None:
    found = review("a\n", "b\n", "a\n")
    assert found.hunks == ()
    assert found.base == found.text


def test_a_person_who_joins_two_hunks_leaves_one() -> None:
    found = review("a\nb\nc\n", "A\nb\nC\n")
    found, gone = found.typed(text("mine\n"))
    assert [h.key for h in found.hunks] == [("c1", 0)]
    assert gone == [Turned(("c1", 1), "superseded")]
    assert found.hunks[0].left == ("A\n", "b\n", "C\n")


def test_what_is_typed_where_an_agent_deleted_follows_what_comes_back() -> None:
    found, _ = review("a\nb\nc\n", "a\nc\n").typed(text("a\nmine\nc\n"))
    assert found.undo(all_keys(found)).text == text("a\nb\nmine\nc\n")


@pytest.mark.parametrize("before", ["", "a", "a\n", "a\r\nb", "b\ra"])
@pytest.mark.parametrize("after", ["", "a", "a\nb", "b", "a\r"])
@pytest.mark.parametrize("now", ["", "c", "a\nb\nc", "\na", "b\n"])
def test_an_unfinished_last_line_is_no_exception(before: str, after: str, now: str) -> None:
    found, _ = review(before, after).typed(text(now))
    check(found)
    assert review(before, after).undo([("c1", 0)]).text == text(before)


LINE = st.sampled_from(["a", "b", "c", "d", "é😀", ""])
END = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
TEXTS = st.builds(
    lambda lines, last: "".join(body + end for body, end in lines) + last,
    st.lists(st.tuples(LINE, END), max_size=9),
    LINE,
)
STEPS = st.lists(st.tuples(st.sampled_from(["type", "edit", "keep", "undo"]), TEXTS, st.randoms()))


def check(found: Review) -> None:
    """Outside the hunks both texts are alike, and the hunks are in order and apart."""
    base_at = at = 0
    for hunk in found.hunks:
        assert base_at <= hunk.base_start <= hunk.base_end
        assert at <= hunk.start <= hunk.end
        outside = found.base.lines[base_at : hunk.base_start]
        assert outside == found.text.lines[at : hunk.start]
        assert found.base_lines_of(hunk) != found.lines_of(hunk)
        base_at, at = hunk.base_end, hunk.end
    assert found.base.lines[base_at:] == found.text.lines[at:]
    assert found.base == text(found.base.content)


@given(TEXTS, TEXTS, TEXTS, st.sets(st.integers(0, 5), min_size=1))
@settings(max_examples=300)
def test_no_two_hunks_of_what_was_accepted_go_by_one_name(
    before: str, after: str, now: str, wanted: set[int]
) -> None:
    hunks = diff(text(before).lines, text(after).lines)
    indexes = tuple(sorted(wanted & set(range(len(hunks)))))
    merged = merge3(text(before), with_hunks(text(before), text(after), indexes), text(now))
    if not indexes or not merged.clean:
        return
    accepted = Accepted(text(before), text(after), indexes)
    found, turned = Review.of(text(now)).edited(merged.text, "c1", accepted)
    check(found)
    names = all_keys(found)
    assert len(set(names)) == len(names)
    went_in = accepted.went_in(text(now), merged.text)
    assert went_in == {index for _, index in [*names, *(each.key for each in turned)]}
    assert went_in <= set(indexes)
    assert found.undo(names).text == text(now)


@given(TEXTS, STEPS)
@settings(max_examples=300)
def test_the_texts_are_alike_outside_the_hunks_whatever_happens(
    start: str, steps: list[tuple[str, str, random.Random]]
) -> None:
    found = Review.of(text(start))
    for number, (kind, content, chance) in enumerate(steps):
        some = [key for key in all_keys(found) if chance.random() < 0.5]
        match kind:
            case "type":
                found, _ = found.typed(text(content))
            case "edit":
                found, _ = found.edited(text(content), f"c{number}")
            case "keep":
                found = found.kept(some)
                assert not set(some) & set(all_keys(found))
            case _:
                undo = found.undo(some)
                found, _, out = found.undone(undo.text, undo.undone)
                assert found.text == undo.text
                assert set(out) == set(undo.undone)
                assert not set(out) & set(all_keys(found))
        check(found)
    assert found.kept(all_keys(found)).base == found.text
    untouched = [hunk.key for hunk in found.hunks if not hunk.touched]
    if len(untouched) == len(found.hunks):
        assert found.undo(untouched).text == found.base


def test_a_deletion_that_the_person_takes_back_is_no_longer_open() -> None:
    found, gone = review("a\nb\nc\n", "a\nc\n").typed(text("a\nb\nc\n"))
    assert (found.hunks, found.base) == ((), text("a\nb\nc\n"))
    assert gone == [Turned(("c1", 0), "rejected")]


def test_an_agents_line_that_a_person_took_out_is_the_agents_again_once_it_is_back() -> None:
    found, _ = review("a\nb\nc\n", "A\nb\nc\n").typed(text("b\nc\n"))
    found, _ = found.typed(text("A\nb\nc\n"))
    assert found.undo(all_keys(found)).text == text("a\nb\nc\n")


def test_a_hunk_whose_lines_are_back_is_open_again() -> None:
    found, _ = review("a\nb\nc\n", "a\nB\nc\n").typed(text("a\nb\nc\n"))
    found, turned = found.typed(text("x\na\nB\nc\n"))
    assert turned == [Turned(("c1", 0), "applied")]
    assert (found.base, all_keys(found)) == (text("x\na\nb\nc\n"), [("c1", 0)])


def test_what_took_a_hunk_out_is_in_again_once_the_editors_undo_of_it_is_redone() -> None:
    found = review("a\nb\nc\n", "a\nc\n", "a\nb\nc\n")
    undone, gone = found.typed(text("a\nc\n"))
    assert gone == [Turned(("c2", 0), "rejected"), Turned(("c1", 0), "applied")]
    redone, gone = undone.typed(text("a\nb\nc\n"))
    assert gone == [Turned(("c1", 0), "superseded"), Turned(("c2", 0), "superseded")]
    assert redone.typed(text("a\nc\n"))[0].hunks == undone.hunks


def test_what_was_typed_at_its_place_meanwhile_does_not_come_back_with_an_undo() -> None:
    found, _ = review("a\nb\nc\n", "a\nB\nc\n").typed(text("a\nb\nc\n"))
    found, _ = found.typed(text("a\nb typed\nc\n"))
    found, _ = found.typed(text("a\nB\nc\n"))
    assert found.undo(all_keys(found)).text == text("a\nb\nc\n")


def test_what_was_deleted_in_a_hunk_is_the_persons_again_once_its_revert_and_that_are_undone() -> (
    None
):
    found, _ = review("one two three\n", "ONE two three\n").typed(text("ONE two\n"))
    found, _ = found.settled(text("one two\n"))
    found, _ = found.without_change("c1", [], out=True)
    for undone in ("ONE two\n", "ONE two three\n"):
        found, _ = found.typed(text(undone))
    assert found.undo(all_keys(found)).text == text("one two three\n")


def test_a_change_that_was_taken_over_is_open_again_once_the_later_one_is_undone_by_hand() -> None:
    found = review("a\nb\nc\n", "a\nB\nc\n", "a\nB2\nc\n")
    found, turned = found.typed(text("a\nB\nc\n"))
    assert turned == [Turned(("c2", 0), "rejected"), Turned(("c1", 0), "applied")]
    assert all_keys(found) == [("c1", 0)]
    found, turned = found.typed(text("a\nB2\nc\n"))
    assert turned == [Turned(("c1", 0), "superseded"), Turned(("c2", 0), "applied")]


def test_undoing_a_change_brings_back_what_a_person_typed_in_the_one_it_took_over() -> None:
    found, _ = review("one\ntwo words\n", "one\nTWO words\n").typed(text("one\nTWO words mine\n"))
    found, _ = found.edited(text("one\nother\n"), "c2")
    (hunk,) = found.hunks
    assert found.base_lines_of(hunk) == ("two words mine\n",)


def test_blank_lines_alone_are_not_known_again() -> None:
    found, _ = review("a\nb\n", "a\n\nb\n").typed(text("a\nb\n"))
    found, turned = found.typed(text("a\n\nb\n"))
    assert (found.hunks, turned) == ((), [])


def test_what_was_typed_stays_the_persons_where_two_lines_of_the_base_become_one() -> None:
    base = Review.of(text("<3> <4>typed\n<5> e\n"))
    one, _ = base.edited(text("<3> A\ntyped\n<5> e\n"), "c1")
    two, _ = one.edited(text("<3> A\ntyped\nB\n e\n"), "c2")
    joined, _ = two.typed(text("<3> A\nB\n e\n"))  # with the end of the base's line
    typed, _ = joined.typed(text("<3> A\nBmine\n e\n"))
    taken, _ = typed.edited(text("C A\nBmine\n e\n"), "c3")
    undo = taken.undo(all_keys(taken))
    assert "mine" in undo.text.content
