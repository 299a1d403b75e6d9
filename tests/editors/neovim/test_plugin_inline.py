"""Changes that are asked for in place, at the lines that they are confined to."""

from typing import Any

import pytest
from plugin_desk import FLOATS, PluginDesk
from support.neovim import wait_until
from support.neovim_desk import done, edit, read, step

pytestmark = pytest.mark.neovim

LINES = ("one", "two", "three", "four")
TEXT = "\n".join(LINES) + "\n"
HINT = "\\ak keep  \\au undo  \\ar again  \\ai refine"


def beside(desk: PluginDesk) -> list[list[Any]]:
    return desk.beside("inline")


def test_a_change_is_asked_for_below_a_line_and_told_beside_it(desk: PluginDesk) -> None:
    desk.open("a.txt", TEXT)
    desk.start(step(edit("a.txt", "two", "TWO\nTWO")), step(edit("a.txt", "four", "IV")), done())
    desk.write("2G\\ai", "Shout.<CR>")
    desk.wait_for_lines("one", "TWO", "TWO", "three", "four")
    wait_until(lambda: beside(desk) == [[2, 3, HINT]])
    assert not desk.nvim.lua(FLOATS)
    assert desk.nvim.mode() == "n"
    assert desk.window("chat") is None
    assert any("line 5 of a.txt" in line for line in desk.chat())
    desk.nvim.keys("3G\\ak")
    wait_until(lambda: beside(desk) == [])
    desk.wait_for_marks()
    assert desk.nvim.lines() == ["one", "TWO", "TWO", "three", "four"]


def test_all_of_an_answer_is_undone_from_any_of_its_lines(desk: PluginDesk) -> None:
    desk.open("a.txt", TEXT)
    desk.start(step(edit("a.txt", "one", "ONE"), edit("a.txt", "three", "THREE")), done())
    desk.write("ggVjj\\ai", "Shout.<CR>")
    wait_until(lambda: beside(desk) == [[1, 3, HINT]])
    desk.wait_for_marks([1, 1, False], [3, 3, False])
    desk.nvim.keys("2G\\au")
    desk.wait_for_lines(*LINES)
    wait_until(lambda: beside(desk) == [])


def test_what_is_written_is_kept_when_the_window_is_left(desk: PluginDesk) -> None:
    desk.open("a.txt", TEXT)
    desk.start(done())
    desk.write("2G\\ai", "Shout<C-j>louder")
    wait_until(lambda: desk.nvim.lines() == ["Shout", "louder"])
    desk.nvim.keys("<Esc>bcwagain<Esc><Esc>")
    wait_until(lambda: not desk.nvim.lua(FLOATS))
    assert desk.nvim.lines() == list(LINES)
    desk.write("3G\\ai", "!")
    wait_until(lambda: desk.nvim.lines() == ["Shout", "again!"])
    assert desk.nvim.lua("return vim.api.nvim_win_get_height(0)") == 2


@pytest.mark.parametrize("keys", ["<Esc>:q<CR>", "<Esc><C-w>q", "<Esc>:bwipeout!<CR>"])
def test_what_is_written_is_kept_however_the_window_is_closed(desk: PluginDesk, keys: str) -> None:
    desk.open("a.txt", TEXT)
    desk.start(done())
    desk.write("2G\\ai", "Shout")
    desk.nvim.keys(keys)
    wait_until(lambda: not desk.nvim.lua(FLOATS))
    desk.write("3G\\ai", "!")
    wait_until(lambda: desk.nvim.lines() == ["Shout!"])
    assert "Error" not in desk.nvim.command_output("messages")


def test_lines_at_the_end_that_go_while_the_agent_works_take_nothing_along(
    desk: PluginDesk,
) -> None:
    desk.open("a.txt", TEXT)
    desk.start(step(read("a.txt")), {"text": "Done.", "delay_ms": 60000})
    desk.nvim.keys("G")
    desk.agent("inline Shout.")
    wait_until(lambda: beside(desk) == [[4, 4, "agent: works · read a.txt"]])
    desk.nvim.keys("dd")
    desk.wait_for_lines("one", "two", "three")
    desk.agent("stop")
    wait_until(lambda: beside(desk) == [[3, 3, "agent: failed: stopped  \\ar again  \\ai refine"]])
    assert "Error" not in desk.nvim.command_output("messages")


def answered_in_place(desk: PluginDesk) -> None:
    """Once, by an agent that has another answer for the next time."""
    desk.open("a.txt", TEXT)
    first, second = edit("a.txt", "two", "TWO"), edit("a.txt", "two", "Two!")
    desk.start(step(first), done(), step(second), done())
    desk.write("2G\\ai", "Shout.<CR>")
    wait_until(lambda: beside(desk) == [[2, 2, HINT]])


def test_the_same_is_asked_again_in_place_of_the_answer(desk: PluginDesk) -> None:
    answered_in_place(desk)
    desk.nvim.keys("\\ar")
    desk.wait_for_lines("one", "Two!", "three", "four")
    wait_until(lambda: beside(desk) == [[2, 2, HINT]])
    assert desk.chat().count("Shout.") == 2


def test_the_same_is_not_asked_again_where_the_answer_cannot_be_undone(desk: PluginDesk) -> None:
    answered_in_place(desk)
    desk.nvim.lua("vim.bo.modifiable = false")
    desk.nvim.keys("\\ar")
    wait_until(lambda: "the editor refused" in desk.nvim.lua("return vim.fn.execute('messages')"))
    wait_until(lambda: beside(desk) == [[2, 2, HINT]])
    desk.nvim.lua("vim.bo.modifiable = true")
    desk.nvim.keys("\\ar")
    desk.wait_for_lines("one", "Two!", "three", "four")
    assert desk.chat().count("Shout.") == 2


def test_an_answer_is_refined_within_its_own_lines(desk: PluginDesk) -> None:
    desk.open("a.txt", TEXT)
    desk.start(
        step(edit("a.txt", "two", "TWO\nTWO")),
        done(),
        step(edit("a.txt", "TWO\nTWO", "TWO\nTOO"), edit("a.txt", "three", "III")),
        done(),
    )
    desk.write("2G\\ai", "Shout.<CR>")
    wait_until(lambda: beside(desk) == [[2, 3, HINT]])
    desk.write("3G\\ai", "Differ.<CR>")
    desk.wait_for_lines("one", "TWO", "TOO", "three", "four")
    wait_until(lambda: beside(desk) == [[2, 3, HINT]])
    desk.nvim.keys("2G\\au")
    desk.wait_for_lines(*LINES)


def test_an_answer_of_words_alone_stands_beside_the_lines_until_the_cursor_is_elsewhere(
    desk: PluginDesk,
) -> None:
    desk.open("a.txt", TEXT)
    desk.start({"text": "It is loud.\nAs it is."})
    desk.nvim.keys("2G")
    desk.agent("inline Shout.")
    wait_until(
        lambda: beside(desk) == [[2, 2, "agent: no change: It is loud.  \\ar again  \\ai refine"]]
    )
    desk.nvim.keys("j")
    wait_until(lambda: beside(desk) == [])


def test_what_the_agent_does_stands_beside_the_lines_and_moves_with_them(desk: PluginDesk) -> None:
    desk.open("a.txt", TEXT)
    desk.start(step(read("a.txt")), {"text": "Done.", "delay_ms": 60000})
    desk.nvim.keys("2G")
    desk.agent("inline Shout.")
    wait_until(lambda: beside(desk) == [[2, 2, "agent: works · read a.txt"]])
    desk.nvim.keys("ggOtyped<Esc>")
    wait_until(lambda: beside(desk) == [[3, 3, "agent: works · read a.txt"]])
    desk.agent("stop")
    wait_until(lambda: beside(desk) == [[3, 3, "agent: failed: stopped  \\ar again  \\ai refine"]])


def test_a_prompt_that_is_dropped_is_there_when_the_window_opens_next(desk: PluginDesk) -> None:
    desk.open("a.txt", TEXT)
    desk.start({"text": "Done.", "delay_ms": 60000})
    desk.agent("ask Look.")
    wait_until(lambda: "working" in desk.nvim.lua("return require('lsp_agent').statusline()"))
    desk.nvim.keys("2G")
    desk.agent("inline Shout.")
    wait_until(lambda: beside(desk) == [[2, 2, "agent: waits"]])
    wait_until(lambda: "## You, waiting" in desk.chat())
    desk.agent("stop")
    wait_until(lambda: beside(desk) == [])
    desk.write("\\ai", " Now!")
    wait_until(lambda: desk.nvim.lines() == ["Shout. Now!"])
