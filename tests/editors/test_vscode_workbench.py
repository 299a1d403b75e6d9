"""An agent beside a person at the keyboard of a real VS Code workbench, in unsaved documents:
nothing of either is lost or doubled, and what the person decides is what happens."""

import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typist import document
from vscode_desk import Desk, done, edit, read, step
from vscode_typist import Row, Typist, counted
from workbench import Workbench, wait_until

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.xdist_group("vscode"),
]


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    base = tmp_path_factory.mktemp("workbench")
    folder = base / "shop"
    (folder / ".git").mkdir(parents=True)
    with Workbench(base, folder) as started:
        yield started


@pytest.fixture
def desk(workbench: Workbench, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    # Sockets' addresses are short: pytest's own folders are too deep for them.
    runtime = Path(tempfile.mkdtemp(prefix="la-"))
    desk = Desk(workbench, tmp_path, runtime, "shop.txt")
    try:
        yield desk
    finally:
        workbench.picture(tmp_path / "end.png")
        if desk.log.exists():
            print(f"{tmp_path / 'end.png'}\n{desk.log.read_text()}")  # shown where the test fails
        desk.close()
        shutil.rmtree(runtime, ignore_errors=True)


@pytest.fixture
def report(record_property: Callable[[str, object], None]) -> Callable[[Row], None]:
    """Adds a row to the table at the end of the run, and checks it."""

    def add(row: Row) -> None:
        record_property("table", ("An agent beside a person in VS Code", Row.HEAD, str(row)))
        print(f"\n{Row.HEAD}\n{row}")
        assert not row.wrong, "\n".join(row.wrong)

    return add


def seen_by_the_server(desk: Desk) -> str:
    """The text that the server shows its agent; the script's next step must read the file."""
    desk.ask("Show.")
    text, _, _ = desk.outcomes()[-1].text.partition("\n[Note from the editor")
    return text


def why_not(text: str) -> str:
    """Why an edit is not in: what it meant is no longer there as the person typed into it."""
    return next((words for words in ("not found", "changed since") if words in text), text)


def sent_again(desk: Desk) -> int:
    return sum(not send["applied"] for send in desk.sends())


@pytest.mark.parametrize("seed", [1])
def test_hosted_edits_beside_a_typist_are_each_in_once(
    desk: Desk, report: Callable[[Row], None], seed: int
) -> None:
    rng = random.Random(seed)
    lines, made = document(rng, 100)
    desk.open("".join(f"{line}\n" for line in lines))
    steps = [step(edit(desk.name, (e.old, e.new)), delay_ms=rng.randrange(20, 180)) for e in made]
    desk.start(*steps, done(), step(read(desk.name), match="Show"), done())
    typist = Typist(desk, rng)
    turn = desk.prompt("Go.")
    while desk.answer(turn) is None:
        target = made[min(len(desk.sends()) + rng.randrange(3), len(made) - 1)]
        if rng.random() < 0.15:
            typist.type_at(target.near.replace("old", "post"), starts="i")  # right behind its word
        else:
            typist.type_at(target.near, offsets=(-1, 0, 0, 0, 1))
        if rng.random() < 0.2:
            typist.undo()
    assert desk.wait(turn)["stopReason"] == "endTurn"

    row = Row("hosted edits", len(made), words=len(typist.words), undos=typist.undos)
    outcomes = desk.outcomes()
    wanted = counted("\n".join(lines)) + Counter(typist.words)
    for change, outcome in zip(made, outcomes, strict=True):
        row.milliseconds.append(1000 * outcome.seconds)
        if outcome.is_error:
            row.said[why_not(outcome.text)] += 1
        else:
            row.in_ += 1
            wanted.update(change.there)
            wanted.subtract(change.gone)
    assert row.said.keys() <= {"not found", "changed since"}
    row.sent_again = sent_again(desk)
    text = desk.text()
    row.compare(wanted, text, desk.undone())
    assert len(typist.words) > 10
    assert desk.path.read_text() == "".join(f"{line}\n" for line in lines)  # nothing was saved
    if seen_by_the_server(desk).rstrip("\n") != text.rstrip("\n"):
        row.wrong.append("the server shows another text than the editor")
    assert desk.save() == text
    report(row)
