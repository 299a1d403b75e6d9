"""A day's task in VS Code by keyboard, in one conversation as a document in an editor tab: the chat
view is never opened."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.days_task import CHANGE, FILES, HUNKS, Day, Record, bash, decided, edit, turn
from support.workbench import wait_until
from vscode_product import Product, build, product

pytestmark = [pytest.mark.vscode, pytest.mark.slow, pytest.mark.timeout(400)]
pytestmark.append(pytest.mark.xdist_group("vscode"))

CHAT, FORK = "day.chat.md", "day-fork.chat.md"
HOW, AGAIN, ONLY = "How is it?", "Still there?", "One thing only."
TEST, PUSH = "touch ../tested", "touch ../pushed"
#: So long that a person has read some of it and has written the next prompt before its end.
WORDS = " ".join(f"n{number}" for number in range(1, 121))
#: Generous: of the whole task.
MOST = 60

PLACE = """
const editor = vscode.window.activeTextEditor;
return editor && [editor.document.uri.fsPath, editor.selection.active.line + 1];
"""


def script() -> list[dict[str, Any]]:
    changes = [edit(name, *(pair[:2] for pair in HUNKS[name])) for name in HUNKS]
    only = edit("prices.txt", ("grapes 7", "grapes 70"))
    return [
        *turn(re.escape(ONLY), "One thing is done.", only),
        *turn(re.escape(AGAIN), "Here I am."),
        {"match": CHANGE, "text": "I change it.", "calls": changes},
        {"text": "I test it.", "calls": [bash(TEST)]},
        {"text": "I push it.", "calls": [bash(PUSH)]},
        {"text": "The shop is changed."},
        {"match": "^How", "text": WORDS, "pace_ms": 100},
    ]


class Person:
    """At the keyboard; each method is one step unless it says otherwise."""

    def __init__(self, product: Product, day: Day) -> None:
        self._product = product
        self._day = day

    def key(self, *keys: str) -> None:
        self._day.step()
        for key in keys:
            self._product.page.keyboard.press(key)

    def open(self, name: str) -> None:
        """Two: the list of files, and a name in it."""
        self._day.step()
        self._day.step()
        wait_until(lambda: self._is_opened(name), 90)

    def _is_opened(self, name: str) -> bool:
        """Not where what takes the focus just now closed the list again."""
        page = self._product.page
        page.keyboard.press("Control+p")
        with suppress(Exception):
            self._product.asked.fill(name, timeout=3000)
            self._product.row(name).wait_for(timeout=3000)
        self._product.read()  # the row is another one's until the list is made anew
        page.keyboard.press("Enter")
        with suppress(AssertionError):
            return wait_until(lambda: self.place()[0] == name, 3)
        page.keyboard.press("Escape")
        return False

    def write(self, words: str) -> None:
        """Two: to the end, and the words."""
        self.key("Control+End")
        self._day.step()
        self._product.page.keyboard.type(words)
        self.reads(lambda text: text.rstrip().endswith(words))

    def choose(self, title: str) -> None:
        """Two: the menu of code actions, and the first that begins so; where it is not there yet,
        it is looked again."""
        self._day.step()
        self._day.step()
        wait_until(lambda: self._is_chosen(title), 90)

    def _is_chosen(self, title: str) -> bool:
        """Not where it is not there yet, or where the text changed as the menu was asked for."""
        from playwright.sync_api import TimeoutError as NotInTime  # noqa: PLC0415  # optional

        page = self._product.page
        self._product.command("workbench.action.focusActiveEditorGroup")
        rows = page.locator(".action-widget .monaco-list-row.action")
        if not rows.count():  # in a menu that is open the key takes the first
            page.keyboard.press("Control+.")
        try:
            rows.first.wait_for(timeout=10_000)
        except NotInTime:
            page.keyboard.press("Escape")
            return False
        titles = [text.strip() for text in rows.all_inner_texts()]
        is_there = any(found.startswith(title) for found in titles)
        self._product.read()
        focused = page.locator(".action-widget .monaco-list-row.focused")
        while is_there and not focused.inner_text().strip().startswith(title):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter" if is_there else "Escape")
        rows.first.wait_for(state="detached")
        return is_there

    def comes_back(self, name: str) -> None:
        """Three: the window again, and the file."""
        self._day.step()
        self._product.workbench.reload()
        self.open(name)

    def reads(self, shown: Any) -> str:
        """In the conversation that is in front. No step."""

        def found() -> str | None:
            text = self._product.text(self.place()[0])
            return text if (shown(text) if callable(shown) else shown in text) else None

        return wait_until(found, 90)

    def place(self) -> tuple[str, int]:
        """The file in front and the line of the cursor, from 1. No step."""
        path, line = self._product.workbench.run(PLACE) or ("", 0)
        return Path(path).name, line


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Product]:
    with product(tmp_path, build()) as started:
        (tmp_path / "script.json").write_text(json.dumps({"steps": script()}))
        for name, text in FILES.items():
            (started.folder / name).write_text(text)
        (started.folder / CHAT).write_text("")
        try:
            yield started
        finally:
            started.tell_window(tmp_path)


def line_of(name: str, old: str) -> int:
    return next(n for n, line in enumerate(FILES[name].splitlines(), 1) if old in line)


def test_a_days_task_is_done_in_a_conversations_document(
    started: Product, tmp_path: Path, record_property: Record
) -> None:
    day = Day("VS Code, document", record_property, MOST)
    person = Person(started, day)
    with day.part("asks, reads while it comes"):
        person.open(CHAT)
        person.write(HOW)
        person.choose(f"Send to the agent: {HOW}")
        assert "n120" not in person.reads("n5 ")
    with day.part("sends the next prompt meanwhile"):
        person.write(CHANGE)
        person.choose(f"Send to the agent: {CHANGE}")
        person.reads(lambda text: text.count("## Agent\n") == 2)  # the first one may be over
    with day.part("allows a command, denies another"):
        for command, answer in ((TEST, "Allow as it is on disk"), (PUSH, "Deny")):
            person.reads(f"The agent asks:** bash: {command}")
            person.choose(f"Agent asks: bash: {command}: {answer}")
            person.reads(f"> {answer}: bash: {command}")
        person.reads("The shop is changed.")
        assert [(tmp_path / n).exists() for n in ("tested", "pushed")] == [True, False]
    with day.part("decides seven hunks in three files"):
        decides(person, started)
    with day.part("undoes the turn"):
        person.open(CHAT)
        person.choose("Undo the agent's last turn")
        wait_until(lambda: {n: started.text(n) for n in FILES} == FILES)
        person.key("Control+k", "s")
        wait_until(lambda: {n: started.on_disk(n) for n in FILES} == FILES)
    with day.part("goes on after a restart"):
        person.key("Control+s")
        wait_until(lambda: not started.is_dirty(CHAT))
        person.comes_back(CHAT)
        person.write(AGAIN)
        person.choose(f"Send to the agent: {AGAIN}")
        person.reads("Here I am.")
    with day.part("forks at the second prompt"):
        forks(person, started)
    day.ends()


def decides(person: Person, started: Product) -> None:
    left = {(n, line_of(n, old)): keep for n, hunks in HUNKS.items() for old, _, keep in hunks}
    while left:
        person.key("Alt+F5")
        place = wait_until(lambda: person.place() if person.place() in left else None)
        before = started.text(place[0])
        keeps = left.pop(place)
        person.key("Shift+Alt+Enter" if keeps else "Shift+Alt+Backspace")
        started.read()  # VS Code runs a command later where it runs it for the first time
        if not keeps:
            wait_until(lambda name=place[0], text=before: started.text(name) != text)
    person.key("Control+k", "s")
    for name in HUNKS:
        wait_until(lambda name=name: started.on_disk(name) == decided(name))


def forks(person: Person, started: Product) -> None:
    """The cursor goes to the prompt by the editor's own search: two steps."""
    person.key("Control+f")
    person.key(*CHANGE, "Enter", "Escape")
    person.choose(f"Fork here: {CHANGE}")
    wait_until(lambda: person.place()[0] == FORK)
    person.write(ONLY)
    person.choose("Send to the agent: ")
    person.reads("One thing is done.")
    wanted = FILES["prices.txt"].replace("grapes 7", "grapes 70")
    wait_until(lambda: shown(started, "prices.txt") == wanted)
    assert ONLY not in shown(started, CHAT)


def shown(started: Product, name: str) -> str:
    """In an editor where it is open, else on disk."""
    return started.text(name) if started.is_open(name) else started.on_disk(name)
