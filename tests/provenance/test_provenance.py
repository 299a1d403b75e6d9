"""A person and agents at a real server, and an oracle that knows who wrote each word.

STORM_SEED=4711 pytest tests/provenance -k one_seed -s     repeats one run and shrinks it
"""

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from provenance.oracle import Conflict
from provenance.storm import Desks, Outcome, made, pasted, run_on, shrunk

#: Runs of a batch; CI makes two thousand.
BATCH = 100
BATCHES = 20
QUICK = 20
#: For the shrinking of one run that went wrong.
_SECONDS = 60.0


#: Runs wait more than they work: an edit waits for the next key of a person who is typing.
_AT_ONCE = 4


@pytest.fixture(scope="module")
def desks() -> Iterator[list[Desks]]:
    made_here = [Desks() for _ in range(_AT_ONCE)]
    yield made_here
    for each in made_here:
        each.close()


def outcomes(desks: list[Desks], seeds: range) -> dict[int, Outcome]:
    """Each run's, by its seed."""

    def some(of: int) -> dict[int, Outcome]:
        return {seed: run_on(desks[of], *made(seed)) for seed in seeds[of :: len(desks)]}

    found: dict[int, Outcome] = {}
    with ThreadPoolExecutor(len(desks)) as pool:
        for each in pool.map(some, range(len(desks))):
            found |= each
    return dict(sorted(found.items()))


def batch(desks: list[Desks], seeds: range) -> None:
    failed: dict[int, str] = {}
    conflicts: list[Conflict] = []
    for seed, outcome in outcomes(desks, seeds).items():
        conflicts += outcome.conflicts
        if outcome.wrongs:
            failed[seed] = outcome.kinds[0]
    needed = sum(conflict.needed for conflict in conflicts)
    print(f"{len(seeds)} runs; {len(conflicts)} conflicts, {needed} of them needed")
    if failed:
        first = next(iter(failed))
        told = "\n".join(f"seed {seed}: {kind}" for seed, kind in failed.items())
        counts = dict(Counter(failed.values()))
        least_of_first = least(desks[0], first)
        pytest.fail(f"{len(failed)} of {len(seeds)} runs: {counts}\n{told}\n\n{least_of_first}")


def least(desks: Desks, seed: int) -> str:
    """The run of that seed with the fewest steps, as a test, and what went wrong in it."""
    setup, steps = made(seed)
    outcome = run_on(desks, setup, steps)
    if not outcome.wrongs:
        return f"seed {seed} went well when it was repeated"
    setup, steps = shrunk(
        setup, steps, outcome.kinds[0], lambda *run: run_on(desks, *run), _SECONDS
    )
    outcome = run_on(desks, setup, steps)
    wrong = "\n".join(f"{kind}: {what}" for kind, what in outcome.wrongs)
    return "\n".join([pasted(f"seed_{seed}", setup, steps), wrong, *outcome.log])


def test_no_word_is_lost_in_some_runs(desks: list[Desks]) -> None:
    batch(desks, range(QUICK))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(BATCHES))
def test_no_word_is_lost_in_many_runs(desks: list[Desks], number: int) -> None:
    batch(desks, range(number * BATCH, (number + 1) * BATCH))


def test_one_seed(desks: list[Desks]) -> None:
    seed = int(os.environ.get("STORM_SEED", "0"))
    outcome = run_on(desks[0], *made(seed))
    print("\n".join(outcome.log))
    assert outcome.wrongs == [], least(desks[0], seed)
