"""What an agent knows of a file: by reading and writing, in whatever parts and order."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.sessions.files import knowledge
from lsp_agent.sessions.files.knowledge import Knowledge, first_read, news, whole
from lsp_agent.text.diff import Hunk, diff
from lsp_agent.text.lines import Text

TEXT = Text.of("".join(f"line {number}\n" for number in range(1, 9)))


def typed(text: Text, line: int, words: str = "TYPED ") -> Text:
    lines = list(text.lines)
    lines[line] = words + lines[line]
    return text.with_lines(tuple(lines))


def without(text: Text, line: int) -> Text:
    return text.with_lines(text.lines[:line] + text.lines[line + 1 :])


def test_a_part_that_is_read_shows_the_typing_in_it_alone() -> None:
    now = typed(typed(TEXT, 1), 6)
    known = whole(TEXT).read(now, 0, 4)
    assert known.own == typed(TEXT, 1)
    assert known.unseen == frozenset()


def test_lines_that_came_where_nobody_looked_are_not_known() -> None:
    known = whole(TEXT).read(typed(TEXT, 6), 0, 4)
    assert known.base_of(TEXT) == TEXT


def test_all_parts_together_are_the_whole() -> None:
    known = first_read(TEXT, 4, 8)
    assert known.dropped_unseen(Text(TEXT.lines[4:])) == range(4)
    known = known.read(TEXT, 0, 2)
    assert known.dropped_unseen(Text(TEXT.lines[4:])) == range(2, 4)
    assert known.dropped_unseen(TEXT) is None
    known = known.read(TEXT, 2, 4)
    assert known.dropped_unseen(Text(())) is None


def test_a_note_counts_as_far_as_the_next_text_has_it() -> None:
    now = typed(typed(TEXT, 1), 6)
    rows, told = news(TEXT, now)
    assert told == now
    assert rows == "@@ line 2 @@\n-line 2\n+TYPED line 2\n@@ line 7 @@\n-line 7\n+TYPED line 7\n"
    known = Knowledge(TEXT, told)
    assert known.base_of(TEXT) == TEXT
    assert known.base_of(typed(TEXT, 6)) == typed(TEXT, 6)
    assert known.base_of(without(now, 3)) == now


def test_a_note_counts_where_the_agent_changed_the_line_beside_it_too() -> None:
    now = TEXT.with_lines((*TEXT.lines[:1], "TYPED\n", *TEXT.lines[1:]))
    known = Knowledge(TEXT, now)
    assert known.base_of(typed(now, 0, "MORE ")) == now
    assert known.base_of(typed(now, 2, "MORE ")) == now
    assert known.base_of(typed(TEXT, 0, "MORE ")) == TEXT


def test_a_note_counts_where_the_agent_changed_its_line_further() -> None:
    now = typed(TEXT, 1)
    known = Knowledge(TEXT, now)
    assert known.base_of(typed(now, 1, "MORE ")) == now
    assert known.base_of(typed(TEXT, 1, "MORE ")) == TEXT


def test_a_blank_line_of_which_a_note_told_is_not_mistaken_for_another() -> None:
    own = Text(("a\n", "\n", "b\n", "c\n"))
    now = Text(("a\n", "\n", "\n", "b\n", "c\n"))
    known = Knowledge(own, now)
    assert known.base_of(typed(own, 3)) == own
    assert known.base_of(typed(now, 4)) == now


def test_a_deletion_that_was_not_heeded_is_not_undone() -> None:
    now = without(TEXT, 3)
    known = Knowledge(TEXT, now)
    assert known.base_of(TEXT) == TEXT
    assert known.base_of(without(now, 0)) == now


def test_what_a_note_has_no_room_for_is_not_told() -> None:
    long = Text.of("".join(f"{number}\n" for number in range(200)))
    now = typed(long, 0).with_lines(
        (*typed(long, 0).lines[:50], *(f"X{n}\n" for n in range(60)), *long.lines[50:])
    )
    rows, told = news(long, now)
    assert rows.endswith("more rows; read the file again\n")
    assert told == typed(long, 0)


def test_an_edit_teaches_its_own_lines_alone() -> None:
    before = typed(typed(TEXT, 1), 6)
    after = Text.of(before.content.replace("line 2", "LINE 2"))
    known = whole(TEXT).edited(before, after)
    assert known.own == Text.of(TEXT.content.replace("line 2", "LINE 2"))


lines_of = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=8).map(
    lambda lines: Text(tuple(lines))
)


@given(lines_of, lines_of, st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=4))
def test_who_has_read_all_lines_of_a_text_in_parts_knows_it(
    first: Text, now: Text, parts: list[tuple[int, int]]
) -> None:
    known = whole(first)
    size = len(now.lines)
    for start, end in [*parts, (0, size // 2), (size // 2, size)]:
        known = known.read(now, min(start, size), max(min(end, size), min(start, size)))
    seen = known.dropped_unseen(Text(()))
    assert seen is None
    # A deletion just where two parts meet is in neither.
    assert known.own is not None
    assert len(known.own.lines) >= size


@given(lines_of, lines_of)
def test_a_note_that_shows_all_leads_to_the_text_of_now(told: Text, now: Text) -> None:
    assert news(told, now)[1] == now


@given(lines_of, lines_of, lines_of)
def test_what_was_made_of_the_known_takes_the_known_as_its_base(
    own: Text, told: Text, wanted: Text
) -> None:
    assert Knowledge(own, told).base_of(own) == own or own == told
    assert Knowledge(own, told).base_of(told) == told
    assert Knowledge(own, own).base_of(wanted) == own


def test_of_lines_that_a_note_told_of_the_agent_may_have_heeded_one() -> None:
    told = TEXT.with_lines((*TEXT.lines[:1], "ONE\n", "TWO\n", *TEXT.lines[1:]))
    heeded = TEXT.with_lines((*TEXT.lines[:1], "TWO\n", *TEXT.lines[1:]))
    assert Knowledge(TEXT, told).base_of(typed(heeded, 0, "MORE ")) == heeded


def test_lines_that_are_told_next_to_each_other_count_all_or_none_if_none_is_there_as_told() -> (
    None
):
    own = Text.of("start\nstop\n")
    told = Text.of("start\nlog(a, b)\ncall one two three\ndone four five\nstop\n")
    # It knew of no log: what it wrote is not made of the person's.
    assert Knowledge(own, told).base_of(Text.of("start\nlog(a, c)\nstop\n")) == own


def test_however_many_lines_were_told_a_whole_text_is_compared_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = Text(tuple(f"line {number}\n" for number in range(300)))
    told = Text(tuple(f"told {line}" for line in own.lines))
    wanted = Text(tuple(f"new {number * 7}\n" for number in range(300)))
    compared: list[int] = []

    def counted(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
        compared.append(len(old) + len(new))
        return diff(old, new)

    monkeypatch.setattr(knowledge, "diff", counted)
    assert Knowledge(own, told).base_of(wanted) is not None
    assert sum(compared) < 10 * 600
