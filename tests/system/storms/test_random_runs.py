"""Random runs of everything at once; a failing one is named by its seed and told step by step.

STORM_SEED=4711 pytest tests/system/storms -k one_seed -s     repeats one run
"""

import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
import pytest
from support.scripted_editor import VirtualClock, run
from support.storm_world import World, without_threads

#: Runs of a batch, some 10 ms each; CI makes ten thousand, ``make fuzz`` as many as one likes.
BATCH = 2_500
QUICK = 150
BATCHES = 4
#: Seeds beyond them that went wrong once.
FOUND = (11_815, 28_788, 924_245)

WEIGHTS = {
    "type": 6,
    "delete": 1,
    "edit": 5,
    "two edits": 2,
    "propose": 1.5,
    "command": 1.5,
    "keep": 0.7,
    "apply": 1.2,
    "reject": 1.5,
    "save": 1,
    "close": 0.5,
    "open": 1,
    "revert": 0.7,
}


@pytest.fixture
def folder() -> Iterator[Path]:
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    made = Path(tempfile.mkdtemp(prefix="lsp-agent-storm-", dir=fast))
    yield made
    shutil.rmtree(made)


def steps_of(chance: random.Random) -> list[str]:
    steps = chance.choices(list(WEIGHTS), list(WEIGHTS.values()), k=chance.randint(3, 9))
    if chance.random() < 0.5:  # then everything can be undone, to the letter
        steps = [step for step in steps if step not in ("keep", "delete")]
    return steps


async def live(world: World, steps: list[str]) -> list[str]:
    chance = world.chance
    if chance.random() < 0.85:
        await world.open()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.host.put_right_late)
        for step in steps:
            await one_step(world, step)
            if chance.random() < 0.3:
                await world.settle()
        await world.settle()
        await anyio.sleep(1)
        wrong = world.agreed() or await world.without_agents()
        tasks.cancel_scope.cancel()
    return wrong


async def one_step(world: World, step: str) -> None:
    session = world.chance.choice(("s1", "s2"))
    match step:
        case "type":
            world.type()
        case "delete":
            world.delete()
        case "edit":
            await world.edit(session)
        case "two edits":
            async with anyio.create_task_group() as both:
                both.start_soon(world.edit, "s1")
                both.start_soon(world.edit, "s2")
                await anyio.sleep(world.chance.choice((0, 0.001, 0.002, 0.1)))
                world.type()
        case "propose":
            await world.edit(session, "before")
        case "command":
            await world.command(session)
        case "save":
            await world.save(formats=world.chance.random() < 0.3)
        case "close":
            await world.close()
        case "open":
            await world.open()
        case "revert":
            await world.revert()
        case _:
            await world.decide(step)


def one_run(folder: Path, seed: int) -> tuple[list[str], list[str]]:
    """What went wrong, and what happened."""
    chance = random.Random(seed)
    steps = steps_of(chance)
    here = folder / str(seed)
    here.mkdir()
    worlds: list[World] = []

    async def main(clock: VirtualClock) -> list[str]:
        world = World(here, chance, clock)
        worlds.append(world)
        return await live(world, steps)

    try:
        with without_threads():
            try:
                wrong = run(main)
            except Exception as error:  # noqa: BLE001 - any failure is named by its seed
                wrong = [f"it failed: {error!r}"]
            for world in worlds:
                world.close_all()
    finally:
        shutil.rmtree(here)
    return wrong, [steps.__repr__(), *(worlds[0].log if worlds else [])]


def batch(folder: Path, seeds: Sequence[int]) -> None:
    failures: dict[int, list[str]] = {}
    for seed in seeds:
        wrong, _ = one_run(folder, seed)
        if wrong:
            failures[seed] = wrong
    kinds = Counter(wrong[0].split("«")[0][:60] for wrong in failures.values())
    told = "\n".join(f"seed {seed}: {wrong[0]}" for seed, wrong in list(failures.items())[:20])
    assert not failures, f"{len(failures)} of {len(seeds)} runs: {dict(kinds)}\n{told}"


def test_nothing_is_lost_in_some_random_runs(folder: Path) -> None:
    batch(folder, range(QUICK))


@pytest.mark.slow
@pytest.mark.xdist_group("storms")
@pytest.mark.parametrize("number", range(BATCHES))
def test_nothing_is_lost_in_many_random_runs(folder: Path, number: int) -> None:
    batch(folder, range(number * BATCH, (number + 1) * BATCH))


def test_nothing_is_lost_in_runs_that_lost_something_once(folder: Path) -> None:
    batch(folder, FOUND)


def test_one_seed(folder: Path) -> None:
    seed = int(os.environ.get("STORM_SEED", "0"))
    wrong, log = one_run(folder, seed)
    print("\n".join(log))
    assert wrong == []
