"""Slash commands of the agent's extensions, by ``:Agent run``."""

import json
from pathlib import Path

import pytest
from neovim import wait_until
from plugin_desk import PluginDesk

pytestmark = pytest.mark.neovim

PROGRAM = """
from lsp_agent.ext import Extension, Insert, Prompt
extension = Extension("helper", "1")
extension.command("greet", "greets")(lambda args: Prompt("Greet me."))
extension.command("put", "inserts")(lambda args: Insert(f"<{args}>"))
extension.run()
"""


def test_a_slash_command_is_completed_picked_and_run(desk: PluginDesk) -> None:
    data = Path(desk.nvim.lua("return vim.env.XDG_DATA_HOME"))
    folder = data / "lsp-agent" / "extensions" / "helper"
    folder.mkdir(parents=True)
    (folder / "main.py").write_text(PROGRAM)
    manifest = {"name": "helper", "exec": "lsp-agent", "args": ["ext", "run", "main.py"]}
    (folder / "extension.json").write_text(json.dumps(manifest))
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."})
    complete = "return vim.fn.getcompletion('Agent run ', 'cmdline')"
    # It gives up after a second: the agent may still be starting.
    wait_until(lambda: desk.nvim.lua(complete) == ["greet", "put"], 60)
    desk.agent("run put x y")
    desk.wait_for_lines("o<x y>ne")
    desk.agent("run")
    assert desk.picker()["items"] == ["/greet · greets", "/put · inserts"]
    desk.choose("/greet")
    desk.wait_for_chat("I see.")
