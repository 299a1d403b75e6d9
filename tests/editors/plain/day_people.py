"""Who does the day's task, in each editor by that editor's own keys."""

import contextlib
import re
import subprocess
from pathlib import Path

from days_task import Person, place_in
from plain_emacs import Emacs
from plain_helix import Helix
from plain_kakoune import Kakoune
from plain_neovim import Neovim
from plain_project import PlainProject
from plain_terminal import until

_HELIX_PLACE = re.compile(
    r"^ (?:NOR|INS|SEL) .*?(?P<file>[\w-]+(?:\.chat)?\.\w+)\s.*\s(?P<line>\d+):\d+\s*$", re.M
)
_KAKOUNE_PLACE = re.compile(r"(?P<file>\S+) (?P<line>\d+):\d+ .*\bclient\d+@", re.M)
_KAKOUNE_NEXT = re.compile(r"The agent's next change: (?P<file>\S+), line (?P<line>\d+)")
_EMACS_PLACE = re.compile(r"F1 +(?P<file>\S+) .* L(?P<line>\d+) ")
_NEOVIM_PLACE = re.compile(r"^(?P<file>\S+) at (?P<line>\d+)$", re.M)


class InHelix(Person):
    name = "Helix"

    def __init__(self, project: PlainProject) -> None:
        super().__init__(project)
        self._editor: Helix | None = None

    @property
    def editor(self) -> Helix:
        assert self._editor is not None
        return self._editor

    def begin(self, file: str) -> None:
        self.steps += 1
        if self._editor is not None:
            self._editor.close()
        self._editor = Helix(self.project, file, file)

    def leave(self) -> None:
        """Helix takes its own write of a moment ago for another's until it has noted it."""
        self._command("wqa")
        if not until(lambda: not self.editor.runs, 3):
            with contextlib.suppress(subprocess.CalledProcessError):  # it has ended by now
                if "file modified by an external process" in self.editor.screen:
                    self._command("wqa")
        self.editor.wait_for_end()

    def open(self, file: str) -> None:
        self._command(f"open {file}")
        self.sees(lambda _: (self.place() or ("",))[0] == file)

    def note(self, line: str) -> None:
        self.steps += 1
        self.editor.type_line(line)

    def write(self, words: str) -> None:
        self.steps += 1
        self.editor.type("geo")
        self.sees("INS")
        self.editor.type(words)
        self.editor.keys("Escape")
        self.sees("NOR")

    def send(self) -> None:
        self.steps += 1
        self.editor.type(" l")
        self.editor.keys("Enter")

    def choose(self, title: str) -> None:
        self.steps += 1
        self.editor.choose(None, title)

    def next_change(self) -> None:
        self.steps += 1
        self.editor.type(" ln")

    def to_the_end(self) -> None:
        self.editor.type("ge")

    def look_for(self, words: str) -> None:
        self.steps += 1
        self.editor.type(f"gg/{words}")
        self.editor.keys("Enter")

    def save(self) -> None:
        self._command("wa")

    def place(self) -> tuple[str, int] | None:
        return place_in(self.editor.screen, _HELIX_PLACE)

    def _command(self, command: str) -> None:
        self.steps += 1
        self.editor.type(f":{command}")
        self.editor.keys("Enter")


class InKakoune(Person):
    """Where edits of what is open are proposals, and the server opens no document."""

    name = "Kakoune"
    allow = "Allow, applying proposals first"

    def __init__(self, project: PlainProject) -> None:
        super().__init__(project)
        self._editor: Kakoune | None = None

    @property
    def editor(self) -> Kakoune:
        assert self._editor is not None
        return self._editor

    def begin(self, file: str) -> None:
        self.steps += 1
        if self._editor is not None:
            self._editor.close()
        self._editor = Kakoune(self.project, file)

    def leave(self) -> None:
        self._command("write-all-quit")
        self.editor.wait_for_end()

    def open(self, file: str) -> None:
        self._command(f"edit {file}")
        self.sees(lambda _: (self.place() or ("",))[0] == file)
        if not (self.project.folder / file).exists():
            self._command("write")

    def note(self, line: str) -> None:
        self.steps += 1
        self.editor.type_line(line)

    def write(self, words: str) -> None:
        self.steps += 1
        self.editor.type("geo")
        self.sees("insert")
        self.editor.type(words)
        self.editor.leave()

    def send(self) -> None:
        self.choose("Send to the agent")

    def choose(self, title: str) -> None:
        self.steps += 1
        self.editor.choose(None, title)

    def is_led_to(self, file: str) -> None:
        super().is_led_to(file)  # by a message
        self.open(file)

    def next_change(self) -> None:
        self.steps += 1
        self.editor.type(" n")
        told = _KAKOUNE_NEXT.search(self.sees(_KAKOUNE_NEXT.search))
        assert told is not None
        self._command(f"edit {told['file']} {told['line']}")

    def to_the_end(self) -> None:
        self.editor.type("ge")

    def look_for(self, words: str) -> None:
        self.steps += 1
        self.editor.type(f"gg/{words}")
        self.editor.keys("Enter")

    def save(self) -> None:
        self._command("write-all")

    def place(self) -> tuple[str, int] | None:
        return place_in(self.editor.screen, _KAKOUNE_PLACE)

    def _command(self, command: str) -> None:
        self.steps += 1
        self.editor.run(command)


class InEmacs(Person):
    """With lsp-agent.el, which can save files for the agent."""

    name = "Emacs"
    allow = "Allow as it is on disk"

    def __init__(self, project: PlainProject) -> None:
        super().__init__(project)
        self._editor: Emacs | None = None

    @property
    def editor(self) -> Emacs:
        assert self._editor is not None
        return self._editor

    def begin(self, file: str) -> None:
        self.steps += 2  # it, and M-x eglot
        if self._editor is not None:
            self._editor.close()
        self._editor = Emacs(self.project, file, file)

    def leave(self) -> None:
        self._keys("C-x", "C-c")
        self.editor.wait_for_end()

    def open(self, file: str) -> None:
        self._keys("C-x", "C-f")
        self.sees("Find file: ")
        self.editor.type(file)
        self.editor.keys("Enter")
        self.sees(lambda _: (self.place() or ("",))[0] == file)

    def note(self, line: str) -> None:
        self._keys("M-<")
        self.editor.type(f"{line}\n")

    def write(self, words: str) -> None:
        self._keys("M->")
        self.editor.type(words)

    def send(self) -> None:
        self._keys("C-c", "a", "Enter")

    def choose(self, title: str) -> None:
        self.steps += 1
        self.editor.choose(None, title)

    def next_change(self) -> None:
        self._keys("C-c", "a", "n")

    def to_the_end(self) -> None:
        self.editor.keys("M->")

    def look_for(self, words: str) -> None:
        self._keys("M-<", "C-s")
        self.editor.type(words)
        self.editor.keys("Enter")

    def save(self) -> None:
        self._keys("C-u", "C-x", "s")  # all, without a question for each

    def place(self) -> tuple[str, int] | None:
        return place_in(self.editor.below_cursor, _EMACS_PLACE)  # of several windows

    def _keys(self, *keys: str) -> None:
        self.steps += 1
        self.editor.keys(*keys)


class InNeovim(Person):
    """By code actions alone, as the server has no command of its own there."""

    name = "Neovim"

    def __init__(self, project: PlainProject, program: Path) -> None:
        super().__init__(project)
        self._program = program
        self._editor: Neovim | None = None

    @property
    def editor(self) -> Neovim:
        assert self._editor is not None
        return self._editor

    def begin(self, file: str) -> None:
        self.steps += 1
        if self._editor is not None:
            self._editor.close()
        self._editor = Neovim(self.project, self._program, file)

    def leave(self) -> None:
        self._command("wqa")
        self.editor.wait_for_end()

    def open(self, file: str) -> None:
        self._command(f"edit {file}")
        self.sees(lambda _: (self.place() or ("",))[0] == file)

    def note(self, line: str) -> None:
        self._type(f"ggO{line}")

    def write(self, words: str) -> None:
        self._type(f"Go{words}")

    def send(self) -> None:
        self.choose("Send to the agent: ")

    def choose(self, title: str) -> None:
        self.steps += 1
        self.editor.choose(title)

    def next_change(self) -> None:
        self.choose("Next change of the agent's")

    def to_the_end(self) -> None:
        self.editor.type("G")

    def look_for(self, words: str) -> None:
        self._command(f"1/{words}")

    def save(self) -> None:
        self._command("wa")

    def place(self) -> tuple[str, int] | None:
        return place_in(self.editor.screen, _NEOVIM_PLACE)

    def _type(self, keys: str) -> None:
        self.steps += 1
        self.editor.type(keys)
        self.editor.keys("Escape")

    def _command(self, command: str) -> None:
        self.steps += 1
        self.editor.type(f":{command}")
        self.editor.keys("Enter")
