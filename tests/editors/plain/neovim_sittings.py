"""A person and an agent at one long text in a real Neovim, each way in which they meet."""

import random
import time
from collections.abc import Callable, Iterable

from neovim_review import Reviewer, lines_of
from neovim_tally import State, Tally, Words, by_all, history, states, tally, told
from support.living import alive
from support.neovim import Json, wait_until
from support.neovim_desk import Desk, done, edit, step
from support.typist import AgentEdit, Typist, counted, document

NAME = "shop.txt"
#: The client's own time for holding changes back, and more: what is on its way is sent by then.
FLUSHED = 1.0


class Sitting:
    """``turns`` are the edits of each prompt, in order."""

    def __init__(self, desk: Desk, seed: int, count: int, turns: int = 1) -> None:
        self.desk = desk
        self.rng = random.Random(seed)
        self.lines, edits = document(self.rng, count * turns)
        self.turns = [edits[n * count : (n + 1) * count] for n in range(turns)]
        self.typist = Typist(desk.nvim, self.rng, edits)

    @property
    def edits(self) -> list[AgentEdit]:
        return self.typist.edits

    def begin(self, **options: object) -> None:
        self.desk.open(NAME, "".join(f"{line}\n" for line in self.lines))
        steps: list[Json] = []
        for edits in self.turns:
            pauses = [self.rng.randrange(20, 180) for _ in edits]
            steps += [
                step(edit(NAME, e.old, e.new), delay_ms=pause)
                for e, pause in zip(edits, pauses, strict=True)
            ]
            steps.append(done())
        self.desk.start(*steps, **options)

    def type_until(self, done: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < deadline, f"not done; {len(self.desk.sends())} sends"
            self.typist.type_a_while()

    def type_through(self, number: int, seconds: float = 30) -> Json:
        """Types until a request is answered; its result."""
        self.type_until(lambda: self.desk.answer(number) is not None, seconds)
        return self.desk.wait(number)

    def type_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.type_until(lambda: time.monotonic() > end, seconds + 10)

    def turn(self) -> str:
        """Types through a whole turn; its id."""
        result = self.type_through(self.desk.prompt("Go."), 60 + 2 * len(self.edits))
        assert result["stopReason"] == "endTurn", result
        return result["turnId"]

    def end(self) -> Tally:
        """The turn does not wait long for a person who types all the time: what was then on its
        way comes once nobody does."""
        sent = -1
        while sent != (sent := len(self.desk.sends())):
            time.sleep(FLUSHED)
        return tally(self.desk, self.typist, self.lines)


def hosted(desk: Desk, seed: int, count: int) -> Tally:
    """``count`` edits in one turn, at random times, beside a person at the keyboard."""
    sitting = Sitting(desk, seed, count)
    sitting.begin()
    sitting.turn()
    result = sitting.end()
    made = by_all(desk, "agent")
    for each, outcome, is_in in told(result, desk, sitting.edits):
        for mark in each.there:
            result.differ(mark, made[mark], int(is_in), outcome.text)
        for mark in each.gone:
            result.differ(mark, made[mark], -int(is_in), outcome.text)
    return result


def reviewed(desk: Desk, seed: int, count: int) -> Tally:
    """The same, with a person who undoes and keeps single hunks, in the middle of the turn and
    after it, and types on.

    Undoing by ``u`` as well is left to the tests of single steps: after line breaks typed beside
    an edit Neovim's own undo puts lines in wrong places, and then nobody can say what is right.
    """
    sitting = Sitting(desk, seed, count)
    sitting.typist.undoing = 0
    reviewer = Reviewer(desk, sitting.rng)
    sitting.typist.meanwhile = reviewer.act
    sitting.begin()
    sitting.turn()
    sitting.type_until(lambda: reviewer.undone + reviewer.kept >= count // 2, 40)
    reviewer.eager = 0
    sitting.type_until(lambda: not reviewer.busy, 10)
    result = sitting.end()
    result.undone, result.kept, result.compared = reviewer.undone, reviewer.kept, reviewer.compared
    result.said.update(reviewer.said)
    result.wrong += reviewer.wrong
    statuses = by_call(desk)
    now = states(sitting.edits, desk.nvim.lines())
    for is_, (each, outcome, is_in) in zip(now, told(result, desk, sitting.edits), strict=True):
        listed = statuses.get(outcome.call_id, [])
        status = listed[0] if listed else "rejected"
        wanted: State = "in" if is_in and status in {"applied", "kept"} else "out"
        # What an undo brought back or took away again is the person's; of hunks that were joined
        # by typing, the older goes where the newer goes; what could not be told apart stayed.
        undone = not result.undone_by_person.isdisjoint(each.marks)
        if is_ != "torn" and (undone or status in {"superseded", "conflict"}):
            continue
        why = f"listed: {listed}; the agent was told: {outcome.text!r}; {history(desk, each)}"
        result.expect(each, is_, wanted, why)
    return result


def by_call(desk: Desk) -> dict[str, list[str]]:
    """The statuses of the hunks of each tool call."""
    found: dict[str, list[str]] = {}
    for each in desk.edits():
        hunks = [hunk["status"] for hunk in each["hunks"]]
        found.setdefault(each["toolCallId"], []).extend(hunks or [each["status"]])
    return found


def reverted(desk: Desk, seed: int, count: int, *, apart: bool) -> Tally:
    """Two turns of ``count`` edits; the last one is taken back, and brought back again, while the
    person types, in other lines than the agent if ``apart``. Where they meet in a word the
    revert may say that it cannot be made, and then changes nothing."""
    sitting = Sitting(desk, seed, count, turns=2)
    sitting.typist.apart = apart
    sitting.begin()
    sitting.turn()
    sitting.typist.undoing = 0  # an undo would take the whole revert back
    sitting.turn()
    sitting.type_for(1)
    first, last = sitting.turns
    before = states(last, desk.nvim.lines())
    earlier = states(first, desk.nvim.lines())

    done = sitting.type_through(desk.send("agent/revert"))
    outcomes = [file["outcome"] for file in done["files"]]
    is_out = outcomes in (["merged"], ["restored"])
    after = states(last, desk.nvim.lines())
    sitting.type_for(1)
    back = sitting.type_through(desk.send("agent/revert", turnId=done["revertId"]))
    sitting.type_for(1)

    result = sitting.end()
    for _ in told(result, desk, sitting.edits):
        pass
    result.reverted = sum(
        was == "in" and is_ == "out" for was, is_ in zip(before, after, strict=True)
    )
    if not is_out:
        result.said["conflict"] += 1
    for each, was, is_ in zip(last, before, after, strict=True):
        result.expect(each, is_, "out" if is_out else was, f"after the revert: {done}")
    if is_out and [file["outcome"] for file in back["files"]] == ["conflict"]:
        result.said["conflict"] += 1
        before = after
    now = states(last, desk.nvim.lines())
    result.back = sum(was == "out" and is_ == "in" for was, is_ in zip(after, now, strict=True))
    for each, was, is_ in zip(last, before, now, strict=True):
        result.expect(each, is_, was, f"after the revert was taken back: {back}")
    for each, was, is_ in zip(first, earlier, states(first, desk.nvim.lines()), strict=True):
        result.expect(each, is_, was, "of the earlier turn")
    return result


def mirrored(desk: Desk, seed: int, count: int) -> Tally:
    """An agent that writes the file by itself, under a document with unsaved text."""
    sitting = Sitting(desk, seed, count)
    sitting.begin(hosting="mirror")
    sitting.typist.type_a_while()
    sitting.turn()
    assert desk.call("agent/state")["hosting"] == "mirror"
    result = sitting.end()
    disk = (desk.folder / NAME).read_text()
    proposals = [change_of(each) for each in desk.edits(status="proposed")]
    now = states(sitting.edits, desk.nvim.lines())
    written = states(sitting.edits, disk.split("\n"))
    for is_, on_disk, (each, outcome, is_in) in zip(
        now, written, told(result, desk, sitting.edits), strict=True
    ):
        result.expect(each, on_disk, "in" if is_in else "out", "on disk")
        # A proposal is of the call that was at work when the disk was looked at: the next one,
        # where calls follow each other quickly.
        proposed = is_ == "out" and any(makes(by, each) for by in proposals)
        result.said["proposed"] += proposed
        result.applied -= proposed
        if result.undone_by_person.isdisjoint(each.marks):
            result.expect(each, is_, "out" if proposed or not is_in else "in", outcome.text)
    desk.nvim.command("silent write!")
    if (desk.folder / NAME).read_text() != desk.nvim.text():
        result.wrong.append("the file is not what the editor wrote")
    return result


def killed(desk: Desk, seed: int, count: int) -> Tally:
    """The server is killed in the middle of a turn; the person types on, and starts another.

    There is another server for the file, as there mostly is: a Neovim whose only one is gone
    stops counting the changes of the text, and the next server is never told of any.
    """
    sitting = Sitting(desk, seed, count)
    desk.nvim.command("set cmdheight=6")  # it says at length that the server is gone
    sitting.begin()
    desk.neighbour()
    sitting.desk.prompt("Go.")
    sitting.type_until(lambda: taken(desk) >= count // 2, 20)
    server = desk.server()
    theirs = server.children(recursive=True)
    server.kill()
    server.wait()
    at_kill = taken(desk)
    sitting.type_for(3)
    wait_until(lambda: not any(alive(process) for process in theirs))
    assert taken(desk) - at_kill <= 1, "edits go on without a server"

    desk.start_again()
    sitting.type_for(1)
    result = sitting.end()
    result.edits = at_kill
    lines = desk.nvim.lines()
    listed = desk.edits()
    for each, is_ in zip(sitting.edits, states(sitting.edits, lines), strict=True):
        found = [e for e in listed for h in e["hunks"] if set(each.marks) & set(words_of(h))]
        status = found[-1]["status"] if found else "none"
        result.applied += is_ == "in"
        result.said[status] += status in {"lost", "unknown"}
        if is_ == "torn" or result.undone_by_person.isdisjoint(each.marks):
            wanted: State = "in" if status in {"applied", "superseded"} else "out"
            result.expect(each, is_, is_ if status == "unknown" else wanted, f"{status}: {found}")
    for hunk in (h for e in listed for h in e["hunks"] if h["status"] == "applied"):
        if lines_of(hunk, lines) != hunk["newText"]:
            result.wrong.append(f"not where the new server says: {hunk}")
    return result


def taken(desk: Desk) -> int:
    """How many of the server's edits went into the text."""
    return sum(made["by"] == "agent" for made in desk.steps())


def change_of(edit: Json) -> Words:
    """By how much a listed edit would change the count of each word."""
    by = counted(hunk["newText"] for hunk in edit["hunks"])
    by.subtract(counted(hunk["oldText"] for hunk in edit["hunks"]))
    return by


def makes(by: Words, made: AgentEdit) -> bool:
    """Whether a change of words puts in what an edit does, or takes out what only goes."""
    if made.there:
        return all(by[mark] > 0 for mark in made.there)
    return all(by[mark] < 0 for mark in made.gone)


def words_of(hunk: Json) -> Iterable[str]:
    return counted([hunk["oldText"], hunk["newText"]])
