"""Halves of surrogate pairs: what is shown in their place, and what comes back of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.text.lines import Text
from lsp_agent.text.surrogates import made_of_shown, whole, whole_text

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "\ud83d\n", "x\ude00\r\n", "é\n"])).map(
    lambda lines: Text.of("".join(lines))
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 😀", "plain é 😀"),
        ("\ud83d", "\ufffd"),
        ("a\ude00\ud83db", "a\ufffd\ufffdb"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_halves_are_joined_to_what_they_are_or_replaced(text: str, shown: str) -> None:
    assert whole(text) == shown


def test_a_text_without_halves_is_the_same_object() -> None:
    text = Text.of("a\né 😀\n")
    assert whole_text(text) is text


@given(TEXTS)
def test_what_is_shown_can_be_written_and_what_is_left_alone_stays(text: Text) -> None:
    assert len(whole_text(text).content.encode().splitlines()) == len(text.lines)
    assert made_of_shown(text, lambda shown: shown) == text


@given(TEXTS, st.integers(0, 9))
def test_only_the_lines_that_were_changed_are_others(text: Text, at: int) -> None:
    def insert(shown: Text) -> Text:
        return shown.with_lines((*shown.lines[:at], "new\n", *shown.lines[at:]))

    made = made_of_shown(text, insert)
    assert made.lines == (*text.lines[:at], "new\n", *text.lines[at:])
