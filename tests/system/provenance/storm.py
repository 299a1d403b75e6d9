"""A seed makes steps, steps make a run, and a run that goes wrong is shrunk.

    replay(setup, steps)

does a run again; ``pasted`` prints one as a case of ``test_found.py``.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from provenance.desk import Desk, Desks
from provenance.editor import File
from provenance.hub import Json, Late, Refused
from provenance.oracle import Conflict, Wrong
from provenance.world import AGENTS, WORKS, Step, World

#: How often each step comes, against the others.
WEIGHTS = {
    "type": 6,
    "newline": 1.5,
    "delete": 1.5,
    "undo": 2,
    "redo": 1.2,
    "save": 1.5,
    "close": 0.8,
    "open": 1.5,
    "other": 0.5,
    "wait": 0.3,
    "read": 1.5,
    "write": 6,
    "edit": 4,
    "fail": 0.3,
    "end": 1.5,
    "keep": 1,
    "reject": 1.2,
    "apply": 0.3,
    "revert": 0.7,
    "unrevert": 0.5,
    "restart": 0.08,
}
_AGENTS_STEPS = ("read", "write", "edit", "fail", "end")
#: At most so long is waited for the server's own decisions between steps, in seconds.
_WAIT = 0.15
#: A file that an editor may be in the middle of writing is looked at again for so long.
_HALF_WRITTEN = 1.2
#: How long it may take to make true what it tells of its edits: so often, so many seconds apart.
_LOOKS, _BETWEEN_LOOKS = 400, 0.05


@dataclass
class Outcome:
    wrongs: list[tuple[str, str]] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    misfits: int = 0
    log: list[str] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        return list(dict.fromkeys(kind for kind, _ in self.wrongs))


def made(seed: int, *, mirror: bool = True) -> tuple[Json, list[Step]]:
    """The setup and steps of a seed; without ``mirror`` all agents are hosted."""
    chance = random.Random(seed)
    sessions = chance.choice((1, 1, 1, 2, 2, 3))
    setup: Json = {
        "files": chance.choice((1, 1, 2)),
        "lines": chance.choice((3, 6, 12)),
        "mirror": [n for n in range(1, sessions + 1) if chance.random() < 0.1 and mirror],
        "editor": chance.choices(("plain", "full", "bare"), (10, 8, 1))[0],
        "open": chance.random() < 0.8,
    }
    weights = dict(WEIGHTS)
    if chance.random() < 0.3:  # a quiet person, whose files are mostly closed
        weights |= {"open": 0.3, "close": 2, "restart": 0.4}
    names = chance.choices(list(weights), list(weights.values()), k=chance.randint(3, 14))
    return setup, [_numbered(chance, name, sessions) for name in names]


def overwritten(seed: int) -> tuple[Json, list[Step]]:
    """A seed's run with agents that all write the disk, and a person who saves over that in files
    that stay open. What another program writes would be the person's to lose."""
    setup, steps = made(seed)
    everyone = list(range(1, AGENTS + 1))
    left = [step for step in steps if step[0] not in ("other", "close", "restart")]
    return setup | {"mirror": everyone, "overwrites": True, "open": True}, left


def _numbered(chance: random.Random, name: str, sessions: int) -> Step:  # noqa: PLR0912
    def number(most: int = 30) -> int:
        return chance.randrange(most)

    file = number(2)
    agent = f"a{number(sessions) + 1}"
    age = chance.choice((0, 0, 0, 0, 1, 2))
    match name:
        case "type":
            return [name, file, number(), number(4)]
        case "newline" | "delete" | "other":
            return [name, file, number()]
        case "undo" | "redo" | "save" | "open":
            return [name, file]
        case "close":
            return [name, file, number(2)]
        case "wait":
            return [name]
        case "read" | "fail":
            return [name, agent, file]
        case "end":
            return [name, agent]
        case "write":
            works = [[chance.choice(WORKS), number()] for _ in range(chance.choice((1, 1, 2, 3)))]
            return [name, agent, file, age, works]
        case "edit":
            return [name, agent, file, age, [chance.choice(WORKS), number()]]
        case "keep" | "reject" | "apply":
            return [name, number(), number(4) if chance.random() < 0.6 else None]
        case "revert":
            return [name, number(), number(2)]
        case "unrevert":
            return [name, number()]
        case _:
            return ["restart", number(2), number(2)]


# -- a run

_numbers = count(1)


def one_run(desk: Desk, setup: Json, steps: list[Step], kind: type[World] = World) -> Outcome:
    world = kind.laid_out(desk, next(_numbers), setup)
    oracle = world.oracle
    try:
        if setup.get("open", True):
            for number in range(len(world.files)):
                world.open(number)
        for step in steps:
            world.log.append(repr(step))
            done(world, step)
            world.say("")
            if oracle.wrongs:
                break
        else:
            _end(world)
    except Refused as refused:
        oracle.say("refused", str(refused))
    finally:
        _leave(world)
    return Outcome(
        [(wrong.kind, wrong.what) for wrong in oracle.wrongs],
        oracle.conflicts,
        sum(mind.misfits for mind in world.minds.values()),
        world.log,
    )


def done(world: World, step: Step) -> None:
    """One step, and until the server has heard of it."""
    name, *numbers = step
    world.cause = f"the person's {name}"
    if name == "wait":
        world.desk.hub.rest(_WAIT)
    elif name in ("keep", "reject", "apply"):
        world.decide(name, *numbers)
    elif name == "redo":
        world.undo(*numbers, redo=True)
    elif name == "revert":
        world.revert(numbers[0], only=numbers[1])
    elif name == "other" and world.mirror:
        # What is written before a call is looked after, is the call's.
        desk = world.desk
        desk.hub.rest(_HALF_WRITTEN if world.may_be_half_written else desk.looks_within)
        world.other(*numbers)
    else:
        getattr(world, name)(*numbers)
    world.desk.barrier()


def _end(world: World) -> None:
    """What has to be true of every run at its end."""
    oracle = world.oracle
    for agent in list(world.open_turns):
        world.end(agent)
    world.look()
    for file in world.files:
        for wrong in _unlisted(world, file):
            oracle.say(wrong.kind, wrong.what)
    if oracle.wrongs:
        return
    outcomes = world.revert_all()
    world.say(f"all turns reverted: {outcomes}")
    for file in world.files:
        oracle.without_agents(file.name, world.now(file), outcomes.get(file.name))


def _unlisted(world: World, file: File) -> list[Wrong]:
    """What the server brings in by itself, as where a file was opened without an edit, comes a
    moment later, and on a busy machine more than one."""
    for _ in range(_LOOKS):
        hot = file.hot.text if file.hot else ""
        found = world.oracle.unlisted(file.name, world.now(file).text, world.hunks(file), hot)
        if not found:
            break
        world.desk.hub.rest(_BETWEEN_LOOKS)
    return found


def _leave(world: World) -> None:
    """The desk as the next run wants it."""
    for agent in list(world.open_turns):
        world.end(agent)
    for number in range(len(world.files)):
        world.close(number)


def replay(setup: Json, steps: list[Step]) -> Outcome:
    """A run on a server of its own."""
    desks = Desks()
    try:
        return run_on(desks, setup, steps)
    finally:
        desks.close()


def run_on(desks: Desks, setup: Json, steps: list[Step]) -> Outcome:
    restarts = any(step[0] == "restart" for step in steps)

    def work(desk: Desk) -> Outcome:
        return one_run(desk, setup, steps)

    try:
        outcome: Outcome = desks.used(work, kind=setup.get("editor", "plain"), restarts=restarts)
    except Late as late:
        outcome = Outcome([("late", str(late))])
    return outcome


# -- what is told of a run that went wrong


def shrunk(
    setup: Json,
    steps: list[Step],
    kind: str,
    run: Callable[[Json, list[Step]], Outcome],
    seconds: float,
) -> tuple[Json, list[Step]]:
    """The fewest steps that still go wrong in this way, as far as the time goes."""
    deadline = time.monotonic() + seconds

    def fails(tried: Json, some: list[Step]) -> bool:
        return time.monotonic() < deadline and kind in run(tried, some).kinds

    size = max(1, len(steps) // 2)
    while True:
        start, before = 0, len(steps)
        while start < len(steps):
            fewer = steps[:start] + steps[start + size :]
            if fails(setup, fewer):
                steps = fewer
            else:
                start += size
        if size == 1 and len(steps) == before:
            break
        size = max(1, size // 2)
    for name, plain in (("mirror", []), ("files", 1), ("editor", "plain"), ("lines", 3)):
        if setup.get(name) != plain and fails(setup | {name: plain}, steps):
            setup = setup | {name: plain}
    return setup, _simpler(setup, steps, fails)


def _simpler(
    setup: Json, steps: list[Step], fails: Callable[[Json, list[Step]], bool]
) -> list[Step]:
    """With fewer changes in each write."""
    for at in [at for at, step in enumerate(steps) if step[0] == "write"]:
        for number in range(len(steps[at][4]) - 1, -1, -1):
            step = steps[at]
            works = step[4][:number] + step[4][number + 1 :]
            tried = [*steps[:at], [*step[:4], works], *steps[at + 1 :]]
            if works and fails(setup, tried):
                steps = tried
    return steps


def pasted(name: str, setup: Json, steps: list[Step]) -> str:
    """A case that can be pasted into a ``found_*.py``, where it runs in virtual time and at a real
    server (``test_found.py``)."""
    rows = "".join(f"            {step!r},\n" for step in steps)
    return f'    "{name}": (\n        {setup!r},\n        [\n{rows}        ],\n    ),\n'
