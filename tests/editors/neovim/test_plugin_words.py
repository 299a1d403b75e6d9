"""Ways to a prompt: any words behind ``:Agent``, what was sent before, a reported problem."""

import pytest
from plugin_desk import PluginDesk
from support.neovim import NeovimError, wait_until

pytestmark = pytest.mark.neovim

REPORT = """
local space = vim.api.nvim_create_namespace('linter')
vim.diagnostic.set(space, 0, vim.tbl_map(function(message)
  return { lnum = 1, col = 0, end_lnum = 1, end_col = 3, message = message, source = 'linter' }
end, { ... }))
"""


def test_words_that_begin_with_no_sub_command_are_a_prompt(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\n")
    desk.start({"text": "I see."})
    desk.agent("mend the second line")
    desk.wait_for_chat("I see.")
    assert "mend the second line" in desk.chat()
    with pytest.raises(NeovimError, match=":Agent has no kepe"):
        desk.agent("kepe")


def test_what_was_sent_is_brought_back_by_the_arrows(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"match": "First", "text": "Answer A."}, {"match": "Second", "text": "Answer B."})
    desk.agent("ask First words.")
    desk.wait_for_chat("Answer A.")
    desk.agent("ask Second words.")
    desk.wait_for_chat("Answer B.")
    desk.nvim.keys(":Agent<CR>")
    wait_until(lambda: desk.nvim.mode() == "i")
    desk.nvim.keys("being written<Up>")
    wait_until(lambda: desk.nvim.lines() == ["Second words."])
    desk.nvim.keys("<Up><Up>")
    wait_until(lambda: desk.nvim.lines() == ["First words."])
    desk.nvim.keys("<Down><Down><Down>")
    wait_until(lambda: desk.nvim.lines() == ["being written"])


def test_a_reported_problem_is_fixed_by_the_agent(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\n")
    desk.start({"match": "too quiet", "text": "It is loud now."})
    desk.nvim.lua(REPORT, "too quiet", "too short")
    desk.agent("fix")
    assert "no problem is" in desk.nvim.command_output("messages")  # in the first line
    desk.nvim.keys("2G")
    desk.agent("fix")
    assert desk.picker()["items"] == ["too quiet", "too short"]
    desk.choose("too quiet")
    desk.wait_for_chat("It is loud now.")
