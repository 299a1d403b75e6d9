"""What an agent says, as a person sees it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.text.plain import escaped_line, escaped_lines, printable_line, without_links


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("echo hé 漢字 😀", "echo hé 漢字 😀"),
        ("rm -rf ~\x1b[2K\recho hi", r"rm -rf ~\x1b[2K\recho hi"),
        ("echo \u202egpj.x\u202c", r"echo \u202egpj.x\u202c"),
        ("a\nb\tc", r"a\nb\tc"),
        ("a\ufe0f\u3164\u2800\U000e0100b", r"a\ufe0f\u3164\u2800\U000e0100b"),
        ("\x9b31m\x7f\U000e0041\ud800", r"\x9b31m\x7f\U000e0041\ud800"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert escaped_line(text) == shown


def test_lines_and_tabs_stay_in_a_text_of_several_lines() -> None:
    assert escaped_lines("if a\r\n\techo b\rc\n") == "if a\n\techo b\\rc\n"


@given(st.text())
def test_nothing_unprintable_is_left_and_nothing_is_dropped(text: str) -> None:
    shown = escaped_line(text)
    assert shown.isprintable()
    assert len(shown) >= len(text)


def test_output_loses_what_a_terminal_would_not_show() -> None:
    assert printable_line("\x1b[1;32mok\x1b[0m\t\x1b]0;title\x07 5\x08 \r") == "ok  5"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[go](command:x.y)", "[go] (command:x.y)"),
        ("[[c](FILE:///d)](https://e)", "[[c] (FILE:///d)] (https://e)"),
        ("a[0](x), see https://a/b", "a[0](x), see https://a/b"),
    ],
)
def test_no_editor_makes_a_link_of_it(text: str, shown: str) -> None:
    assert without_links(text) == shown
