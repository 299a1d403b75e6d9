"""A person's folders, a small project, and an agent that follows a script."""

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]

#: Each ``agent:`` line of NOTES starts one of the script's turns.
NOTES = """alpha
beta
gamma
agent: shout about beta
agent: run the command
agent: explain it
agent: nap for a while
"""
NAP = f"sleep 600.{os.getpid()}"
_SHOUT = {"path": "notes.txt", "edits": [{"oldText": "beta\ngamma", "newText": "BETA\ngamma"}]}
#: Progress is looked for on a screen, and Emacs shows none that follows another within 0.2 s.
_SEEN = 1500
SCRIPT: list[dict[str, Any]] = [
    {"match": "^shout", "calls": [{"name": "edit", "args": _SHOUT}], "delay_ms": 500},
    {"text": "It is loud now.", "delay_ms": _SEEN},
    {
        "match": "^run",
        "text": "I run it.",
        "calls": [{"name": "bash", "args": {"command": "sleep 1; echo ran > ran.txt"}}],
    },
    {"text": "It has run."},
    {
        "match": "^nap",
        "text": "I nap.",
        "calls": [{"name": "bash", "args": {"command": f"exec {NAP}"}}],
    },
    {"text": "Nobody reads this."},
    {"match": "^explain", "text": "Three letters.\n\nTheir names are Greek."},
    {"match": "^count", "text": " ".join(f"n{number}" for number in range(1, 61)), "pace_ms": 80},
    {"match": "^say", "text": "I have heard: hello.", "delay_ms": _SEEN},
]

SAID = "## You\n\nWhy so?\n\n## Agent\n\n- `bash: make`\n\nSee shop.py:2\n\n## You\n\n"


def text_of(file: Path) -> str | None:
    """None between two steps of a save, as Helix saves by renaming."""
    try:
        return file.read_text()
    except FileNotFoundError:
        return None


def block(page: str, language: str, number: int = 0) -> str:
    """A code block of a page of docs/editors, as a reader copies it."""
    text = (ROOT / "docs" / "editors" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[number]


class PlainProject:
    """``home`` has the person's configuration; ``folder`` is what the editor opens. Without
    ``steps`` no agent is configured."""

    def __init__(self, base: Path, steps: Sequence[dict[str, Any]] | None = SCRIPT) -> None:
        self.home = base / "home"
        self.config = self.home / ".config"
        self.folder = base / "shop"
        self.notes = self.folder / "notes.txt"
        (self.folder / ".git").mkdir(parents=True)
        self.notes.write_text(NOTES)
        if steps is None:
            return
        script = base / "script.json"
        script.write_text(json.dumps({"steps": [*steps]}))
        self.write(
            "lsp-agent/config.toml",
            "[agents.builtin]\n"
            f'command = ["lsp-agent", "rpc", "--script", {json.dumps(str(script))}]\n'
            'provider = "script"\n',
        )

    def write(self, name: str, text: str) -> Path:
        """A file of the person's configuration."""
        path = self.config / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def set(self, table: str, line: str) -> None:
        """A setting of the person's, before the server starts."""
        settings = self.config / "lsp-agent" / "config.toml"
        settings.write_text(f"{settings.read_text()}\n[{table}]\n{line}\n")

    def converse(self) -> None:
        """Writes a conversation, ``x.chat.md``, in which a file is named."""
        (self.folder / "shop.py").write_text("one\ntwo\n")
        (self.folder / "x.chat.md").write_text(SAID)

    def saved(self) -> str | None:
        """The notes on disk, as ``text_of`` has them."""
        return text_of(self.notes)

    @property
    def environment(self) -> dict[str, str]:
        """In which ``lsp-agent`` is on PATH and nothing of the real person's is seen."""
        mine = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return mine | {"HOME": str(self.home), "PATH": path}


def napping() -> bool:
    """Whether the command of the script's nap runs (Linux)."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if line.startswith(NAP):
            return True
    return False
