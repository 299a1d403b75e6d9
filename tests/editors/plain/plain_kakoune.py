"""Kakoune with kakoune-lsp, set up as docs/editors/kakoune.md says."""

import contextlib
import os
import re
import signal
import subprocess
import time

from plain_project import PlainProject, block
from plain_terminal import FETCHED, UNREAD, Terminal, command_of, processes, until


class Kakoune(Terminal):
    def __init__(self, project: PlainProject, file: str = "notes.txt", more: str = "") -> None:
        """``more``: of the person's own in their kakrc."""
        seen = 'set-option global modelinefmt "%opt{lsp_modeline} %opt{modelinefmt}"\n'
        project.write("kak/kakrc", block("kakoune.md", "kak") + seen + more)
        environment = project.environment
        client = str(FETCHED / "kakoune-lsp" / "bin")
        environment["PATH"] = os.pathsep.join([client, environment["PATH"]])
        program = FETCHED / "kakoune" / "bin" / "kak"
        super().__init__([program, file], project.folder, environment)
        self.wait_for("1 sel")
        self.type("7g a" if file == "notes.txt" else " a")  # what is asked early is answered later
        self.wait_for(lambda screen: "prompt" in screen or "no actions available" in screen)
        self.leave_prompt()

    def close(self) -> None:
        """kakoune-lsp outlives its Kakoune now and then: it is ended, and ours go with it."""
        with contextlib.suppress(subprocess.CalledProcessError):  # it has ended by itself
            self._tmux("kill-server")
        until(lambda: not processes(self._folder.name), 5)
        for pid in processes(self._folder.name):
            if command_of(pid).startswith("kak-lsp "):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
        super().close()

    def type_line(self, text: str) -> None:
        """Above the first line, without saving."""
        self.type("ggO")
        self.wait_for("insert")
        self.type(text)
        self.leave()

    def leave(self) -> None:
        """Insert mode."""
        self.keys("Escape")
        self.wait_for(lambda screen: "insert" not in screen)

    def leave_prompt(self) -> None:
        self.keys("Escape")
        self.wait_for(lambda screen: "prompt" not in screen)

    def wait_at_rest(self, line: int, shown: str) -> None:
        """Until ``shown`` is on the screen, with the cursor in a line (from 1). What a refresh
        asks for anew is asked for at the rest after the next key."""
        assert until(lambda: self._shows_at_rest(line, shown)), f"{shown!r} is not there"

    def _shows_at_rest(self, line: int, shown: str) -> bool:
        self.type(f"{line}g")
        return until(lambda: shown in self.screen, 2)

    def run(self, command: str) -> None:
        self.type(f":{command}")
        self.keys("Enter")

    def choose(self, line: int | None, title: str) -> None:
        """The first code action whose title begins so, with the cursor in a line (from 1) or where
        it is; asks again until it is there."""
        assert until(lambda: self._chooses(line, title)), f"{title!r} is not there\n{self.screen}"

    def _chooses(self, line: int | None, title: str) -> bool:
        self.type(" a" if line is None else f"{line}g a")
        if not until(lambda: "prompt" in self.screen, 20):
            return False  # nothing is offered there yet; sooner, a slow menu would open twice
        if not until(lambda: f"\n{title}" in self.screen, 2):
            self.leave_prompt()
            return False
        time.sleep(UNREAD)
        self.type(title)
        time.sleep(UNREAD)  # the menu is made anew
        self.keys("Enter")
        self.wait_for(lambda screen: "prompt" not in screen)
        return "no such item" not in self.screen

    def take_lens(self, line: int, title: str) -> None:
        """The code lens of a line (from 1) with this title, where lenses are drawn; looks again
        until it is there."""
        assert until(lambda: self._takes_lens(line, title)), f"{title!r} is not there"

    def _takes_lens(self, line: int, title: str) -> bool:
        self.type(f"{line}g")
        if not until(lambda: "[🔎 " in self.screen, 2):  # asked for at rest
            return False
        self.run("lsp-code-lens")
        self.wait_for("prompt")
        if not until(lambda: re.search(rf"(^| +){title} ", self.screen.splitlines()[-2]), 2):
            self.leave_prompt()
            return False
        self.type(title)
        time.sleep(UNREAD)  # the menu is made anew
        self.keys("Enter")
        self.wait_for(lambda screen: "prompt" not in screen)
        return True
