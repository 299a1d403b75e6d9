"""The same person, agents and oracle without processes, ten milliseconds a run.

STORM_SEED=4711 pytest tests/system/provenance/test_provenance_in_virtual_time.py -k one_seed -s

repeats one run, and shrinks it if it goes wrong.
"""

import os
from collections.abc import Iterator

import pytest

from provenance.many import least, tallied, told
from provenance.storm import made, overwritten, pasted, run_on
from provenance.virtual import VirtualDesks

#: Runs of a batch; CI makes three thousand, ``make fuzz`` as many as one likes.
BATCH = 1_500
BATCHES = 2
QUICK = 150


@pytest.fixture
def desks() -> Iterator[VirtualDesks]:
    made_here = VirtualDesks()
    yield made_here
    made_here.close()


def batch(desks: VirtualDesks, seeds: range) -> None:
    tally = tallied([desks], seeds, mirror=True)
    print(tally)
    if tally.failed:
        pytest.fail(told(desks, tally, mirror=True))


def test_no_word_is_lost_in_some_runs(desks: VirtualDesks) -> None:
    batch(desks, range(QUICK))


def test_no_word_is_lost_where_an_editor_saves_over_what_agents_have_written(
    desks: VirtualDesks,
) -> None:
    for seed in range(QUICK):
        run = overwritten(seed)
        outcome = run_on(desks, *run)
        assert not outcome.wrongs, pasted(f"seed {seed}", *run)


@pytest.mark.slow
@pytest.mark.xdist_group("storms")
@pytest.mark.parametrize("number", range(BATCHES))
def test_no_word_is_lost_in_many_runs(desks: VirtualDesks, number: int) -> None:
    batch(desks, range(number * BATCH, (number + 1) * BATCH))


def test_one_seed(desks: VirtualDesks) -> None:
    seed = int(os.environ.get("STORM_SEED", "0"))
    outcome = run_on(desks, *made(seed, mirror=True))
    print("\n".join(outcome.log))
    if outcome.wrongs:
        pytest.fail(least(desks, seed, outcome, mirror=True))
