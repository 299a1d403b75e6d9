"""The tab page of the review: the files with what is left of each, and the file itself."""

import pytest
from plugin_desk import PluginDesk
from support.neovim import wait_until
from support.neovim_desk import done, edit, step, write

pytestmark = pytest.mark.neovim

LINES = "one\ntwo\nthree\nfour\nfive\n"
NAME = "return vim.fn.expand('%:t')"
ROW = "return vim.fn.line('.')"

LIST = """
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if vim.api.nvim_buf_get_name(buffer):find('lsp%-agent://review') then
    return vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  end
end
"""

# The names of the files in the windows of this tab page that are no list's.
SHOWN = """
return vim.iter(vim.api.nvim_tabpage_list_wins(0))
  :map(vim.api.nvim_win_get_buf)
  :map(vim.api.nvim_buf_get_name)
  :filter(function(name) return not name:find('://') end)
  :map(vim.fs.basename)
  :totable()
"""

# What stands in the window that is compared in, beside the file.
COMPARED = """
local texts = {}
for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local buffer = vim.api.nvim_win_get_buf(window)
  if vim.wo[window].diff and vim.api.nvim_buf_get_name(buffer) == '' then
    table.insert(texts, vim.api.nvim_buf_get_lines(buffer, 0, -1, true))
  end
end
return texts
"""


def change(desk: PluginDesk, **options: object) -> None:
    """Three files, of which the first is shown, in a tab page of the review."""
    desk.open("a.txt", LINES)
    desk.file("b.txt", LINES)
    edits = [edit(name, "two", "TWO\nTWO") for name in ("a.txt", "b.txt")]
    more = [edit("a.txt", "four\n", ""), write("c.txt", "new\n")]
    desk.start(step(*edits, *more), done(), **options)
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.agent("review")


def wait_for_list(desk: PluginDesk, *lines: str) -> None:
    wait_until(lambda: desk.nvim.lua(LIST) == list(lines))


FILES = "a.txt  2 left  +2 −2", "b.txt  1 left  +2 −1", "c.txt  1 left  +1 −0"


def test_the_list_follows_each_decision(desk: PluginDesk) -> None:
    change(desk)
    wait_for_list(desk, "4 changes in 3 files", *FILES)
    wait_until(lambda: desk.nvim.lua(SHOWN) == ["a.txt"])
    desk.nvim.keys("<CR>")
    wait_until(lambda: desk.nvim.lua(NAME) == "a.txt")
    assert desk.nvim.lua(ROW) == 2
    desk.wait_for_marks([2, 3, False], [5, 5, False])
    desk.nvim.keys("\\ak")
    wait_for_list(desk, "3 changes in 3 files", "a.txt  1 left  +0 −1", *FILES[1:])
    desk.nvim.keys("5G\\au")
    wait_for_list(desk, "2 changes in 2 files", "a.txt  ✓", *FILES[1:])
    desk.wait_for_lines("one", "TWO", "TWO", "three", "four", "five")
    desk.nvim.command("wincmd h")
    assert desk.nvim.lua(ROW) == 2
    desk.nvim.keys("jU")
    wait_for_list(desk, "1 change in 1 file", "a.txt  ✓", "b.txt  ✓", FILES[2])
    assert (desk.folder / "b.txt").read_text() == LINES
    desk.nvim.keys("jK")
    wait_for_list(desk, "Nothing is left to review.", "a.txt  ✓", "b.txt  ✓", "c.txt  ✓")
    desk.nvim.keys("q")
    wait_until(lambda: desk.nvim.lua("return vim.fn.tabpagenr('$')") == 1)


def test_a_new_file_without_a_line_is_decided_on_like_others(desk: PluginDesk) -> None:
    desk.open("a.txt", LINES)
    desk.start(step(write("empty.txt", "")), done())
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.agent("review")
    wait_for_list(desk, "1 change in 1 file", "empty.txt  1 left  no lines")
    desk.nvim.keys("U")
    wait_for_list(desk, "Nothing is left to review.", "empty.txt  ✓")
    assert desk.statuses() == ["rejected"]


def test_the_list_follows_the_persons_own_undo(desk: PluginDesk) -> None:
    change(desk)
    wait_for_list(desk, "4 changes in 3 files", *FILES)
    desk.nvim.keys("<CR>")
    wait_until(lambda: desk.nvim.lua(NAME) == "a.txt")
    desk.wait_for_marks([2, 3, False], [5, 5, False])
    desk.nvim.keys("u")
    wait_for_list(desk, "3 changes in 3 files", "a.txt  1 left  +2 −1", *FILES[1:])


def test_the_next_change_is_shown_in_the_reviews_own_window(desk: PluginDesk) -> None:
    change(desk)
    wait_for_list(desk, "4 changes in 3 files", *FILES)
    desk.nvim.keys("Go<Esc>")  # the last file is shown, and the list keeps the focus
    wait_until(lambda: desk.nvim.lua(SHOWN) == ["c.txt"])
    assert desk.nvim.lua(NAME) != "c.txt"
    desk.nvim.keys("]v")
    wait_until(lambda: desk.nvim.lua(NAME) == "a.txt" and desk.nvim.lua(ROW) == 2)
    assert desk.nvim.lua("return vim.fn.tabpagenr()") == 2  # though the first has this file too
    desk.nvim.keys("]v")
    wait_until(lambda: desk.nvim.lua(ROW) == 5)
    desk.nvim.keys("]v")
    wait_until(lambda: desk.nvim.lua(NAME) == "b.txt")
    desk.nvim.keys("[v")
    wait_until(lambda: desk.nvim.lua(NAME) == "a.txt")
    assert desk.nvim.lua("return vim.fn.tabpagenr()") == 2


def test_a_file_is_compared_with_its_text_without_the_changes(desk: PluginDesk) -> None:
    change(desk)
    wait_for_list(desk, "4 changes in 3 files", *FILES)
    wait_until(lambda: desk.nvim.lua(SHOWN) == ["a.txt"])
    desk.nvim.keys("d")
    wait_until(lambda: desk.nvim.lua(COMPARED) == [LINES.split()])
    desk.nvim.command("2wincmd l")
    desk.wait_for_marks([2, 3, False], [5, 5, False])
    desk.nvim.keys("2G\\ak")
    wait_until(lambda: desk.nvim.lua(COMPARED) == [["one", "TWO", "TWO", "three", "four", "five"]])
    desk.nvim.command("2wincmd h")
    desk.nvim.keys("d")
    wait_until(lambda: desk.nvim.lua(COMPARED) == [])
    assert desk.nvim.lua(SHOWN) == ["a.txt"]


def test_proposals_are_applied_and_done_with_from_the_list(desk: PluginDesk) -> None:
    change(desk, edits={"review": "before"})
    wait_for_list(desk, "4 changes in 3 files", *FILES)
    desk.nvim.keys("d")
    wait_until(
        lambda: desk.nvim.lua(COMPARED) == [["one", "TWO", "TWO", "three", "five"]],
    )
    desk.nvim.keys("K")
    wait_for_list(desk, "2 changes in 2 files", "a.txt  ✓", *FILES[1:])
    assert (desk.folder / "a.txt").read_text() == "one\nTWO\nTWO\nthree\nfive\n"


def test_its_keys_are_shown_in_it(desk: PluginDesk) -> None:
    change(desk)
    wait_for_list(desk, "4 changes in 3 files", *FILES)
    desk.nvim.keys("g?")
    wait_until(lambda: "open the" in desk.nvim.screen())


def test_the_file_is_opened_though_its_window_was_closed(desk: PluginDesk) -> None:
    change(desk)
    wait_for_list(desk, "4 changes in 3 files", *FILES)
    wait_until(lambda: desk.nvim.lua(SHOWN) == ["a.txt"])
    desk.nvim.command("only")
    desk.nvim.keys("<CR>")
    wait_until(lambda: desk.nvim.lua(NAME) == "a.txt")
    assert not desk.nvim.lua("return vim.wo.winfixbuf")
