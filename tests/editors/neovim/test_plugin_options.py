"""Options that a person has got wrong: said in a line, and the rest goes on."""

from typing import Any

import pytest
from plugin_desk import PluginDesk
from support.neovim import wait_until

pytestmark = pytest.mark.neovim

INIT = """
local lines = vim.fn.readfile(...)
vim.fn.mkdir(vim.fn.stdpath('config'), 'p')
vim.fn.writefile(lines, vim.fn.stdpath('config') .. '/init.lua')
"""

WRONG = {
    'no option "chatt"': {"chatt": {"layout": "float"}},
    'no option "chat.layuot"': {"chat": {"layuot": "float"}},
    'chat.layout is right or bottom or float or tab, not "left"': {"chat": {"layout": "left"}},
    'ask is select or chat, not "never"': {"ask": "never"},
    "bell is a boolean, not 1": {"bell": 1},
    "cmd is a list of strings, not of 3": {"cmd": ["lsp-agent", 3]},
    "keymaps.next is a string, not 5": {"keymaps": {"next": 5}},
    'settings is a table, not "zot"': {"settings": "zot"},
}
PROBLEMS = "return require('lsp_agent.config').problems"


@pytest.mark.parametrize("problem", WRONG)
def test_an_option_that_is_wrong_is_named_and_has_its_default(
    desk: PluginDesk, problem: str
) -> None:
    options: dict[str, Any] = WRONG[problem] | {"root_markers": [".git"]}
    desk.setup(**options)
    assert desk.nvim.lua(PROBLEMS) == [problem]
    wait_until(lambda: "agent: setup(): " in desk.nvim.command_output("messages"))
    now, default = (
        desk.nvim.lua(f"local config = require('lsp_agent.config') return config.{each}")
        for each in ("options", "defaults")
    )
    assert now == default | {"root_markers": [".git"]}


def test_options_that_are_right_are_taken_without_a_word(desk: PluginDesk) -> None:
    desk.setup(keymaps=False, chat={"width": 0.3}, settings={"edits": {"save": "never"}})
    desk.setup(keymaps={"next": False, "prev": "<F2>"}, ask="chat")
    assert desk.nvim.lua(PROBLEMS) == []
    assert "agent:" not in desk.nvim.command_output("messages")


def test_a_start_with_wrong_options_says_where_and_the_plugin_works(desk: PluginDesk) -> None:
    lines = ["", "require('lsp_agent').setup({ bell = 1, asks = 'chat' })", "vim.g.after = 1"]
    desk.nvim.lua(INIT, str(desk.file("init.lua", "\n".join(lines) + "\n")))
    desk.come_back()
    assert desk.nvim.lua("return vim.g.after") == 1
    said = wait_until(lambda: desk.nvim.command_output("messages"))
    assert "agent: init.lua:2: bell" in said
    assert "stack" not in said
    desk.open("a.txt", "one\n")
    desk.wait_for_server()
    desk.nvim.dismisses = True  # the newest tells how far it is
    desk.nvim.command("checkhealth lsp_agent")
    shown = desk.nvim.lines()
    assert any('no option "asks"' in line for line in shown)
    assert any("bell is a boolean, not 1" in line for line in shown)
