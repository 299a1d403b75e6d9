"""What a person is told who looks elsewhere while the agent works."""

from typing import Any

import pytest
from plugin_desk import PATIENCE, PluginDesk
from support.neovim import wait_until
from support.neovim_desk import bash, done, step

pytestmark = pytest.mark.neovim

#: Counts the bells, and has the `User` events.
LISTENS = """
_G.bells, _G.told = 0, {}
local send = vim.api.nvim_chan_send
vim.api.nvim_chan_send = function(channel, data)
  if channel ~= vim.v.stderr then return send(channel, data) end
  _G.bells = _G.bells + (data == '\\a' and 1 or 0)
end
vim.api.nvim_create_autocmd('User', { pattern = 'LspAgent*', callback = function(args)
  table.insert(_G.told, { args.match, args.data })
end })
"""


def bells(desk: PluginDesk) -> int:
    return desk.nvim.lua("return _G.bells")


def told(desk: PluginDesk) -> list[tuple[str, dict[str, Any]]]:
    return [(name, data) for name, data in desk.nvim.lua("return _G.told")]


def leave(desk: PluginDesk) -> None:
    desk.nvim.command("doautocmd FocusLost")


def test_the_bell_rings_at_a_question_and_at_the_end_of_a_turn(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(step(bash("touch x")), done())
    desk.nvim.lua(LISTENS)
    desk.agent("ask Run it.")
    leave(desk)
    wait_until(lambda: bells(desk) == 1, PATIENCE)
    assert [name for name, _ in told(desk)] == ["LspAgentAsked"]
    assert "touch x" in told(desk)[0][1]["question"]
    desk.nvim.rest()
    desk.agent("answer 2")
    wait_until(lambda: bells(desk) == 2, PATIENCE)
    name, data = told(desk)[-1]
    assert (name, data["stop_reason"]) == ("LspAgentTurnEnded", "endTurn")
    assert (data["title"], data.get("error")) == ("Run it.", None)


def test_who_is_there_hears_nothing(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(done(), done())
    desk.nvim.lua(LISTENS)
    leave(desk)
    desk.nvim.command("doautocmd FocusGained")
    desk.agent("ask One.")
    wait_until(lambda: len(told(desk)) == 1, PATIENCE)
    assert bells(desk) == 0


def test_the_bell_can_be_turned_off(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.setup(settings=desk.settings(done()), bell=False)
    desk.wait_for_server()
    desk.nvim.lua(LISTENS)
    leave(desk)
    desk.agent("ask One.")
    wait_until(lambda: len(told(desk)) == 1, PATIENCE)
    assert bells(desk) == 0
