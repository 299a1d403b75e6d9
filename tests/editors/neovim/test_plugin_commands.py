"""Slash commands of the agent's extensions, by ``:Agent run``."""

import json
from pathlib import Path

import pytest
from plugin_desk import PluginDesk
from support.neovim import wait_until

pytestmark = pytest.mark.neovim

#: The embedded agent's own.
RELOAD = "reload-ext"
COMPLETE = "return vim.fn.getcompletion('Agent run ', 'cmdline')"

PROGRAM = """
from lsp_agent.ext import Display, Extension, Insert, Prompt
extension = Extension("helper", "1")
extension.command("greet", "greets")(lambda args: Prompt("Greet me."))
extension.command("list", "shows a list")(lambda args: Display("- first\\n- second"))
extension.command("put", "inserts")(lambda args: Insert(f"<{args}>"))
extension.run()
"""


# Who completes waits as long as it takes, and says whether what they waited for came.
PATIENT = """
local wait = vim.wait
vim.wait = function(_, done, interval) _G.came = wait(20000, done, interval) end
"""


def extend(desk: PluginDesk) -> None:
    """With the extension above."""
    data = Path(desk.nvim.lua("return vim.env.XDG_DATA_HOME"))
    folder = data / "lsp-agent" / "extensions" / "helper"
    folder.mkdir(parents=True)
    (folder / "main.py").write_text(PROGRAM)
    manifest = {"name": "helper", "exec": "lsp-agent", "args": ["ext", "run", "main.py"]}
    (folder / "extension.json").write_text(json.dumps(manifest))


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
