from collections.abc import Callable

import pytest
from hypothesis import given
from random_texts import triples

from lsp_agent.text.lines import Text, split_lines
from lsp_agent.text.merge import Conflict, Merge, merge3, merge3_beside, merge3_fine, preferring

Triple = tuple[Text, Text, Text]
Merger = Callable[[Text, Text, Text], Merge]
both = pytest.mark.parametrize("merge", [merge3, merge3_fine])


def merged(merge: Merger, base: str, ours: str, theirs: str) -> str | None:
    """The merged text; None for a conflict."""
    merge_ = merge(Text.of(base), Text.of(ours), Text.of(theirs))
    return merge_.text.content if merge_.clean else None


@both
@given(texts=triples())
def test_a_side_that_changed_nothing_takes_the_other_sides_text(merge: Merger, texts: Triple):
    base, changed, _ = texts
    assert merge(base, base, changed) == Merge(changed)
    assert merge(base, changed, base) == Merge(changed)


@both
@given(texts=triples())
def test_the_same_change_on_both_sides_is_agreement(merge: Merger, texts: Triple):
    base, changed, _ = texts
    assert merge(base, changed, Text.of(changed.content)) == Merge(changed)


@both
@given(texts=triples())
def test_the_sides_can_change_places(merge: Merger, texts: Triple):
    base, ours, theirs = texts
    one, other = merge(base, ours, theirs), merge(base, theirs, ours)
    assert one.clean == other.clean
    assert not one.clean or one.text == other.text


@both
@given(texts=triples())
def test_a_merged_text_is_split_at_its_line_ends(merge: Merger, texts: Triple):
    merge_ = merge(*texts)
    assert list(merge_.text.lines) == split_lines(merge_.text.content)


@given(triples())
def test_where_lines_merge_cleanly_the_second_try_changes_nothing(texts: Triple):
    by_lines = merge3(*texts)
    if by_lines.clean:
        assert merge3_fine(*texts) == by_lines


@both
@given(texts=triples())
def test_a_token_that_each_side_inserted_is_in_a_clean_merge_once(merge: Merger, texts: Triple):
    base, *_ = texts
    lines = base.lines
    ours = base.with_lines(("OURS\n", *lines))
    theirs = base.with_lines((*lines[:1], "THEIRS\n", *lines[1:]))
    merge_ = merge(base, ours, theirs)
    if merge_.clean:
        assert merge_.text.content.count("OURS") == merge_.text.content.count("THEIRS") == 1


def test_changes_apart_both_stand():
    assert merged(merge3, "a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n") == "A\nb\nC\n"


def test_changes_to_neighbouring_lines_both_stand():
    assert merged(merge3, "a\nb\n", "A\nb\n", "a\nB\n") == "A\nB\n"


def test_a_line_that_both_put_in_beside_each_others_change_is_there_once():
    base = Text.of("one two\nfive six\n")
    ours, theirs = Text.of("two\nthree four\nfive six\n"), Text.of("one two\nthree four\n")
    assert not merge3(base, ours, theirs).clean
    assert merge3_fine(base, ours, theirs).text.content.count("three four") == 1


def test_hunks_that_share_a_line_conflict_and_ours_is_kept():
    base, ours, theirs = "a\nb\nc\n", "new\na\nours\nc\n", "a\ntheirs\nc\n"
    merge_ = merge3(Text.of(base), Text.of(ours), Text.of(theirs))
    assert not merge_.clean
    assert merge_.conflicts == (Conflict(("b\n",), ("ours\n",), ("theirs\n",), 2),)
    assert merge_.text.content == ours


@pytest.mark.parametrize("place", [1, 2])
def test_an_insertion_at_either_edge_of_the_others_hunk_conflicts(place: int):
    theirs = ["a\n", "b\n", "c\n"]
    theirs.insert(place, "new\n")
    assert merged(merge3, "a\nb\nc\n", "a\nB\nc\n", "".join(theirs)) is None


def test_two_insertions_at_one_place_conflict():
    assert merged(merge3, "a\nb\n", "a\nx\nb\n", "a\ny\nb\n") is None


def test_a_repeated_line_deleted_by_both_is_deleted_once():
    base, ours, theirs = (
        "d\nb\na\nb\nb\na\na\na\n",
        "d\nb\na\nb\nb\na\na\n",
        "d\nb\nX\nb\nb\na\na\n",
    )
    assert merged(merge3, base, ours, theirs) == theirs


def test_what_does_not_conflict_is_merged_around_a_conflict():
    base, ours, theirs = "1\n2\n3\n4\n5\n", "1\nx\n3\n4\n5\n", "1\ny\n3\n4\nfive\n"
    merge_ = merge3(Text.of(base), Text.of(ours), Text.of(theirs))
    assert merge_.text.content == "1\nx\n3\n4\nfive\n"
    assert len(merge_.conflicts) == 1


def test_words_of_one_line_merge_in_the_second_try():
    base, ours, theirs = "one two three\n", "1 two three\n", "one two 3\n"
    assert merged(merge3, base, ours, theirs) is None
    assert merged(merge3_fine, base, ours, theirs) == "1 two 3\n"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("one 2 three\n", "one zwei three\n"), ("one two! three\n", "one TWO three\n")],
)
def test_the_second_try_is_as_strict_about_tokens(ours: str, theirs: str):
    assert merged(merge3_fine, "one two three\n", ours, theirs) is None


def test_line_ends_and_words_are_separate_tokens():
    base, ours, theirs = "one two\n", "one two\r\n", "1 two\n"
    assert merged(merge3_fine, base, ours, theirs) == "1 two\r\n"


def test_what_is_beside_the_others_change_is_told_by_words_before_lines():
    # The line end that was typed leaves the rest of the line as the other side made it.
    assert merged(merge3_beside, "AB x\n", "AB mine\n x\n", " x\n") == " mine\n x\n"
    assert merged(merge3_beside, "x\n", "y\nmine\n", "y\n") == "y\nmine\n"


def test_whole_lines_stand_between_the_others_where_a_change_is_taken_out():
    assert merged(merge3_beside, "A\nB\n", "A\nmine\nB\n", "x y\n") == "x y\nmine\n"
    assert merged(merge3_beside, "A\nB\n", "A\nmine\nB\n", "x A\ny B\n") == "x A\nmine\ny B\n"
    assert merged(merge3_beside, "A\nB\n", "q\nr\n", "A\nback\nB\n") == "q\nback\nr\n"


def test_a_line_that_both_put_in_stays_a_conflict_where_a_change_is_taken_out():
    assert merged(merge3_beside, "A\nB\n", "A\nmine\nB\n", "x mine\n") is None


def test_what_both_made_of_it_is_agreement_with_a_line_of_one_side_in_it():
    assert merged(merge3_beside, "a b\n", "x\nmine\ny\n", "x\ny\n") == "x\nmine\ny\n"


def preferred(base: str, ours: str, theirs: str) -> str:
    return preferring(Text.of(base), Text.of(ours), Text.of(theirs)).content


@given(triples())
def test_what_merges_cleanly_is_the_same_with_a_preference(texts: Triple):
    merge = merge3_fine(*texts)
    assert not merge.clean or preferring(*texts) == merge.text


def test_ours_is_preferred_in_the_words_that_clash_alone():
    assert preferred("a b c\n", "a B c d\n", "A x c\n") == "A B c d\n"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "now"),
    [
        (
            "\na b\nc d e\n.\n",
            "\na b\nc D e\n.\n",
            "x\na b x\nc d e x\n\n.\n",
            "x\na b x\nc D e x\n\n.\n",
        ),
        (
            "a b c\nd e\n\n.\n",
            "a B c\nd e\n\n.\n",
            "\na b c x\nd e x\nx\n.\n",
            "\na B c x\nd e x\nx\n.\n",
        ),
    ],
    ids=["above a blank line", "below a blank line"],
)
def test_lines_that_theirs_changed_do_not_stand_beside_what_they_became(
    base: str, ours: str, theirs: str, now: str
):
    assert preferred(base, ours, theirs) == now


def test_lines_that_theirs_deleted_come_back_where_ours_changed_them():
    base, ours, theirs = "\none\ntwo\nend\n", "\none\n2\nend\n", "other\nlines\n\nend\n"
    assert preferred(base, ours, theirs) == "other\nlines\n\none\n2\nend\n"


def test_the_merged_text_has_the_encoding_and_bom_of_ours():
    base, theirs = Text(("a\n", "b\n")), Text(("a\n", "B\n"))
    for ours in (
        Text(("a\n", "b\n"), "utf-16-le", bom=True),
        Text(("A\n", "b\n"), "utf-16-le", bom=True),
    ):
        merge_ = merge3(base, ours, theirs)
        assert (merge_.text.encoding, merge_.text.bom) == ("utf-16-le", True)


def test_unchanged_lines_stay_the_objects_of_ours():
    base = Text.of("a\nb\nc\nd\n")
    ours, theirs = Text.of("A\nb\nc\nd\n"), Text.of("a\nb\nc\nD\n")
    lines = merge3(base, ours, theirs).text.lines
    assert all(line is our for line, our in zip(lines[:3], ours.lines[:3], strict=True))


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        ("a\nd\n", "a\nb c\nd e\n", "x\nb c more\nd\n"),
        (" a b\n", " x a b\n c d\n e f\n", " a b y\n z e f w\n"),
    ],
    ids=["in the next place", "at the same place"],
)
def test_a_line_that_both_put_in_one_with_more_in_it_is_not_there_twice(
    base: str, ours: str, theirs: str
) -> None:
    assert merged(merge3_fine, base, ours, theirs) is None
