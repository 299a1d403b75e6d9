"""Two projects with a server each: a command reaches that of the place where it is given."""

from pathlib import Path

import pytest
from plugin_desk import PluginDesk
from support.neovim import wait_until
from support.neovim_desk import done

pytestmark = pytest.mark.neovim

CONVERSATION = """
local session = require('lsp_agent.sessions').project(...).current
return vim.api.nvim_buf_get_lines(session.transcript:buffer(), 0, -1, true)
"""
CLIENT = """
for _, client in ipairs(require('lsp_agent.client').all()) do
  if client.config.root_dir == ... then return client.id end
end
"""


def other_project(desk: PluginDesk) -> Path:
    """With a file; no server runs there yet."""
    folder = desk.folder.parent / "farm"
    (folder / ".git").mkdir(parents=True)
    (folder / "b.txt").write_text("one\n")
    return folder


@pytest.fixture
def farm(desk: PluginDesk) -> Path:
    """The folder of the other project. The server of the first one runs."""
    desk.open("a.txt", "one\n")
    desk.start({"match": "Hello", "text": "Answer A."}, done())
    return other_project(desk)


def go_to(desk: PluginDesk, folder: Path) -> None:
    desk.nvim.command(f"silent edit {folder / 'b.txt'}")


def test_a_prompt_from_a_file_whose_server_starts_waits_for_that(
    desk: PluginDesk, farm: Path
) -> None:
    go_to(desk, farm)
    desk.agent("ask Hello.")
    wait_until(lambda: "Answer A." in desk.nvim.lua(CONVERSATION, str(farm)))
    assert "Hello." not in desk.nvim.lua(CONVERSATION, str(desk.folder))


def test_a_command_from_a_file_whose_server_starts_waits_for_that(
    desk: PluginDesk, farm: Path
) -> None:
    desk.nvim.dismisses = True  # the state has several lines
    go_to(desk, farm)
    desk.agent("status")
    wait_until(lambda: "folder " in (text := desk.nvim.command_output("messages")) and text)
    assert f"folder    {farm}\n" in desk.nvim.command_output("messages")


def test_a_restart_from_a_file_or_the_chat_is_that_of_its_project(
    desk: PluginDesk, farm: Path
) -> None:
    first = desk.nvim.lua(CLIENT, str(desk.folder))
    go_to(desk, farm)
    desk.agent("restart")
    second = wait_until(lambda: desk.nvim.lua(CLIENT, str(farm)))
    desk.agent("chat")
    desk.agent("restart")
    wait_until(lambda: desk.nvim.lua(CLIENT, str(farm)) not in (None, second))
    assert desk.nvim.lua(CLIENT, str(desk.folder)) == first
