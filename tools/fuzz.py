"""Fresh seeds, for as long as it is told: the storms of provenance at a real server and in virtual
time, the storms of tests/system/storms, command lines that are judged to only read, and the
property tests, those of mutated recordings among them. ``make fuzz MINUTES=n``.

What goes wrong is printed at once, with what repeats it; the exit code is then 1.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "system")]

from provenance.desk import Desks  # noqa: E402 - the folder of the tests is named above
from provenance.many import Tally, tallied, told  # noqa: E402
from provenance.virtual import VirtualDesks  # noqa: E402

#: Runs of a turn, some ten seconds each.
REAL, VIRTUAL, OLD = 40, 600, 400
#: Lines, of the same time.
READING = 1500


class Fuzz:
    def __init__(self, seed: int) -> None:
        self._next = seed
        self.failures = 0

    def seeds(self, count: int) -> range:
        self._next += count
        return range(self._next - count, self._next)

    def real(self) -> None:
        desks = [Desks() for _ in range(3)]
        try:
            tally = tallied(desks, self.seeds(REAL), mirror=True)
            self._say("real server", tally, desks[0], mirror=True)
        finally:
            for each in desks:
                each.close()

    def virtual(self) -> None:
        desks = VirtualDesks()
        try:
            tally = tallied([desks], self.seeds(VIRTUAL), mirror=True)
            self._say("virtual time", tally, desks, mirror=True)
        finally:
            desks.close()

    def storms(self) -> None:
        """In a process of its own: it takes other modules by the names of ours."""
        seeds = self.seeds(OLD)
        self._run("storms", [sys.executable, "-c", _STORMS, str(seeds.start), str(seeds.stop)])

    def reading(self) -> None:
        (seed,) = self.seeds(1)
        chosen = {"LSP_AGENT_READING_SEED": str(seed), "LSP_AGENT_READING_LINES": str(READING)}
        oracle = "tests/system/attacks/test_reading_oracle.py"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", oracle, "-k", "only_read_does"]
        self._run(f"reading, LSP_AGENT_READING_SEED={seed}", command, chosen)

    def properties(self) -> None:
        (seed,) = self.seeds(1)
        files = [
            str(file)
            for file in sorted(TESTS.glob("*/*/test_*.py"))
            if re.search(r"^from hypothesis|^import hypothesis", file.read_text(), re.MULTILINE)
        ]
        fresh = ("--hypothesis-profile=fresh", f"--hypothesis-seed={seed}")
        command = [sys.executable, "-m", "pytest", "-q", *fresh, "-m", "hypothesis", *files]
        self._run(f"properties, {' '.join(fresh)}", [*command, "-p", "no:cacheprovider"])

    def _say(self, name: str, tally: Tally, desks: object, *, mirror: bool) -> None:
        print(f"{name}: {tally}", flush=True)
        if tally.failed:
            self.failures += len(tally.failed)
            print(told(desks, tally, mirror=mirror, most=3), flush=True)

    def _run(self, name: str, command: list[str], chosen: Mapping[str, str] | None = None) -> None:
        done = subprocess.run(  # noqa: S603 - our own tests
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=TESTS.parent,
            env={**os.environ, **(chosen or {})},
        )
        lines = done.stdout.strip().splitlines()
        print(f"{name}: {lines[-1] if lines else 'it said nothing'}", flush=True)
        if done.returncode:
            self.failures += 1
            print(done.stdout[-6000:], done.stderr[-2000:], flush=True)


_STORMS = """
import sys, tempfile
from pathlib import Path
sys.path[:0] = ["tests", "tests/system/storms"]
from test_random_runs import one_run
with tempfile.TemporaryDirectory() as folder:
    failed = 0
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        wrong, _ = one_run(Path(folder), seed)
        if wrong:
            failed += 1
            print(f"STORM_SEED={seed} pytest tests/system/storms -k one_seed -s: {wrong[0]}")
print(f"{int(sys.argv[2]) - int(sys.argv[1])} runs, {failed} failed")
sys.exit(failed > 0)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6, 10**9))
    chosen = parser.parse_args()
    print(f"from seed {chosen.seed} on; --seed repeats it", flush=True)
    fuzz = Fuzz(chosen.seed)
    end = time.monotonic() + 60 * chosen.minutes
    works: list[Callable[[], None]] = [
        fuzz.virtual,
        fuzz.real,
        fuzz.storms,
        fuzz.reading,
        fuzz.properties,
    ]
    while time.monotonic() < end:
        for work in works:
            if time.monotonic() < end:
                work()
    print(f"{fuzz.failures} failures" if fuzz.failures else "nothing went wrong")
    return 1 if fuzz.failures else 0


if __name__ == "__main__":
    sys.exit(main())
