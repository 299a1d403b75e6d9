"""Neovim without the plugin, with the lines of the README."""

import re
import time
from pathlib import Path

from plain_project import PlainProject
from plain_terminal import UNREAD, Terminal, until
from support.neovim_desk import readme_snippet

#: A person's own: where they are, in the last line but one.
OWN = """
vim.o.laststatus = 2
vim.o.statusline = "%t at %l"
vim.o.swapfile = false
"""
_PROMPT = "Type number and <Enter>"
_NONE = "No code actions available"
_ROW = re.compile(r"^(\d+): (.*)$", re.MULTILINE)


class Neovim(Terminal):
    def __init__(self, project: PlainProject, program: Path, file: str) -> None:
        init = project.write("nvim/init.lua", OWN + readme_snippet())
        command = [program, "-u", init, file]
        super().__init__(command, project.folder, project.environment)
        self.wait_for(f"{file} at 1")
        assert until(self._ready), self.screen

    def _ready(self) -> bool:
        """Once the server is there, it has been heard of what can be done, or of nothing."""
        self.type(":lua =#vim.lsp.get_clients({ name = 'lsp_agent', bufnr = 0 })")
        self.keys("Enter")
        screen = self.wait_for(lambda s: s.splitlines()[-1].strip() in ("0", "1"))
        return screen.splitlines()[-1].strip() == "1"

    def actions(self) -> dict[str, str]:
        """Opens the menu where the cursor is; the numbers in it by their titles, nothing where
        there is none."""
        self.keys("Escape", "C-l")  # which clears the message
        self.wait_for(lambda s: _NONE not in s)
        self.type("gra")
        screen = self.wait_for(lambda s: _PROMPT in s or _NONE in s)
        if _PROMPT not in screen:
            return {}
        return {title.strip(): number for number, title in _ROW.findall(screen)}

    def choose(self, title: str) -> None:
        """The first action whose title begins so; asks again until it is there."""
        found: dict[str, str] = {}

        def offered() -> bool:
            nonlocal found
            if found:
                self.keys("Enter")
                self.wait_for(lambda screen: _PROMPT not in screen)
            found = self.actions()
            return any(each.startswith(title) for each in found)

        assert until(offered), f"{title!r} is not among {[*found]}\n{self.screen}"
        time.sleep(UNREAD)
        self.type(next(number for each, number in found.items() if each.startswith(title)))
        self.keys("Enter")
        self.wait_for(lambda screen: _PROMPT not in screen)
