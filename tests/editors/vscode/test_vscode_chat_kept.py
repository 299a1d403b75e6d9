"""A conversation in an editor tab of a VS Code that is killed with its server in the middle of
typing and of a turn, and started again: what was saved, and what VS Code kept of what was not, is
there once."""

import json
from collections.abc import Iterator
from contextlib import suppress

import pytest
from support.chat_typing import GOES_ON, MARKER, NAME, SCRIPT_ON, TEXT, in_order, late
from support.workbench import wait_until
from test_vscode_chat_typed import InVSCode
from vscode_desk import SHOW
from vscode_product import Product, build, product

pytestmark = [pytest.mark.vscode, pytest.mark.slow, pytest.mark.timeout(400)]
pytestmark.append(pytest.mark.xdist_group("vscode"))

#: In lines.
SAVED = 10
#: When all is killed: whether VS Code has kept more than was saved, and how many lines were typed
#: since without a pause.
POINTS = [(True, 23), (False, 7)]


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    base = tmp_path_factory.mktemp("kept")
    with product(base, build()) as started:
        (base / "script.json").write_text(json.dumps({"steps": SCRIPT_ON}))
        (started.folder / "notes.txt").write_text("x\n")
        yield started


class Writer:
    """Somebody who types numbered lines at the end of a conversation."""

    def __init__(self, person: Product, name: str) -> None:
        self._person = person
        self._name = name
        self._typist = InVSCode(person)
        self._typist.to_last()
        self._lines = 0

    def write(self, lines: int) -> str:
        """The last one."""
        for _ in range(lines):
            self._typist.type(late(self._lines))
            self._lines += 1
        return late(self._lines - 1)

    def is_kept(self) -> bool:
        """One more, after a while; not where VS Code was so busy that it had no time for it."""
        last = self.write(1)
        with suppress(AssertionError):
            return wait_until(lambda: last in kept(self._person, self._name), 10)
        return False


def save(person: Product, name: str, shown: str) -> None:
    """Where a write of the agent's came while it was saved, once more: VS Code goes on to keep the
    text of before."""

    def is_saved() -> bool:
        InVSCode(person).save()
        with suppress(AssertionError):
            return wait_until(lambda: shown in person.on_disk(name) and not kept(person, name), 5)
        return False

    wait_until(is_saved)


def kept(person: Product, name: str) -> str:
    """What VS Code has kept of a text that is not saved: a file, whose first line is about it."""
    for path in person.folder.parent.glob("user/User/Backups/*/*/*"):
        with suppress(FileNotFoundError):  # it goes with a save
            about, _, text = path.read_text().partition("\n")
            if f"/{name} " in about:
                return text
    return ""


@pytest.mark.parametrize(("is_kept", "lines"), POINTS)
def test_a_kill_of_vs_code_and_its_server_costs_nothing_that_was_saved_or_kept(
    window: Product, is_kept: bool, lines: int
) -> None:
    name = f"{is_kept}-{lines}-{NAME}"
    window.open(name, TEXT)
    window.workbench.pick("Send to the agent: ")
    wait_until(lambda: "a0002" in window.text(name))
    writer = Writer(window, name)
    save(window, name, writer.write(SAVED))
    if is_kept:
        wait_until(writer.is_kept)
    writer.write(lines)
    window.workbench.kill()
    saved = window.on_disk(name)
    was = kept(window, name) or saved
    assert MARKER.search(was)
    assert in_order(was, "k") >= in_order(saved, "k") + is_kept
    assert in_order(saved, "k") >= SAVED
    window.workbench.start()
    window.workbench.run(SHOW, str(window.folder / name))
    wait_until(lambda: window.text(name) == was)
    window.workbench.pick("Send to the agent: k0000")
    wait_until(lambda: window.text(name).endswith(f"{GOES_ON}\n\n## You\n\n"))
    save(window, name, GOES_ON)
    text = window.on_disk(name)
    assert text.startswith(MARKER.sub("*(cut off)*", was).rstrip())
    assert in_order(text, "k") == in_order(was, "k")
    assert in_order(text, "a") == in_order(was, "a")
    assert text.count("*(cut off)*") == text.count(GOES_ON) == 1
    assert not MARKER.search(text)
    window.end()
