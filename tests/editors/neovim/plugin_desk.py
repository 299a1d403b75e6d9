"""A Neovim with the plugin, the real server and an agent that follows a script."""

import stat
from pathlib import Path
from typing import Any

from support.neovim import Json, NeovimError, wait_until
from support.neovim_desk import Desk
from support.neovim_versions import Version
from support.warm_door import WarmDoor

#: Seconds: what should come comes within one, but a busy machine may take many.
PATIENCE = 60.0

PLUGIN = Path(__file__).parents[3] / "editors" / "neovim"

CHATS = """
local lines = {}
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if vim.api.nvim_buf_get_name(buffer):find('lsp%-agent://chat') then
    vim.list_extend(lines, vim.api.nvim_buf_get_lines(buffer, 0, -1, true))
  end
end
return lines
"""

# The lines that are marked as changes of the agent's, from 1: {first, last, whether proposed}.
MARKS = """
local space = vim.api.nvim_get_namespaces()['lsp_agent.review']
local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
return vim.tbl_map(function(mark)
  return { mark[2] + 1, mark[4].end_row + 1, mark[4].sign_hl_group == 'LspAgentProposal' }
end, marks)
"""

# A picker as plugins for it are: the person answers later, and may type meanwhile.
SELECT = """
_G.pickers = {}
vim.ui.select = function(items, options, choose)
  local titles = vim.tbl_map(options.format_item or tostring, items)
  table.insert(_G.pickers, { prompt = options.prompt, items = titles })
  _G.choose = function(number) choose(items[number], number) end
end
"""

WINDOW = """
for _, window in ipairs(vim.api.nvim_list_wins()) do
  if vim.w[window].lsp_agent == ... then return window end
end
"""

LOG = """
local log = require('vim.lsp.log')
local path = log.get_filename()
return vim.fn.filereadable(path) == 1 and table.concat(vim.fn.readfile(path), '\\n') or ''
"""


# What stands beside lines of the shown buffer, of a module of ours: {first, last, text}, from 1.
BESIDE = """
local space = vim.api.nvim_get_namespaces()['lsp_agent.' .. ...]
local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
return vim.tbl_map(function(mark)
  return { mark[2] + 1, mark[4].end_row + 1, mark[4].virt_text[1][1] }
end, marks)
"""
#: Whether the cursor is in a float.
FLOATS = "return vim.api.nvim_win_get_config(0).relative ~= ''"


class PluginDesk(Desk):
    """Starts as a person's Neovim does, with the plugin among its packages."""

    def __init__(
        self, version: Version, base: Path, env: dict[str, str], door: WarmDoor | None = None
    ) -> None:
        packages = Path(env["XDG_DATA_HOME"]) / "nvim" / "site" / "pack" / "a" / "start"
        packages.mkdir(parents=True)
        (packages / "lsp_agent").symlink_to(PLUGIN)
        super().__init__(
            Version(version.name, with_packages(version.program, base)), base, env, door
        )
        self.nvim.lua(SELECT)

    def come_back(self) -> None:
        """Another Neovim in the same home, once the person has quit."""
        self.nvim.close()
        self.nvim = self._open_editor()
        self.nvim.lua(SELECT)

    def start(self, *steps: Json, hosting: str = "auto", **options: Any) -> None:
        """As the line in a person's ``init.lua`` does; ``options`` are settings of the server."""
        self.setup(settings=self.settings(*steps, hosting=hosting, **options))
        self.wait_for_server()

    def setup(self, **options: Any) -> None:
        self.nvim.lua("require('lsp_agent').setup(...)", options)

    def agent(self, arguments: str) -> None:
        """The command ``:Agent``."""
        self.nvim.command(f"Agent {arguments}")

    def window(self, role: str) -> int | None:
        """Of the chat (``chat``, ``prompt``); None where there is none."""
        return self.nvim.lua(WINDOW, role)

    def chat(self) -> list[str]:
        """The lines of all conversations."""
        return self.nvim.lua(CHATS)

    def wait_for_chat(self, text: str, timeout: float = PATIENCE) -> None:
        wait_until(lambda: any(text in line for line in self.chat()), timeout)

    def wait_for_rest(self) -> None:
        """Until no turn runs: its last words come before its end."""
        state = "return (require('lsp_agent').status() or {}).state"
        wait_until(lambda: self.nvim.lua(state) == "idle", PATIENCE)

    def wait_for_lines(self, *lines: str, timeout: float = PATIENCE) -> None:
        """Of the shown buffer."""
        wait_until(lambda: self.nvim.lines() == list(lines), timeout)

    def marks(self) -> list[list[Any]]:
        return self.nvim.lua(MARKS)

    def wait_for_marks(self, *marks: list[Any], timeout: float = PATIENCE) -> None:
        wait_until(lambda: self.marks() == list(marks), timeout)

    def beside(self, module: str) -> list[list[Any]]:
        """What that module shows beside lines of the shown buffer."""
        return self.nvim.lua(BESIDE, module)

    def write(self, keys: str, text: str) -> None:
        """Presses the keys, and writes in the window that they open."""
        self.nvim.keys(keys)
        wait_until(lambda: self.nvim.lua(FLOATS) and self.nvim.mode() == "i")
        self.nvim.keys(text)

    def picker(self) -> Json:
        """What the person is asked last."""
        return wait_until(lambda: self.nvim.lua("return _G.pickers[#_G.pickers]"), PATIENCE)

    def choose(self, title: str | None) -> None:
        """The first item whose title begins like this; None dismisses the picker."""
        items = self.picker()["items"]
        number = next((n for n, item in enumerate(items, 1) if title and item.startswith(title)), 0)
        self.nvim.lua("_G.pickers = {} _G.choose(...)", number)

    def modified(self) -> bool:
        return self.nvim.lua("return vim.bo.modified")

    def report(self) -> str:
        """What there is to see, and what was written down."""
        parts: list[str] = []
        try:
            parts += [*self.nvim.lines(), "--", *self.chat(), f"marks: {self.marks()}"]
            parts += [self.nvim.command_output("messages"), self.nvim.lua(LOG)]
        except (NeovimError, OSError) as error:
            parts.append(str(error))
        return "\n".join([*parts, super().report()])


def with_packages(program: Path, base: Path) -> Path:
    """The same Neovim, but not started as one without packages."""
    script = base / "nvim"
    script.write_text(f'#!/bin/sh\nexec "{program}" --embed -n\n', encoding="utf-8")
    script.chmod(stat.S_IRWXU)
    return script
