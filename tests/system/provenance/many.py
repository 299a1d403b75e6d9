"""Many seeds, and what is told of those that went wrong."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from provenance.hub import Json
from provenance.oracle import Conflict
from provenance.storm import Outcome, made, pasted, run_on, shrunk
from provenance.world import Step

#: For the shrinking of one run that went wrong.
SECONDS = 60.0


@dataclass
class Tally:
    """``failed`` are the kinds of what went wrong, by seed, and ``outcomes`` those runs."""

    runs: int = 0
    failed: dict[int, str] = field(default_factory=dict)
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)

    def add(self, seed: int, outcome: Outcome) -> None:
        self.runs += 1
        self.conflicts += outcome.conflicts
        if outcome.wrongs:
            self.failed[seed] = outcome.kinds[0]
            self.outcomes[seed] = outcome

    def __str__(self) -> str:
        needed = sum(conflict.needed for conflict in self.conflicts)
        kinds = dict(Counter(self.failed.values()))
        return (
            f"{self.runs} runs, {len(self.failed)} failed {kinds or ''}; "
            f"{len(self.conflicts)} conflicts, {needed} of them needed"
        )


def tallied(desks: Sequence[Any], seeds: Sequence[int], *, mirror: bool) -> Tally:
    """``desks`` work beside each other: runs at a real server wait more than they work."""

    def some(of: int) -> list[tuple[int, Outcome]]:
        mine = seeds[of :: len(desks)]
        return [(seed, run_on(desks[of], *made(seed, mirror=mirror))) for seed in mine]

    tally = Tally()
    if len(desks) == 1:
        found: Iterable[tuple[int, Outcome]] = some(0)
    else:
        with ThreadPoolExecutor(len(desks)) as pool:
            found = [each for part in pool.map(some, range(len(desks))) for each in part]
    for seed, outcome in sorted(found, key=lambda each: each[0]):
        tally.add(seed, outcome)
    return tally


def told(desks: Any, tally: Tally, *, mirror: bool, most: int = 1) -> str:
    """What is wrong, with a case of the fewest steps for the first seeds of ``most`` kinds."""
    seeds = {kind: seed for seed, kind in reversed(tally.failed.items())}
    tests = [
        least(desks, seed, tally.outcomes[seed], mirror=mirror)
        for seed in list(seeds.values())[:most]
    ]
    return between([str(tally), *(f"seed {s}: {k}" for s, k in tally.failed.items())], tests)


def between(wrong: Sequence[str], lines: Sequence[str]) -> str:
    """What is ``wrong`` before ``lines`` and after them: of a long output some show only the
    beginning, others only the end."""
    return "\n".join([*wrong, *lines, *wrong])


def least(desks: Any, seed: int, first: Outcome, *, mirror: bool) -> str:
    """The run of that seed with the fewest steps."""
    of = made(seed, mirror=mirror)
    return fewest(seed, first, of, lambda *run: run_on(desks, *run))


def fewest(
    seed: int,
    first: Outcome,
    of: tuple[Json, list[Step]],
    run: Callable[[Json, list[Step]], Outcome],
) -> str:
    """The fewest steps ``of`` a seed with which ``run`` goes wrong in the same way, as a case of
    ``test_found.py``, and what went wrong; the ``first`` run where it does not go wrong again."""
    setup, steps = of
    again = run(setup, steps)
    if not again.wrongs or again.kinds == ["late"]:
        came = f"seed {seed} was {again.wrongs or 'well'} when it was repeated; it was"
        return between([came, *_wrongs(seed, first)], first.log)
    setup, steps = shrunk(setup, steps, again.kinds[0], run, SECONDS)
    outcome = run(setup, steps)
    case = pasted(f"seed {seed}", setup, steps)
    return between(_wrongs(seed, outcome), [case, *outcome.log])


def _wrongs(seed: int, outcome: Outcome) -> list[str]:
    return [f"seed {seed}: {kind}: {what}" for kind, what in outcome.wrongs]
