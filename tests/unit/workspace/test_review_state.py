"""What is known of a file's review where an editor shows other text than the disk holds."""

from dataclasses import replace

from lsp_agent.text.lines import Text
from lsp_agent.text.review import Review
from lsp_agent.workspace.ledger.review_state import LandedStep, ReviewState

DISK = Text.of("one\ntwo\n")
TYPED = Text.of("one\ntyped\ntwo\n")
CUT = Text.of("one\n2\n")  # an agent took out what was typed, and changed a line
KEY = ("c1", 0)


def unsaved() -> ReviewState:
    """The person typed, an agent changed it, and nothing was saved."""
    state = ReviewState(Review.of(TYPED), base_exists=True, other=Review.of(DISK))
    state, _ = state.landed(LandedStep(TYPED, CUT, "c1", None), open_=True).folded(CUT)
    return state


def undecided(_: object) -> None:
    """Nothing was decided on any hunk."""


def texts(state: ReviewState) -> list[tuple[str, str]]:
    review = state.review
    return [("".join(review.base_lines_of(h)), "".join(review.lines_of(h))) for h in review.hunks]


def test_what_was_never_saved_is_out_once_its_document_is_closed() -> None:
    state, outcomes = unsaved().closed(CUT, DISK, undecided)
    assert (texts(state), state.review.base, outcomes) == ([], DISK, [(KEY, "rejected")])


def test_it_is_in_again_where_an_editor_shows_again_what_was_unsaved() -> None:
    closed, _ = unsaved().closed(CUT, DISK, undecided)
    state, outcomes = closed.opened(CUT)
    assert (texts(state), outcomes) == (texts(unsaved()), [(KEY, "applied")])
    assert state.other == closed.review


def test_what_was_saved_is_in_again_once_its_undoing_is_given_up() -> None:
    saved, _ = unsaved().saved(CUT)
    undone, outcomes = saved.folded(TYPED)
    assert outcomes == [(KEY, "rejected")]
    state, outcomes = undone.closed(TYPED, CUT, undecided)
    assert (texts(state), outcomes) == (texts(saved), [(KEY, "applied")])


def test_what_is_kept_stays_so_in_both_texts() -> None:
    saved, _ = unsaved().saved(CUT)
    kept = saved.kept([KEY])
    state, outcomes = kept.folded(Text.of("one\n2\nmore\n"))[0].closed(
        kept.review.text, CUT, undecided
    )
    assert (texts(state), outcomes) == ([], [])


def test_what_another_change_took_over_is_so_again_where_an_editor_shows_that_again() -> None:
    saved, _ = unsaved().saved(CUT)
    after = Text.of("one\nother\n")
    over, outcomes = saved.landed(LandedStep(CUT, after, "c2", None), open_=True).folded(after)
    assert outcomes == [(KEY, "superseded")]
    kept = over.kept([("c2", 0)])
    closed, outcomes = kept.closed(after, CUT, lambda _: "superseded")
    assert outcomes == [(KEY, "applied")]
    _, outcomes = closed.opened(after)
    assert outcomes == [(KEY, "superseded")]


def test_so_is_what_one_on_disk_took_over_once_text_that_has_it_is_given_up() -> None:
    saved, _ = unsaved().saved(CUT)
    typed, _ = saved.folded(Text.of("one\n2\nmore\n"))
    record = typed.record()
    assert record is not None
    deleted = LandedStep(CUT, Text.of("one\n"), "c2", None)
    state, _ = ReviewState.of_record(record, ["c1"]).landed_in_other(deleted)
    _, outcomes = state.folded(deleted.after)
    assert dict(outcomes) == {KEY: "superseded", ("c2", 0): "applied"}


def test_what_others_wrote_to_the_disk_is_there_once_what_was_unsaved_is_given_up() -> None:
    disk = Text.of("others\none\ntwo\n")
    closed, outcomes = unsaved().closed(CUT, disk, undecided)
    assert (texts(closed), closed.review.base, outcomes) == ([], disk, [(KEY, "rejected")])
    state, outcomes = closed.opened(CUT)
    assert (texts(state), outcomes) == (texts(unsaved()), [(KEY, "applied")])


def test_both_are_there_after_a_restart() -> None:
    closed, _ = unsaved().closed(CUT, DISK, undecided)
    record = closed.record()
    assert record is not None
    restored = ReviewState.of_record(record, ["c1"])
    assert restored == replace(closed, restored=True, review=restored.review)
    shown, outcomes = restored.opened(CUT)
    assert (texts(shown), outcomes) == (texts(unsaved()), [(KEY, "applied")])


def test_what_a_document_read_from_the_disk_is_on_disk_though_its_undo_takes_it_out() -> None:
    read, _ = (
        ReviewState(Review.of(TYPED), base_exists=True)
        .landed(LandedStep(TYPED, CUT, "c1", None), open_=True)
        .folded(CUT)
    )
    undone, _ = read.on_disk(TYPED, TYPED, CUT, "c1").folded(TYPED)
    state, outcomes = undone.closed(TYPED, CUT, undecided)
    assert (texts(state), outcomes) == (texts(read), [(KEY, "applied")])


def test_what_was_unsaved_is_known_with_what_has_come_to_the_file_since() -> None:
    closed, _ = unsaved().closed(CUT, DISK, undecided)
    written = Text.of("1\none\ntwo\n")
    state = closed.landed(LandedStep(DISK, written, "c2", None), open_=False)
    both = Text.of("1\none\n2\n")
    shown, outcomes = state.opened(both)
    assert [hunk.change_id for hunk in shown.review.hunks] == ["c2", "c1"]
    assert outcomes == [(KEY, "applied")]


def test_what_went_into_unsaved_text_right_before_it_was_closed_is_known_there() -> None:
    closed, _ = unsaved().closed(CUT, DISK, undecided)
    late = LandedStep(CUT, Text.of("late\none\n2\n"), "c2", None)
    assert closed.is_of_other(late)
    state, outcomes = closed.landed_in_other(late)
    assert (state.review, outcomes) == (closed.review, [(("c2", 0), "rejected")])
    shown, outcomes = state.opened(late.after)
    assert {hunk.key for hunk in shown.review.hunks} == {KEY, ("c2", 0)}
    assert dict(outcomes) == {KEY: "applied", ("c2", 0): "applied"}


def test_what_went_into_the_closed_file_is_not_taken_for_that() -> None:
    closed, _ = unsaved().closed(CUT, DISK, undecided)
    written = Text.of("one\ntwo\nlate\n")
    assert not closed.is_of_other(LandedStep(DISK, written, "c2", None))


def test_it_is_in_the_file_as_well_where_its_agent_wrote_the_disk() -> None:
    closed, _ = unsaved().closed(CUT, DISK, undecided)
    late = LandedStep(CUT, Text.of("late\none\n2\n"), "c2", None)
    state, _ = closed.landed_in_other(late)
    assert state.has_in_other("c2")
    others, now = Text.of("x\none\ntwo\n"), Text.of("x\none\ntwo\nlate\n")
    both, outcomes = state.also_on_disk(others, now, "c2")
    assert [hunk.key for hunk in both.review.hunks] == [("c2", 0)]
    assert both.review.base == others
    assert outcomes == [(("c2", 0), "applied")]
