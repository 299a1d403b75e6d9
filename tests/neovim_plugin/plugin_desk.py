"""A Neovim with the plugin, the real server and an agent that follows a script."""

import json
import os
import stat
from pathlib import Path
from typing import Any

from neovim import Json, wait_until
from neovim_desk import LSP_AGENT, SHOW, Desk
from neovim_versions import Version

PLUGIN = Path(__file__).parents[2] / "editors" / "neovim"

SHOWN = """
local lines, tick = {}, nil
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if vim.api.nvim_buf_get_name(buffer):find('lsp%-agent://chat') then
    vim.list_extend(lines, vim.api.nvim_buf_get_lines(buffer, 0, -1, true))
  end
end
return lines
"""

FAULTS = """
local path = vim.lsp.log and vim.lsp.log.get_filename and vim.lsp.log.get_filename()
  or vim.lsp.get_log_path()
return { vim.fn.execute('messages'), vim.fn.filereadable(path) == 1
  and table.concat(vim.fn.readfile(path), '\\n') or '' }
"""


class PluginDesk(Desk):
    """Starts as a person's Neovim does, with the plugin among its packages."""

    def __init__(self, version: Version, base: Path, env: dict[str, str]) -> None:
        packages = Path(env["XDG_DATA_HOME"]) / "nvim" / "site" / "pack" / "a" / "start"
        packages.mkdir(parents=True)
        (packages / "lsp_agent").symlink_to(PLUGIN)
        super().__init__(Version(version.name, _unclean(version.program, base)), base, env)

    def start(self, *steps: Json, hosting: str = "auto", **options: Any) -> None:
        """As the one line in a person's ``init.lua``; ``options`` are the server's settings."""
        self.nvim.lua(
            "require('lsp_agent').setup({ settings = ... })",
            self.settings(*steps, hosting=hosting, **options),
        )
        self.wait_for_server()

    def settings(self, *steps: Json, hosting: str = "auto", **options: Any) -> Json:
        script = self._base / "script.json"
        script.write_text(json.dumps({"steps": [*steps, SHOW]}), encoding="utf-8")
        agent = {
            "wire": "zot",
            "command": [*LSP_AGENT, "rpc", "--script", str(script)],
            "provider": "script",
            "hosting": hosting,
        }
        return {"agent": "scripted", "agents": {"scripted": agent}} | options

    def agent(self, arguments: str) -> None:
        """The command ``:Agent``."""
        self.nvim.command(f"Agent {arguments}")

    def chat(self) -> list[str]:
        """The lines of all conversations."""
        return self.nvim.lua(SHOWN)

    def wait_for_chat(self, text: str, timeout: float = 20) -> None:
        wait_until(lambda: any(text in line for line in self.chat()), timeout)

    def report(self) -> str:
        """What went wrong, as far as it was written down."""
        parts = [self.nvim.screen()]
        try:
            parts += self.nvim.lua(FAULTS)
        except Exception as error:  # noqa: BLE001
            parts.append(repr(error))
        if self.log.exists():
            parts.append(self.log.read_text())
        return "\n".join(parts)


def _unclean(program: Path, base: Path) -> Path:
    """The same Neovim, but with its user's configuration."""
    script = base / "nvim"
    script.write_text(f'#!/bin/sh\nexec "{program}" --embed -n\n', encoding="utf-8")
    script.chmod(os.stat(script).st_mode | stat.S_IXUSR)
    return script
