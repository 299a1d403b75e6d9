"""An extension of the agent with three slash commands."""

import json
from pathlib import Path

from plugin_desk import PluginDesk

PROGRAM = """
from lsp_agent.ext import Display, Extension, Insert, Prompt
extension = Extension("helper", "1")
extension.command("greet", "greets")(lambda args: Prompt("Greet me."))
extension.command("list", "shows a list")(lambda args: Display("- first\\n- second"))
extension.command("put", "inserts")(lambda args: Insert(f"<{args}>"))
extension.run()
"""


def extend(desk: PluginDesk) -> None:
    """With the extension above."""
    data = Path(desk.nvim.lua("return vim.env.XDG_DATA_HOME"))
    folder = data / "lsp-agent" / "extensions" / "helper"
    folder.mkdir(parents=True)
    (folder / "main.py").write_text(PROGRAM)
    manifest = {"name": "helper", "exec": "lsp-agent", "args": ["ext", "run", "main.py"]}
    (folder / "extension.json").write_text(json.dumps(manifest))
