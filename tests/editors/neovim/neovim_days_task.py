"""A person at a Neovim with the plugin, who has nothing but the keyboard: each press is a step."""

import re

from plugin_desk import FLOATS, PATIENCE, PluginDesk
from support.days_task import Day, Json
from support.living import alive
from support.neovim import wait_until

#: The picker of Neovim's own.
OWN_SELECT = "package.loaded['vim.ui'] = nil vim.ui.select = require('vim.ui').select"
SHOWN = "return vim.fn.expand('%:t')"
ROW = "return vim.fn.line('.')"


class Person:
    def __init__(self, desk: PluginDesk, day: Day, settings: Json) -> None:
        self.desk = desk
        self._day = day
        self._settings = settings
        self._arrive()

    def _arrive(self) -> None:
        """As a person's ``init.lua`` has it, at a screen of a usual size."""
        self.desk.nvim.resize(100, 30)
        self.desk.nvim.lua(OWN_SELECT)
        self.desk.setup(settings=self._settings)

    def press(self, keys: str) -> None:
        self._day.step()
        self.desk.nvim.keys(keys)

    def command(self, command: str) -> None:
        self.press(f":{command}<CR>")

    def write(self, keys: str, text: str) -> None:
        """Two steps: the key, and the words in the window that it opens."""
        self.press(keys)
        wait_until(lambda: self.desk.nvim.lua(FLOATS) and self.desk.nvim.mode() == "i", PATIENCE)
        self.press(f"{text}<CR>")

    def pick(self, title: str) -> None:
        """From the list that comes up, whose number is read and typed."""
        row = re.compile(rf"^\s*(\d+): {re.escape(title)}", re.MULTILINE)
        found = wait_until(lambda: row.search(self.desk.nvim.screen()), PATIENCE)
        self.desk.nvim.rest()
        self.press(f"{found[1]}<CR>")

    def answer(self, call: str, title: str) -> None:
        """The question that stands in the corner of the screen."""
        shown = (call, "<leader>aq")
        wait_until(lambda: all(text in self.desk.nvim.screen() for text in shown), PATIENCE)
        self.press(r"\aq")
        self.pick(title)

    def quit_and_come_back(self) -> None:
        """Nothing that was started is left meanwhile."""
        started = self.desk.nvim.started()
        self.command("qa")
        wait_until(lambda: self.desk.nvim.has_quit, PATIENCE)
        wait_until(lambda: not any(map(alive, started)), PATIENCE)
        self._day.step()
        self.desk.come_back()
        self._arrive()

    def wait_for_place(self, name: str, row: int | None = None) -> None:
        wait_until(lambda: self.desk.nvim.lua(SHOWN) == name, PATIENCE)
        if row is not None:
            wait_until(lambda: self.desk.nvim.lua(ROW) == row, PATIENCE)

    def wait_for_disk(self, texts: dict[str, str]) -> None:
        """Of these files, and of the buffers that are open on them."""
        folder = self.desk.folder
        wait_until(lambda: all((folder / n).read_text() == t for n, t in texts.items()), PATIENCE)
        for name, text in texts.items():
            wait_until(lambda n=name, t=text: self._buffer(n) in (None, t), PATIENCE)

    def _buffer(self, name: str) -> str | None:
        loaded = "local n = vim.fn.bufnr(...) return n > 0 and vim.api.nvim_buf_is_loaded(n) and n"
        number = self.desk.nvim.lua(loaded, name)
        return self.desk.nvim.text(number) if number else None
