"""Which messages a compaction leaves as they are."""

from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.runtime.compaction import KEPT, first_kept
from lsp_agent.runtime.transcript import Block, Message, Role, message, text_block


def said(role: Role, size: int) -> Message:
    """``size`` in tokens, as they are guessed."""
    text = text_block("x" * (3 * size))
    result: Block = {"type": "tool_result", "call_id": "1", "is_error": False, "content": [text]}
    return message(role, [result if role == "tool" else text])


def step(size: int) -> list[Message]:
    return [said("assistant", 1), said("tool", size)]


def test_the_last_four_messages_stay():
    messages = [said("user", 1), said("assistant", 1)] * 3
    assert first_kept(messages, 100) == 2


def test_fewer_stay_where_they_take_too_much():
    messages = [said("user", 1), *step(10), *step(90), *step(20)]
    assert first_kept(messages, 200) == 3
    assert first_kept(messages, 100) == 5


def test_the_last_step_stays_whatever_it_takes():
    messages = [said("user", 1), *step(10), *step(90)]
    assert first_kept(messages, 50) == 3


def test_what_is_short_stays_whole():
    assert first_kept([], 10) == 0
    assert first_kept([said("user", 1), *step(1)], 10) == 0


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 50)), max_size=9), st.integers(0, 100))
def test_no_result_is_parted_from_its_call(parts: list[tuple[bool, int]], most: int):
    messages = [said("user", 1)]
    for is_step, size in parts:
        messages += step(size) if is_step else [said("user", size), said("assistant", 1)]
    start = first_kept(messages, most)
    assert messages[start]["role"] != "tool"
    assert start < len(messages)
    assert start >= len(messages) - KEPT - 1 or start == 0
