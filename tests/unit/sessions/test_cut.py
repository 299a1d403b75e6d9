"""Where a stored conversation can be gone back to, and what is left of it then."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.messages import Message, text
from lsp_agent.sessions.stored.cut import cut_before, prompts
from lsp_agent.sessions.stored.transcript import message_line, replayed, turn_line


def line(value: dict[str, object]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def said(role: str, words: str) -> bytes:
    message: Message = {"role": role, "content": [text(words)]}  # type: ignore[typeddict-item]
    return line(message_line(message, 0))


def turn(name: str) -> list[bytes]:
    return [
        line(turn_line(f"t-{name}", f"{name}?", 5.0)),
        said("user", f"{name}?\n\nContext from the editor: …"),
        said("assistant", f"{name}!"),
    ]


A, B, C = turn("A"), turn("B"), turn("C")
CLEARED, SHORTENED = line({"cleared": True}), line({"cut": True})


def test_the_prompts_are_the_persons_own_words_oldest_first() -> None:
    found = prompts([*A, *B])
    assert [(one.turn_id, one.words, one.time) for one in found] == [
        ("t-A", "A?", 5.0),
        ("t-B", "B?", 5.0),
    ]


def test_what_is_before_a_turn_is_kept_and_that_turn_and_the_later_ones_are_left() -> None:
    cut = cut_before([*A, *B, *C], "t-B")
    assert cut.kept == A
    assert (cut.asked.words, cut.turns) == ("B?", ["t-B", "t-C"])


def test_before_the_first_turn_nothing_is_kept() -> None:
    assert cut_before([*A, *B], "t-A").kept == []


def test_without_a_turn_the_last_one_is_meant() -> None:
    assert cut_before([*A, *B], None).turns == ["t-B"]


def test_of_older_files_the_words_are_those_that_the_agent_was_sent() -> None:
    old = [line({"turn": "t-A"}), said("user", "A?"), said("user", "Steered.")]
    assert [one.words for one in prompts([*old, *B])] == ["A?", "B?"]
    assert cut_before([*old, *B], "t-B").kept == old


def test_a_turn_before_which_nobody_was_asked_has_no_words() -> None:
    (one,) = prompts([line({"turn": "t-A"}), said("assistant", "Hm.")])
    assert one.words == ""


def test_what_the_agent_was_made_to_forget_cannot_be_gone_back_to() -> None:
    lines = [*A, CLEARED, *B]
    assert [one.turn_id for one in prompts(lines)] == ["t-B"]
    with pytest.raises(RequestFailed, match="cleared since") as caught:
        cut_before(lines, "t-A")
    assert caught.value.kind == "conflict"
    assert replayed(cut_before(lines, "t-B").kept).messages == []


@pytest.mark.parametrize(
    ("lines", "why"), [([*A, *B], "no turn"), ([SHORTENED, *A], "whose beginning is gone")]
)
def test_a_turn_that_is_not_there_is_unknown_and_it_is_said_why(
    lines: list[bytes], why: str
) -> None:
    with pytest.raises(RequestFailed, match=why) as caught:
        cut_before(lines, "t-C")
    assert caught.value.kind == "unknownTurn"


def test_a_conversation_without_a_prompt_has_no_last_one() -> None:
    with pytest.raises(RequestFailed) as caught:
        cut_before([*A, CLEARED], None)
    assert caught.value.kind == "conflict"


@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([*A, *B, CLEARED, SHORTENED]))))
def test_any_lines_are_cut_where_they_say_that_they_can_be(lines: list[bytes]) -> None:
    for one in prompts(lines):
        cut = cut_before(lines, one.turn_id)
        assert [*cut.kept, *lines[len(cut.kept) :]] == lines
        assert cut.turns[0] == one.turn_id
