"""Slash commands of the agent's extensions, by ``:Agent run``; what is loaded before any."""

import pytest
from plugin_desk import PluginDesk
from plugin_extension import extend
from support.neovim import wait_until

pytestmark = pytest.mark.neovim

#: The embedded agent's own.
RELOAD = "reload-ext"
COMPLETE = "return vim.fn.getcompletion('Agent run ', 'cmdline')"

# Who completes waits as long as it takes, and says whether what they waited for came.
PATIENT = """
local wait = vim.wait
vim.wait = function(_, done, interval) _G.came = wait(20000, done, interval) end
"""


LOADED = """
local names = {}
for name in pairs(package.loaded) do
  table.insert(names, name:match('^lsp_agent%.(.*)$') or name:match('^vim%.lsp$'))
end
table.sort(names)
return names
"""


def test_what_is_loaded_as_neovim_starts(desk: PluginDesk) -> None:
    at_start = ["client", "config", "elsewhere", "highlights", "stand_in", "tell", "tints"]
    assert set(desk.nvim.lua(LOADED)) <= {*at_start, "vim.lsp"}  # which 0.10 loads itself
    desk.setup()
    assert [name for name in desk.nvim.lua(LOADED) if name != "vim.lsp"] == at_start


def test_a_slash_command_is_completed_picked_and_run(desk: PluginDesk) -> None:
    extend(desk)
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."})
    # It gives up after a second: the agent may still be starting.
    wait_until(lambda: desk.nvim.lua(COMPLETE) == ["greet", "list", "put", RELOAD], 60)
    desk.agent("run put x y")
    desk.wait_for_lines("o<x y>ne")
    desk.agent("run")
    titles = ["/greet · greets", "/list · shows a list", "/put · inserts"]
    picked = desk.picker()["items"]
    assert picked[:-1] == titles
    assert picked[-1].startswith(f"/{RELOAD} · ")
    desk.choose("/greet")
    desk.wait_for_chat("I see.")


def test_all_of_what_a_command_displays_stands_in_the_chat(desk: PluginDesk) -> None:
    extend(desk)
    desk.open("a.txt", "one\n")
    desk.start()
    desk.agent("run list")
    desk.wait_for_chat("- second")
    assert desk.chat().index("- second") == desk.chat().index("- first") + 1


def test_a_completion_does_not_wait_for_an_agent_that_fails(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    absent = {"wire": "pi", "command": ["no-such-program"]}
    desk.setup(settings={"agent": "absent", "agents": {"absent": absent}})
    desk.wait_for_server()
    desk.nvim.lua(PATIENT)
    assert desk.nvim.lua(COMPLETE) == []
    assert desk.nvim.lua("return _G.came") is True
