"""Code actions, lenses, hints and previews as a plain Neovim shows them."""

from typing import Any

import pytest
from support.neovim import wait_until
from support.neovim_desk import Desk, done, edit, step

pytestmark = pytest.mark.neovim

LINES = "one\ntwo\nthree\nfour\nfive\n"

HINTS = """
local found = vim.diagnostic.get(0, { severity = vim.diagnostic.severity.HINT })
return vim.tbl_map(function(d) return { d.lnum, d.message } end, found)
"""
# What the menu of code actions would do with the one of this title.
ACT = """
local title = ...
vim.lsp.buf.code_action({
  apply = true,
  filter = function(action) return vim.startswith(action.title, title) end,
})
"""
# A preview lies in no workspace folder: the newest Neovim starts a server of its own for it.
STARTED = """
local clients = vim.lsp.get_clients({ _uninitialized = true })
return vim.iter(clients):all(function(client) return client.initialized end)
"""
LENSES = """
return vim.tbl_map(function(l) return { l.range.start.line, l.command.title } end,
  vim.lsp.codelens.get(0))
"""


def hints(desk: Desk) -> Any:
    return desk.nvim.lua(HINTS)


def act(desk: Desk, title: str) -> None:
    desk.nvim.lua(ACT, title)


def changed(desk: Desk, **options: Any) -> None:
    """Lines 2 and 4 of the shown buffer, by an agent."""
    desk.open("a.txt", LINES)
    desk.start(step(edit("a.txt", "two", "TWO"), edit("a.txt", "four", "FOUR")), done(), **options)
    desk.run()


def test_a_hint_says_what_there_is_to_review_and_prints_nothing(desk: Desk) -> None:
    changed(desk)
    assert wait_until(lambda: hints(desk) == [[1, "2 changes of the agent's to review"]])
    desk.nvim.keys("ggOtyped<Esc>")
    assert wait_until(lambda: hints(desk) == [[2, "2 changes of the agent's to review"]])
    assert "review" not in desk.nvim.command_output("messages")
    act(desk, "Keep all changes")
    assert wait_until(lambda: hints(desk) == [])


def test_the_next_change_is_gone_to_and_undone_alone(desk: Desk) -> None:
    changed(desk)
    desk.nvim.keys("G")
    act(desk, "Next change")
    assert wait_until(lambda: desk.nvim.lua("return vim.fn.line('.')") == 2)
    act(desk, "Undo the agent's change (line 2)")
    assert wait_until(lambda: desk.nvim.lines() == ["one", "two", "three", "FOUR", "five"])


def test_a_proposal_is_previewed_in_a_window_and_applied_by_hunk(desk: Desk) -> None:
    changed(desk, edits={"review": "before"})
    act(desk, "Preview the agent's proposal (line 2)")
    assert wait_until(lambda: desk.nvim.lua("return vim.fn.expand('%:t')") == "a.txt.diff")
    assert desk.nvim.lines()[-4:] == ["+TWO", " three", " four", " five"]
    assert desk.nvim.lua("return vim.bo.readonly")
    assert wait_until(lambda: desk.nvim.lua(STARTED))
    desk.nvim.command("silent edit #")
    desk.nvim.keys("2G")
    act(desk, "Apply the agent's proposal (line 2)")
    assert wait_until(lambda: desk.nvim.lines() == ["one", "TWO", "three", "four", "five"])


def test_lenses_stand_above_the_hunks(desk: Desk) -> None:
    changed(desk)
    desk.nvim.lua("vim.lsp.codelens.refresh()")
    wait_until(lambda: desk.nvim.lua(LENSES))
    assert desk.nvim.lua(LENSES) == [
        [0, "Keep all 2"],
        [0, "Undo all"],
        [1, "Keep"],
        [1, "Undo"],
        [3, "Keep"],
        [3, "Undo"],
    ]
