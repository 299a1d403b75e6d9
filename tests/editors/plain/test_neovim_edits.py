"""Edits of an agent in a real Neovim with a plain LSP client."""

import time

import pytest
from support.neovim_desk import Desk, done, edit, read, step, write

pytestmark = [pytest.mark.neovim, pytest.mark.slow]

LINES = "one\ntwo\nthree\n"


def applied(desk: Desk, count: int = 1) -> None:
    """All edits so far are in, as the agent was told, and were sent no more often than needed.
    Where a later one changed the same lines, the review of the earlier is part of its own."""
    *earlier, last = desk.statuses()
    assert (len(earlier) + 1, last) == (count, "applied")
    assert set(earlier) <= {"applied", "superseded"}
    assert not [outcome.text for outcome in desk.outcomes() if outcome.is_error]
    assert not [outcome.text for outcome in desk.outcomes() if "not confirmed" in outcome.text]


def seen_by_the_server(desk: Desk) -> str:
    """The last ``read``."""
    text, _, _ = desk.outcomes()[-1].text.partition("\n[Note from the editor")
    return text


def test_an_edit_of_unsaved_text_stays_unsaved(desk: Desk) -> None:
    path = desk.open("a.txt", LINES)
    desk.start(step(edit("a.txt", "two", "TWO")), step(read("a.txt")), done())
    desk.nvim.keys("Gofour<Esc>")
    desk.run()
    assert desk.nvim.lines() == ["one", "TWO", "three", "four"]
    assert seen_by_the_server(desk) == desk.nvim.text()
    assert path.read_text() == LINES
    assert [send["taken"] for send in desk.sends()] == [True]
    applied(desk)


def test_an_edit_prints_nothing_that_a_person_would_have_to_dismiss(desk: Desk) -> None:
    desk.open("a.txt", LINES)
    desk.start(
        step(edit("a.txt", "one", "ONE")),
        step(edit("a.txt", "two", "TWO")),
        step(edit("a.txt", "three", "THREE")),
        done(),
    )
    desk.run()
    assert desk.nvim.lines() == ["ONE", "TWO", "THREE"]
    assert "edit" not in desk.nvim.command_output("messages")


def test_typing_before_the_first_flush_at_version_0_is_kept(desk: Desk) -> None:
    desk.open("a.txt", LINES)
    edited = step(edit("a.txt", "two", "TWO"), delay_ms=700)
    desk.start(edited, done(), step(read("a.txt")), done())
    turn = desk.prompt("Go.")
    desk.nvim.keys("O")
    # Neovim sends nothing at all as long as no pause is longer than 150 ms.
    typed = "abcdefghijklmnopqrstuvwxyz0123456789"
    for key in typed:
        desk.nvim.keys(key)
        time.sleep(0.04)
    desk.nvim.keys("<Esc>")
    desk.wait(turn)
    assert desk.nvim.lines() == [typed, "one", "TWO", "three"]
    assert desk.nvim.mode() == "n"
    desk.run("Read it.")
    assert seen_by_the_server(desk) == desk.nvim.text()
    assert all(send["version"] >= 1 for send in desk.sends())
    applied(desk)


def test_lines_are_added_at_the_end_of_a_file_without_a_last_newline(desk: Desk) -> None:
    path = desk.open("a.txt", "one\ntwo")
    desk.start(
        step(edit("a.txt", "two", "two\nthree")),
        done(),
        step(edit("a.txt", "three", "three\nfour")),
        step(read("a.txt")),
        done(),
    )
    desk.run()
    assert desk.nvim.lines() == ["one", "two", "three"]
    desk.nvim.command("silent write")  # which ends the last line
    assert path.read_text() == "one\ntwo\nthree\n"
    desk.run()
    assert desk.nvim.lines() == ["one", "two", "three", "four"]
    assert seen_by_the_server(desk) == "one\ntwo\nthree\nfour\n"
    applied(desk, 2)


def test_an_edit_in_a_crlf_file_keeps_its_line_ends(desk: Desk) -> None:
    path = desk.open("a.txt", "one\r\ntwo 😀\r\nthree\r\n")
    assert desk.nvim.lua("return vim.bo.fileformat") == "dos"
    desk.start(
        step(edit("a.txt", "two 😀", "2a\n2b 🙂")),
        step(edit("a.txt", "one\nthree", "x")),
        step(edit("a.txt", "2b 🙂\nthree", "2b 🙂 and more\nTHREE")),
        step(read("a.txt")),
        done(),
    )
    desk.run()
    assert desk.nvim.lines() == ["one", "2a", "2b 🙂 and more", "THREE"]
    desk.nvim.command("silent write")
    assert path.read_bytes() == "one\r\n2a\r\n2b 🙂 and more\r\nTHREE\r\n".encode()
    assert seen_by_the_server(desk) == path.read_bytes().decode()
    assert desk.statuses() == ["superseded", "applied"]
    assert [outcome.is_error for outcome in desk.outcomes()] == [False, True, False, False]


@pytest.mark.parametrize("content", ["one\nTWO", "one", "one\ntwo\nthree"])
def test_a_text_meant_without_its_last_newline_is_in_all_the_same(desk: Desk, content: str) -> None:
    """Neovim shows a last newline where there is one or more lines: the meant text cannot be."""
    desk.open("a.txt", LINES)
    steps = [step(read("a.txt")), step(write("a.txt", content)), step(read("a.txt")), done()]
    desk.start(*steps, edits={"hold_shrink": 1})
    desk.run()
    assert desk.nvim.lines() == content.split("\n")
    assert len(desk.sends()) <= 1
    assert not [o.text for o in desk.outcomes() if "not confirmed" in o.text or o.is_error]


def test_a_whole_text_can_be_emptied_and_filled(desk: Desk) -> None:
    desk.open("a.txt", LINES)
    desk.start(
        step(read("a.txt")),
        step(write("a.txt", "")),
        step(write("a.txt", "new\ntext\n")),
        done(),
        edits={"hold_shrink": 1},
    )
    desk.run()
    assert desk.nvim.lines() == ["new", "text"]
    assert not [o.text for o in desk.outcomes() if "not confirmed" in o.text or o.is_error]


def test_a_buffer_that_no_window_shows_is_edited_where_it_is(desk: Desk) -> None:
    first = desk.open("a.txt", LINES)
    desk.start(
        step(edit("a.txt", "two", "TWO")),
        step(edit("a.txt", "TWO", "2")),
        step(read("a.txt")),
        done(),
    )
    hidden = desk.nvim.lua("return vim.api.nvim_get_current_buf()")
    desk.nvim.keys("Gofour<Esc>")
    desk.open("b.txt", "else\n")
    desk.nvim.lua("_G.attach()")
    desk.run()
    assert desk.nvim.lines(hidden) == ["one", "2", "three", "four"]
    assert desk.nvim.lines() == ["else"]
    assert desk.nvim.lua("return #vim.api.nvim_list_wins()") == 1
    assert seen_by_the_server(desk) == desk.nvim.text(hidden)
    assert first.read_text() == LINES
    applied(desk, 2)


NUMBERED = [f"line{n:02}" for n in range(40)]


def in_every_line(desk: Desk) -> int:
    """Starts a turn that edits every second line, one after another; the next one reads."""
    desk.open("a.txt", "".join(f"{line}\n" for line in NUMBERED))
    edits = [step(edit("a.txt", x, f"agent{x[4:]}"), delay_ms=30) for x in NUMBERED[::2]]
    desk.start(*edits, done(), step(read("a.txt")), done())
    return desk.prompt("Go.")


def edited_lines() -> list[str]:
    return [x if n % 2 else f"agent{x[4:]}" for n, x in enumerate(NUMBERED)]


def test_saving_by_hand_in_the_middle_of_the_edits_does_no_harm(desk: Desk) -> None:
    turn = in_every_line(desk)
    while desk.answer(turn) is None:
        desk.nvim.keys(":silent w<CR>")
        time.sleep(0.07)
    desk.nvim.command("silent write")
    desk.run("Read it.")
    assert desk.nvim.lines() == edited_lines()
    assert seen_by_the_server(desk) == desk.nvim.text() == (desk.folder / "a.txt").read_text()
    applied(desk, 20)


# All in one call, so that no edit comes between the save and the reload: Neovim would ask.
CHANGED_OUTSIDE = """
vim.cmd('silent write!')
local path, line, text = vim.api.nvim_buf_get_name(0), ...
local lines = vim.fn.readfile(path)
lines[line + 1] = text
vim.fn.writefile(lines, path)
vim.uv.fs_utime(path, 0, 1000000000 + line)  -- a time of its own within the same second
vim.cmd('silent checktime')
"""


def test_reloads_in_the_middle_of_the_edits_keep_both_sides(desk: Desk) -> None:
    turn = in_every_line(desk)
    # A plain client says at length that it refuses an edit of the text before a reload.
    desk.nvim.command("set autoread cmdheight=5")
    wanted = edited_lines()
    for line in range(1, 40, 4):
        desk.nvim.lua(CHANGED_OUTSIDE, line, f"outside{line:02}")
        wanted[line] = f"outside{line:02}"
        time.sleep(0.11)
    desk.wait(turn, 30)
    desk.run("Read it.")
    assert desk.nvim.lines() == wanted
    assert seen_by_the_server(desk) == desk.nvim.text()
    applied(desk, 20)
