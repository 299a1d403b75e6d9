"""A person types hundreds of lines into a conversation in an editor tab of VS Code, the chat view
hidden, while the agent's words and calls come into it: each is there once and in its place."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.chat_typing import EARLY_LINE, END, NAME, SCRIPT, TEXT, Record, Sitting, Typist
from support.sizes import size
from support.workbench import wait_until
from vscode_product import Product, build, product

pytestmark = [pytest.mark.vscode, pytest.mark.slow, pytest.mark.timeout(400)]
pytestmark.append(pytest.mark.xdist_group("vscode"))


#: In milliseconds, behind each line.
_PAUSE = 25
#: The same between the agent's words, so that the half is typed beside them on a busy machine too.
_PACE = 80


class InVSCode(Typist):
    editor = "VS Code"
    lines = size(200, 1000)  # each costs several of another editor's

    def __init__(self, person: Product) -> None:
        self._person = person
        self._keyboard = person.page.keyboard

    def to_early(self) -> None:
        self._keyboard.press("Control+Home")
        for _ in range(1, EARLY_LINE):
            self._keyboard.press("ArrowDown")

    def to_last(self) -> None:
        self._keyboard.press("Control+End")

    def type(self, line: str) -> None:
        """A word at once, as a completion is or what a method of input has put together. Between
        keys that nobody can type so fast VS Code takes no edit of a text that it shows no more."""
        self._keyboard.insert_text(line)
        self._keyboard.press("Enter")
        self._person.page.wait_for_timeout(_PAUSE)

    def leave(self) -> None: ...

    def save(self) -> None:
        self._keyboard.press("Control+s")
        self._person.settle()


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Product]:
    """With a workbench of their own, whose chat view was never opened."""
    with product(tmp_path, build()) as started:
        (tmp_path / "script.json").write_text(
            json.dumps({"steps": [step | {"pace_ms": _PACE} for step in SCRIPT]})
        )
        yield started


def test_lines_typed_beside_a_turn_are_each_in_once(
    person: Product, record_property: Record
) -> None:
    def told() -> bool:
        kept = Path(os.environ["XDG_DATA_HOME"]).rglob("messages.jsonl")
        return any(END in path.read_text() for path in kept)

    (person.folder / "notes.txt").write_text("x\n")
    person.open(NAME, TEXT)
    person.workbench.pick("Send to the agent: ")
    wait_until(lambda: "a0002" in person.text(NAME))
    sitting = Sitting(InVSCode(person), person.folder / NAME, told)
    wait_until(told, 120)
    sitting.check(record_property)
