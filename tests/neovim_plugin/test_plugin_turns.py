"""A turn as a person with the plugin sees and steers it."""

import pytest
from neovim import wait_until
from neovim_desk import done, edit, step
from plugin_desk import PluginDesk

pytestmark = pytest.mark.neovim


def test_a_prompt_streams_into_the_chat_and_its_edit_lands(desk: PluginDesk) -> None:
    path = desk.open("a.txt", "one\ntwo\n")
    desk.start(step(edit("a.txt", "two", "TWO"), text="I change it."), done())
    desk.agent("ask Make it loud.")
    wait_until(lambda: desk.nvim.lines() == ["one", "TWO"])
    desk.wait_for_chat("Done.")
    shown = desk.chat()
    assert "Make it loud." in shown
    assert "I change it." in shown
    assert path.read_text() == "one\nTWO\n"  # it was clean, so it is saved
    assert not desk.nvim.lua("return vim.bo.modified")
