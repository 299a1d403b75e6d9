from hypothesis import given
from random_texts import triples

from lsp_agent.text.lines import Text
from lsp_agent.text.live_hunks import Accepted, LiveHunk, awaited_hunks, live_hunks

BEFORE = "a\nb\nc\nd\ne\n"
AFTER = "a\nB\nc\nd\ne\nnew\n"


def hunks(now: str, before: str = BEFORE, after: str = AFTER) -> list[LiveHunk]:
    return live_hunks(Text.of(before), Text.of(after), Text.of(now))


def test_the_hunks_of_a_change_stand_where_it_put_them():
    assert hunks(AFTER) == [
        LiveHunk(0, ("b\n",), ("B\n",), 1, 2, intact=True),
        LiveHunk(1, (), ("new\n",), 5, 6, intact=True),
    ]


def test_lines_typed_above_move_a_hunk_down():
    first, last = hunks("x\ny\n" + AFTER)
    assert (first.start_line, first.end_line, first.intact) == (3, 4, True)
    assert (last.start_line, last.end_line, last.intact) == (7, 8, True)


def test_a_line_typed_directly_above_or_below_leaves_a_hunk_intact():
    for now, start in (("a\nx\nB\nc\nd\ne\nnew\n", 2), ("a\nB\nx\nc\nd\ne\nnew\n", 1)):
        first, _ = hunks(now)
        assert (first.start_line, first.end_line, first.intact) == (start, start + 1, True)


def test_a_hunk_typed_into_is_not_intact_and_covers_what_was_typed():
    first, last = hunks("a\nB typed\nmore\nc\nd\ne\nnew\n")
    assert (first.start_line, first.end_line, first.intact) == (1, 3, False)
    assert last.intact


def test_a_hunk_whose_lines_are_gone_is_an_empty_place_and_not_intact():
    first, _ = hunks("a\nc\nd\ne\nnew\n")
    assert (first.start_line, first.end_line, first.intact) == (1, 1, False)


def test_a_deletion_is_an_empty_place_between_lines():
    (only,) = hunks("x\na\nc\n", before="a\nb\nc\n", after="a\nc\n")
    assert only == LiveHunk(0, ("b\n",), (), 2, 2, intact=True)


def test_a_deletion_is_not_intact_once_something_stands_in_its_place():
    (only,) = hunks("a\ntyped\nc\n", before="a\nb\nc\n", after="a\nc\n")
    assert (only.start_line, only.end_line, only.intact) == (1, 2, False)


@given(triples())
def test_an_intact_hunk_shows_exactly_its_lines(texts: tuple[Text, Text, Text]):
    before, after, now = texts
    for hunk in live_hunks(before, after, now):
        assert 0 <= hunk.start_line <= hunk.end_line <= len(now.lines)
        if hunk.intact:
            assert now.lines[hunk.start_line : hunk.end_line] == hunk.new_lines


@given(triples())
def test_hunks_stand_in_their_order(texts: tuple[Text, Text, Text]):
    live = live_hunks(*texts)
    assert [hunk.start_line for hunk in live] == sorted(hunk.start_line for hunk in live)


def test_a_hunk_that_waits_stands_where_it_would_replace():
    first, last = awaited_hunks(Text.of(BEFORE), Text.of(AFTER), Text.of("typed\n" + BEFORE))
    assert first == LiveHunk(0, ("b\n",), ("B\n",), 2, 3, intact=True)
    assert last == LiveHunk(1, (), ("new\n",), 6, 6, intact=True)


def test_a_hunk_that_waits_is_not_intact_where_its_lines_were_changed():
    first, last = awaited_hunks(Text.of(BEFORE), Text.of(AFTER), Text.of("a\nmine\nc\nd\ne\n"))
    assert (first.start_line, first.end_line, first.intact) == (1, 2, False)
    assert last.intact


@given(triples())
def test_an_intact_hunk_that_waits_covers_exactly_the_lines_it_replaces(
    texts: tuple[Text, Text, Text],
):
    before, after, now = texts
    for hunk in awaited_hunks(before, after, now):
        assert 0 <= hunk.start_line <= hunk.end_line <= len(now.lines)
        if hunk.intact:
            assert now.lines[hunk.start_line : hunk.end_line] == hunk.old_lines


def test_what_was_there_already_did_not_go_in_with_a_hunk_beside_it():
    before, after = Text.of("1\n2\n3\n4\n5\n"), Text.of("1\ntwo\n3\nfour\n5\n")
    accepted = Accepted(before, after, (0, 1))
    assert accepted.went_in(Text.of("1\ntwo\n4\n5\n"), Text.of("1\ntwo\nfour\n5\n")) == {1}
