"""A person types on in Helix, Kakoune and Emacs while questions come and go: no key of theirs
answers one, and none is lost.

A try is a burst of keys that would answer a prompt or a menu, if it had the focus. Nine of ten are
typed as a question appears and stands there. Then the person opens the menu of code actions and
presses Enter at once, for something else; and at last denies the command, upon which the agent asks
about the next one.
"""

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from plain_emacs import Emacs
from plain_helix import Helix
from plain_kakoune import Kakoune
from plain_project import NOTES, PlainProject
from plain_terminal import Terminal, until
from support.sizes import size

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("at a keyboard"),
]

SENT = "agent: nap for a while"
TRIES = size(400, 1000)
QUESTIONS = 12

TITLE = "Plain editors, keys typed through the appearance of questions"

#: As tmux names keys; a part in parentheses is typed letter by letter. ``{n}`` is the try's number.
MODAL = (
    ("(geok{n} 1 2)", "Space", "(y)", "Enter", "(1 k{n})", "Escape"),
    ("(1)", "Enter"),
    ("(:w)", "Enter"),
    ("(2)", "Enter", "(y)"),
    ("(geok{n} y)", "Enter", "(y)", "Enter", "Escape"),
    ("Space", "Escape", "Enter"),
)
MODAL_MENU = ("Space", "(a)", "", "Enter", "Escape", "Escape")
EMACS = (
    ("(k{n} 1 2)", "Space", "(y)", "Enter"),
    ("(1)", "Enter"),
    ("(k{n} y)", "Enter", "(y)", "Enter"),
    ("C-x", "C-s"),
    ("(2)", "Enter"),
)
EMACS_MENU = ("C-c", "(aa)", "", "Enter", "", "C-g")

Burst = Sequence[str]
Record = Callable[[str, object], None]


def command(number: int) -> str:
    return f"echo {number} >> ran"


def steps(questions: int) -> list[dict[str, object]]:
    calls = [{"name": "bash", "args": {"command": command(n)}} for n in range(questions)]
    asking = [{"calls": [call]} for call in calls]
    return [{"match": "^nap", "text": "I ask."} | asking[0], *asking[1:], {"text": "Denied."}]


def burst(editor: Terminal, keys: Burst, number: int, rng: random.Random) -> str:
    """Types it; what it makes of the text, as far as it is text."""
    typed = ""
    for key in keys:
        if key.startswith("("):
            text = key[1:-1].replace("{n}", str(number))
            editor.type(text)
            typed += text
        elif key:
            editor.keys(key)
            typed += {"Enter": "\n", "Space": " "}.get(key, "")
        else:
            time.sleep(rng.choice((0.05, 0.1, 0.2)))
    return typed


def answers(project: PlainProject) -> list[str]:
    """What came of the questions that are not open any more."""
    stored = [*(project.home / ".local" / "share").rglob("messages.jsonl")]
    told = [line for path in stored for line in path.read_text().splitlines()]
    ran = project.folder / "ran"
    allowed = ran.read_text().splitlines() if ran.exists() else []
    return [line for line in told if "Not run: the" in line] + allowed


class Sitting:
    """One editor, and a person who types at it."""

    def __init__(self, project: PlainProject, editor: Helix | Kakoune | Emacs) -> None:
        self.project = project
        self.editor = editor
        self.rng = random.Random(1)
        self.lines: list[str] = []
        self.tries = 0
        self.denied = 0

    def type_through(self, bursts: Sequence[Burst], menu: Burst, tries: int) -> None:
        """Until the question is denied, or has been answered by accident."""
        for _ in range(tries * 9 // 10):
            keys = bursts[self.tries % len(bursts)]
            self._take(keys, burst(self.editor, keys, self.tries, self.rng))
            time.sleep(self.rng.choice((0, 0.01, 0.03)))
            self.tries += 1
        for _ in range(tries - tries * 9 // 10):
            burst(self.editor, menu, self.tries, self.rng)
            self.tries += 1
        for _ in range(2):  # C-g throws away what is typed behind it, sometimes the Enter before
            time.sleep(0.7)
            self.editor.keys(menu[-1])
        time.sleep(0.7)
        if not self.accidents:
            self.editor.choose(1, f"Agent asks: bash: {command(self.denied)}: Deny")
            self.denied += 1
            assert until(lambda: len(answers(self.project)) == self.denied)

    @property
    def accidents(self) -> int:
        return len(answers(self.project)) - self.denied

    def _take(self, keys: Burst, typed: str) -> None:
        if isinstance(self.editor, Emacs):
            self.lines += [] if "C-x" in keys else typed.split("\n")[:-1]
        elif typed.startswith("geo"):
            self.lines += typed.removeprefix("geo").split("\n")


def check(sitting: Sitting, save: Burst, record: Record) -> None:
    """Saves, and looks at what the person typed and at what was answered."""
    project = sitting.project
    burst(sitting.editor, save, 0, sitting.rng)
    # Helix and Kakoune cannot ask for words: the line that is sent is taken out.
    notes = NOTES if isinstance(sitting.editor, Emacs) else NOTES.replace(f"{SENT}\n", "")
    wanted = notes + "".join(f"{line}\n" for line in sitting.lines)
    until(lambda: project.saved() == wanted)
    screen = sitting.editor.screen  # of an editor that asks in place of saving
    saved = project.saved() or ""
    cells: dict[str, object] = {
        "editor": type(sitting.editor).__name__,
        "tries": sitting.tries,
        "questions": sitting.denied + sitting.accidents,
        "answers": sitting.accidents,
        "lines lost": len({*sitting.lines} - {*saved.splitlines()}),
    }
    widths = {key: max(len(key), 6) for key in cells}
    head = " | ".join(f"{key:>{widths[key]}}" for key in cells)
    row = " | ".join(f"{cell!s:>{widths[key]}}" for key, cell in cells.items())
    record("table", (TITLE, head, row))
    assert sitting.accidents == 0, f"{head}\n{row}"
    assert saved.splitlines() == wanted.splitlines(), screen


def type_in_modes(project: PlainProject, editor: Helix | Kakoune, record: Record) -> None:
    sitting = Sitting(project, editor)
    editor.choose(7, "Ask the agent: nap for a while")
    while sitting.tries < TRIES and not sitting.accidents:
        sitting.type_through(MODAL, MODAL_MENU, -(-TRIES // QUESTIONS))
    check(sitting, ("Escape", "(:w)", "Enter"), record)


@pytest.fixture
def project(tmp_path: Path) -> PlainProject:
    return PlainProject(tmp_path, steps(QUESTIONS))


@pytest.mark.helix
def test_keys_typed_through_questions_answer_none_in_helix(
    helix: Helix, project: PlainProject, record_property: Record
) -> None:
    type_in_modes(project, helix, record_property)


@pytest.mark.kakoune
def test_keys_typed_through_questions_answer_none_in_kakoune(
    kakoune: Kakoune, project: PlainProject, record_property: Record
) -> None:
    type_in_modes(project, kakoune, record_property)


@pytest.mark.emacs
def test_keys_typed_through_questions_answer_none_in_emacs(
    emacs: Emacs, project: PlainProject, record_property: Record
) -> None:
    sitting = Sitting(project, emacs)
    emacs.choose(7, "Ask the agent: nap for a while")
    while sitting.tries < TRIES and not sitting.accidents:
        emacs.keys("M->")
        sitting.type_through(EMACS, EMACS_MENU, -(-TRIES // QUESTIONS))
    check(sitting, ("C-x", "C-s"), record_property)
