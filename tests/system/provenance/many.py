"""Many seeds, and what is told of those that went wrong."""

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from provenance.oracle import Conflict
from provenance.storm import Outcome, made, pasted, run_on, shrunk

#: For the shrinking of one run that went wrong.
SECONDS = 60.0


@dataclass
class Tally:
    """``failed`` are the kinds of what went wrong, by seed, and ``logs`` what was done then."""

    runs: int = 0
    failed: dict[int, str] = field(default_factory=dict)
    logs: dict[int, list[str]] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)

    def add(self, seed: int, outcome: Outcome) -> None:
        self.runs += 1
        self.conflicts += outcome.conflicts
        if outcome.wrongs:
            self.failed[seed] = outcome.kinds[0]
            self.logs[seed] = [*map(str, outcome.wrongs), *outcome.log]

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
    """What is wrong, with a test of the fewest steps for the first seeds of ``most`` kinds."""
    seeds = {kind: seed for seed, kind in reversed(tally.failed.items())}
    tests = [
        least(desks, seed, mirror=mirror, first=tally.logs[seed])
        for seed in list(seeds.values())[:most]
    ]
    return "\n".join([str(tally), *(f"seed {s}: {k}" for s, k in tally.failed.items()), *tests])


def least(desks: Any, seed: int, *, mirror: bool, first: Sequence[str] = ()) -> str:
    """The run of that seed with the fewest steps, as a test, and what went wrong in it; the
    ``first`` run's log where it goes well when it is repeated."""
    setup, steps = made(seed, mirror=mirror)
    outcome = run_on(desks, setup, steps)
    if not outcome.wrongs:
        return "\n".join([f"seed {seed} went well when it was repeated; it was", *first])
    kind = outcome.kinds[0]
    setup, steps = shrunk(setup, steps, kind, lambda *run: run_on(desks, *run), SECONDS)
    outcome = run_on(desks, setup, steps)
    wrong = "\n".join(f"{kind}: {what}" for kind, what in outcome.wrongs)
    return "\n".join([pasted(f"seed_{seed}", setup, steps), wrong, *outcome.log])
