"""An agent beside a person at the keyboard of a real VS Code workbench, in unsaved documents:
nothing of either is lost or doubled, and what the person decides is what happens."""

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable
from typing import Any

import pytest
from support.typist import document
from support.workbench import wait_until
from vscode_desk import REFUSED, Desk, RequestError, done, edit, read, step
from vscode_typist import Row, Typist, counted

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.xdist_group("vscode"),
]

#: Of an edit that is not in, and says so.
NOT_CONFIRMED = "The editor has not confirmed"
WHY_NOT = ("not found", "changed since", REFUSED)
#: Of one that was refused: hosted, and in a mirror.
OUT = ("conflict", "proposed")
TOKEN = re.compile(r"tok(\d{3})")


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
    """Why an edit is not in: the person typed into what it meant, or before each send of it."""
    return next((words for words in WHY_NOT if words in text), text)


def sent_again(desk: Desk) -> int:
    return sum(not send["applied"] for send in desk.sends())


@pytest.mark.parametrize("seed", [1])
def test_hosted_edits_beside_a_typist_are_each_in_once(
    desk: Desk, report: Callable[[Row], None], seed: int
) -> None:
    rng = random.Random(seed)
    lines, made = document(rng, 50)
    desk.open("".join(f"{line}\n" for line in lines))
    steps = [step(edit(desk.name, (e.old, e.new)), delay_ms=rng.randrange(20, 180)) for e in made]
    desk.start(*steps, done(), step(read(desk.name), match="Show"), done())
    typist = Typist(desk, rng)
    turn = desk.prompt("Go.")
    while desk.answer(turn) is None:
        target = made[min(desk.taken() + rng.randrange(3), len(made) - 1)]
        if rng.random() < 0.15:
            typist.type_at(target.near.replace("old", "post"), starts="i")  # right behind its word
        else:
            typist.type_at(target.near, offsets=(-1, 0, 0, 0, 1))
        if rng.random() < 0.2:
            typist.undo()
    assert desk.wait(turn)["stopReason"] == "endTurn"

    row = Row("hosted edits", len(made), words=len(typist.words), undos=typist.undos)
    outcomes, text = desk.outcomes(), desk.text()
    wanted = counted("\n".join(lines)) + Counter(typist.words)
    for change, outcome in zip(made, outcomes, strict=True):
        row.milliseconds.append(1000 * outcome.seconds)
        if outcome.is_error:
            row.said[why_not(outcome.text)] += 1
            continue
        if outcome.text.startswith(NOT_CONFIRMED):
            row.said["not confirmed in 5 s"] += 1
            now = counted(text)  # it may have come later
            if not all(now[m] for m in change.there) or any(now[m] for m in change.gone):
                continue
        row.in_ += 1
        wanted.update(change.there)
        wanted.subtract(change.gone)
    assert row.said.keys() <= {*WHY_NOT, "not confirmed in 5 s"}
    row.sent_again = sent_again(desk)
    row.compare(wanted, text, desk.undone())
    for wrong in row.wrong:
        mark = wrong.partition(":")[0]
        told = (o for e, o in zip(made, outcomes, strict=True) if mark in e.marks)
        print(wrong, *told, *desk.story(mark), sep="\n")
    assert len(typist.words) > 10
    assert desk.path.read_text() == "".join(f"{line}\n" for line in lines)  # nothing was saved
    if seen_by_the_server(desk).rstrip("\n") != text.rstrip("\n"):
        row.wrong.append("the server shows another text than the editor")
    assert not desk.save()
    report(row)


def shop(count: int) -> str:
    """Words for the agent to replace, ``old000`` and on, and lines for the person around them."""
    blocks = [
        f"\thas{n:03} 😀 = 'é'\n\n\tpre{n:03} old{n:03} post{n:03}\n}}\n" for n in range(count)
    ]
    return "".join(blocks)


def replacing(name: str, *numbers: int) -> Any:
    """One tool call that makes ``tok`` of these ``old`` words. The text gets longer: VS Code
    overwrites without asking where only the time of the file on disk is another."""
    return edit(name, *((f"old{n:03}", f"tok{n:03} (new)") for n in numbers))


def after(text: str, numbers: Iterable[int], words: Iterable[str]) -> Counter[str]:
    """What is in once these words of ``text`` are replaced, and the person's are typed."""
    wanted = counted(text) + Counter(words)
    for n in numbers:
        wanted[f"old{n:03}"], wanted[f"tok{n:03}"] = 0, 1
    return wanted


def open_hunk(desk: Desk, mark: str) -> tuple[str, str]:
    """The ids of the edit and of its hunk under review in which the mark is; it stands in the
    document where its range says."""
    edits, text = desk.seen_edits()
    ((edit_id, hunk),) = [
        (found["editId"], hunk)
        for found in edits
        for hunk in found["hunks"]
        if mark in hunk["newText"] and hunk["status"] == "applied"
    ]
    if text is not None:
        lines = text.splitlines(keepends=True)
        start, end = hunk["range"]["start"]["line"], hunk["range"]["end"]["line"]
        assert "".join(lines[start:end]) == hunk["newText"]
    return edit_id, hunk["hunkId"]


def decided(desk: Desk, edit_id: str, hunk_id: str, *, keep: bool) -> Any:
    """The hunk once the person has kept or undone it. On a busy machine the window may take more
    than the 5 s after which the server says that it does not know, and that it may still come; or
    it has not taken it in all that time."""
    method = "agent/keepEdit" if keep else "agent/rejectEdit"
    for left in reversed(range(5)):
        try:
            edit = desk.call(method, editId=edit_id, hunks=[hunk_id])["edit"]
            break
        except RequestError as error:
            if not left or not any(words in str(error) for words in ("may still come", REFUSED)):
                raise
            time.sleep(3)
    (hunk,) = [each for each in edit["hunks"] if each["hunkId"] == hunk_id]
    return hunk


def not_in(row: Row, statuses: dict[int, str], text: str, refused: Container[int] = ()) -> set[int]:
    """Which words of edits that nobody decided on are not in; only of one that the window did
    not confirm in 5 s, or ``refused``, may that be so."""
    for n, status in statuses.items():
        if status == "unknown":
            row.said["not confirmed in 5 s"] += 1
        elif status in OUT and n in refused:
            row.said[REFUSED] += 1
        elif status != "applied":
            row.wrong.append(f"the edit of old{n:03} is {status}")
    return {n for n, status in statuses.items() if status != "applied" and f"tok{n:03}" not in text}


def test_hunks_are_kept_and_undone_while_the_person_types_and_the_agent_works(
    desk: Desk, report: Callable[[Row], None]
) -> None:
    rng = random.Random(2)
    text = shop(36)
    desk.open(text)
    steps = [step(replacing(desk.name, *range(first, 24, 3))) for first in range(3)]
    steps += [step(replacing(desk.name, n), delay_ms=400) for n in range(24, 36)]
    desk.start(*steps, done(), step(read(desk.name), match="Show"), done())
    typist = Typist(desk, rng)
    typist.type_at("has000")
    turn = desk.prompt("Go.")
    wait_until(lambda: len(desk.edits()) >= 3)
    kept: set[int] = set()

    def decide() -> None:
        chance = random.Random(3)
        for n in chance.sample(range(24), 24):
            edit_id, hunk_id = open_hunk(desk, f"tok{n:03}")
            keep = chance.random() < 0.4
            hunk = decided(desk, edit_id, hunk_id, keep=keep)
            assert hunk["status"] == ("kept" if keep else "rejected")
            if keep:
                kept.add(n)
            time.sleep(chance.uniform(0, 0.2))
        desk.wait(turn)

    typist.beside([f"pre{n:03}" for n in range(36)], decide)
    row = Row("hunks kept and undone", 36, words=len(typist.words), undos=typist.undos)
    row.said["undone by hunk"] = 24 - len(kept)
    row.sent_again = sent_again(desk)
    time.sleep(1)  # for what came late
    shown, statuses = desk.text(), [edit["status"] for edit in desk.edits()]
    refused = {n for n, told in enumerate(desk.outcomes()[3:], 24) if REFUSED in told.text}
    out = not_in(row, dict(enumerate(statuses[3:], 24)), shown, refused)
    inside = {*kept, *range(24, 36)} - out
    row.in_ = len(inside)
    row.compare(after(text, inside, typist.words), shown, desk.undone())
    assert "applied" not in statuses[:3]
    assert seen_by_the_server(desk) == shown
    assert not desk.save()
    report(row)


def test_hunks_are_decided_by_keyboard_and_by_lens(
    desk: Desk, report: Callable[[Row], None]
) -> None:
    text = shop(6)
    desk.open(text)
    desk.start(step(replacing(desk.name, *range(6))), done())
    typist = Typist(desk, random.Random(4))
    typist.type_at("has000", starts="A")
    desk.ask()
    desk.go_to("tok001")
    titles = desk.workbench.pick("Undo the agent's change (")
    print(titles)
    wait_until(lambda: "old001" in desk.text())
    desk.go_to("tok002")
    desk.workbench.pick("Keep the agent's change (")
    wait_until(lambda: statuses_of_hunks(desk)[2] == "kept")
    desk.workbench.press_lens("Undo", 1, of=4)  # of the first one and the fourth
    wait_until(lambda: "old003" in desk.text())
    desk.workbench.press_lens("Keep", 0, of=3)
    wait_until(lambda: statuses_of_hunks(desk)[0] == "kept")

    desk.workbench.command("workbench.action.focusActiveEditorGroup")
    typist.type_at("tok004", starts="A")  # in the hunk, apart from the agent's word
    edit_id, hunk_id = open_hunk(desk, "tok004")
    desk.call("agent/rejectEdit", editId=edit_id, hunks=[hunk_id])
    typist.type_inside("tok005")
    before = desk.text()
    with pytest.raises(RequestError) as refused:
        desk.call("agent/rejectEdit", editId=edit_id, hunks=["5"])
    assert refused.value.data["kind"] == "conflict"
    assert desk.text() == before
    row = Row("by keyboard and by lens", 6, in_=2, words=len(typist.words))
    row.said = Counter({"undone": 3, "conflict, the person's stays": 1})
    wanted = after(text, (0, 2, 5), typist.words) - Counter(["tok005"])
    row.compare(wanted, before, [])
    assert not desk.save()
    report(row)


def statuses_of_hunks(desk: Desk) -> list[str]:
    return [hunk["status"] for edit in desk.edits() for hunk in edit["hunks"]]


@pytest.mark.parametrize("where", ["apart", "beside"])
def test_a_turn_is_taken_back_and_brought_again_while_the_person_types(
    desk: Desk, report: Callable[[Row], None], where: str
) -> None:
    """``beside`` the agent's lines, what the person types may be in conflict with taking them
    back: then nothing changes, and the answer says so."""
    text = shop(20)
    desk.open(text)
    turns = [[step(replacing(desk.name, n, n + 1)) for n in range(k, k + 10, 2)] for k in (0, 10)]
    read_it = step(read(desk.name), match="Show")
    desk.start(*turns[0], done(), *turns[1], done(), read_it, done())
    typist = Typist(desk, random.Random(5))
    typist.type_at("has000")
    first, second = (desk.ask()["turnId"] for _ in range(2))
    row = Row(f"turns reverted, typing {where}", 20)
    offsets = (-1, 1) if where == "beside" else (-2,)
    inside = {*range(20)}
    taken: dict[object, set[int]] = {}

    def revert(numbers: Iterable[int] = (), **params: object) -> str:
        """Takes these words out, or a revert back, while the person types."""

        def work() -> Any:
            time.sleep(0.3)
            return desk.call("agent/revert", **params)

        reverted = typist.beside([f"pre{n:03}" for n in range(20)], work, offsets)
        outcomes = {file["outcome"] for file in reverted["files"]} or {"unchanged"}
        row.said.update(outcomes)
        to_take, to_bring = inside & {*numbers}, taken.get(params.get("turnId"), set[int]())
        gone = taken[reverted["revertId"]] = set[int]()
        if outcomes <= {"restored", "merged"}:
            gone.update(to_take)
            inside.difference_update(to_take)
            inside.update(to_bring)
        elif where == "beside":
            assert outcomes <= {"conflict", "unchanged"}
        elif to_take or to_bring:
            assert all(REFUSED in file["reason"] for file in reverted["files"]), reverted
        else:  # the one before was refused
            assert outcomes == {"unchanged"}
        row.compare(after(text, inside, typist.words), desk.text(), [], f"after {params}")
        return reverted["revertId"]

    last = revert(range(10, 20))
    revert(turnId=last)
    both = revert(range(20), turnId=first)
    revert(turnId=both)
    revert(range(10), turnId=first, only=True)
    revert(range(10, 20), turnId=second)
    row.in_, row.words = len(inside), len(typist.words)
    row.sent_again = sent_again(desk)
    assert desk.path.read_text() == text
    assert seen_by_the_server(desk) == desk.text()
    assert not desk.save()
    report(row)


def statuses_of_words(desk: Desk) -> tuple[dict[int, str], set[int]]:
    """Of the edits, each of one word; and those that were proposed again, as the window refused
    them."""
    statuses, superseded = dict[int, str](), set[int]()
    for found in desk.edits():
        (n,) = (int(TOKEN.findall(hunk["newText"])[0]) for hunk in found["hunks"])
        if found["status"] == "superseded":
            superseded.add(n)
        else:
            statuses[n] = found["status"]
    return statuses, superseded


def test_an_agents_writes_to_disk_are_merged_into_unsaved_text(
    desk: Desk, report: Callable[[Row], None]
) -> None:
    text = shop(24)
    desk.open(text)
    clashing = (20, 21)
    steps = [step(replacing(desk.name, n), delay_ms=300) for n in [*range(16), *clashing]]
    desk.start(*steps, done(), hosting="mirror")
    typist = Typist(desk, random.Random(6))
    for n in clashing:
        typist.type_inside(f"old{n:03}")
    turn = desk.prompt("Go.")
    typist.beside([f"pre{n:03}" for n in range(24)], lambda: desk.wait(turn), (-2,))
    assert desk.call("agent/state")["hosting"] == "mirror"
    row = Row("mirror, unsaved text", 18, words=len(typist.words))
    row.sent_again = sent_again(desk)
    time.sleep(1)  # for what came late
    wait_until(lambda: len(statuses_of_words(desk)[0]) == row.changes)
    shown, (statuses, superseded) = desk.text(), statuses_of_words(desk)
    assert [statuses.pop(n) for n in clashing] == ["proposed"] * 2
    row.proposed = 2
    inside = {*range(16)} - not_in(row, statuses, shown, superseded)
    row.in_ = len(inside)
    wanted = after(text, inside, typist.words)
    wanted -= Counter(f"old{n:03}" for n in clashing)
    row.compare(wanted, shown, [])
    on_disk = after(text, [*range(16), *clashing], [])
    assert counted(desk.path.read_text()) == +on_disk
    for found in desk.edits():
        for hunk in found["hunks"] if found["status"] == "applied" else ():
            lines = shown.splitlines(keepends=True)
            span = slice(hunk["range"]["start"]["line"], hunk["range"]["end"]["line"])
            assert "".join(lines[span]) == hunk["newText"]
    row.said["asked before overwriting the disk"] += desk.save()
    report(row)


def test_an_agents_writes_to_disk_come_into_a_clean_document_once(
    desk: Desk, report: Callable[[Row], None]
) -> None:
    text = shop(12)
    desk.open(text)
    steps = [step(replacing(desk.name, n), delay_ms=n % 3 * 300) for n in range(12)]
    desk.start(*steps, done(), hosting="mirror")
    desk.ask()
    row = Row("mirror, clean document", 12, in_=12)
    row.compare(after(text, range(12), []), desk.text(), [])
    wait_until(lambda: desk.text() == desk.path.read_text())
    # Where the window is slower than the half second that it is given, the edit is sent to it.
    row.said["sent, as the reload was late"] = sum(send["applied"] for send in desk.sends())
    wait_until(lambda: desk.is_dirty() == any(send["applied"] for send in desk.sends()))
    typist = Typist(desk, random.Random(7))
    typist.type_at("tok003")
    row.words = len(typist.words)
    row.compare(after(text, range(12), typist.words), desk.text(), [])
    row.said["asked before overwriting the disk"] += desk.save()
    report(row)


def test_an_undo_takes_the_agents_tool_call_alone(
    desk: Desk, report: Callable[[Row], None]
) -> None:
    text = shop(6)
    desk.open(text)
    first, second = replacing(desk.name, 0, 2, 4), replacing(desk.name, 1, 3, 5)
    desk.start(step(first), done(), step(second), done(), step(read(desk.name)), done())
    shown = [text]

    def and_then(what: object) -> None:
        assert desk.text() != shown[-1], what
        shown.append(desk.text())

    typist = Typist(desk, random.Random(8))
    typist.words += ["k000q", "k001q"]
    desk.go_to("has000")
    desk.workbench.type("k000q")
    desk.settle()
    and_then("the person's first word")
    desk.ask()
    and_then("the agent's first call")
    desk.workbench.type("k001q")
    desk.settle()
    and_then("the person's second word")
    desk.ask()
    and_then("the agent's second call")
    back = [desk.text()]
    for _ in range(4):
        typist.undo()
        back.append(desk.text())
    assert back == shown[::-1]
    assert not desk.is_dirty()
    forth = [desk.text()]
    for _ in range(4):
        desk.workbench.key("Control+y")
        desk.settle()
        forth.append(desk.text())
    assert forth == shown
    assert seen_by_the_server(desk) == shown[-1]
    row = Row("Ctrl+Z and Ctrl+Y", 2, in_=2, words=2, undos=8)
    row.compare(after(text, range(6), typist.words), desk.text(), [])
    assert not desk.save()
    report(row)
