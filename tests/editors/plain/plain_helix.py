"""Helix, set up as docs/editors/helix.md says where the person has not, with their own keys."""

import time

from plain_project import PlainProject, block
from plain_terminal import FETCHED, UNREAD, Terminal, until

#: How the titles of our code actions begin, to tell a menu's rows from the text under it.
TITLES = (
    "Agent asks",
    "Ask the",
    "Apply ",
    "Reject ",
    "Preview ",
    "Keep ",
    "Undo ",
    "Next change",
    "Show the",
    "Stop the",
    "Send to",
    "Fork here",
    "New conversation",
)


class Helix(Terminal):
    def __init__(
        self, project: PlainProject, shows: str = "agent: nap", file: str = "notes.txt"
    ) -> None:
        if not (project.config / "helix").exists():
            project.write("helix/languages.toml", block("helix.md", "toml", 0))
            project.write("helix/config.toml", block("helix.md", "toml", 1))
        program = FETCHED / "helix" / "bin" / "hx"
        super().__init__([program, file], project.folder, project.environment)
        self.wait_for(shows)
        assert until(self._ready), self.screen

    def _ready(self) -> bool:
        self.type(" a")
        screen = self.wait_for(_answered)
        self.keys("Escape")  # clears the message
        self.wait_for(lambda s: not _answered(s))
        return "No code actions" in screen or bool(menu(screen))

    def type_line(self, text: str) -> None:
        """Above the first line, without saving."""
        self.keys("g", "g", "O")
        self.wait_for("INS")
        self.type(text)
        self.keys("Escape")
        self.wait_for("NOR")

    def actions(self, line: int | None) -> list[str]:
        """Opens the menu with the cursor in a line (from 1), or where it is; the titles in it, in
        order."""
        # Clears the message, too.
        self.type("gh" if line is None else f"{line}ggglgh")
        place = "" if line is None else f" {line}:1"
        self.wait_for(lambda s: place in s and "No " not in s.splitlines()[-1])
        self.type(" a")
        return menu(self.wait_for(_answered))

    def choose(self, line: int | None, title: str) -> None:
        """The first action whose title begins so; asks again until it is there."""
        found: list[str] = []

        def offered() -> bool:
            nonlocal found
            if found:
                self.keys("Escape")
                self.wait_for(lambda screen: not menu(screen))
            found = self.actions(line)
            return any(each.startswith(title) for each in found)

        assert until(offered), f"{title!r} is not among {found}"
        index = next(i for i, each in enumerate(found) if each.startswith(title))
        time.sleep(UNREAD)
        self.keys(*["Down"] * index, "Enter")
        self.wait_for(lambda screen: not menu(screen))

    def write(self) -> None:
        self.type(":w")
        self.keys("Enter")


def _answered(screen: str) -> bool:
    """Whether it shows the menu of code actions, or that there are none."""
    return bool(menu(screen)) or "No " in screen.splitlines()[-1]


def menu(screen: str) -> list[str]:
    rows = [
        row[row.find(title) :].strip()
        for row in screen.splitlines()
        for title in TITLES
        if title in row
    ]
    return [row for row in rows if row.startswith(TITLES)]
