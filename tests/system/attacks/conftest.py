"""A table of the attacks and what they came to, at the end of the run."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ground import Ground, new_ground

Report = Callable[[str, str, str, str], None]


@pytest.fixture
def report(record_property: Callable[[str, object], None]) -> Report:
    """``report(attack, mode, outcome, message)`` adds a row; a test that fails adds none."""

    def add(attack: str, mode: str, outcome: str, message: str) -> None:
        record_property("attack", (attack, mode, outcome, message))

    return add


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    with new_ground(tmp_path) as made:
        yield made


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows: dict[str, dict[str, tuple[str, str]]] = {}
    for result in terminalreporter.stats.get("passed", []):
        for name, row in result.user_properties if result.when == "call" else ():
            if name == "attack":
                attack, mode, outcome, message = row
                rows.setdefault(attack, {})[mode] = (outcome, message)
    if not rows:
        return
    terminalreporter.section("attacks and what they came to")
    width = max(map(len, rows))
    for attack, outcomes in rows.items():
        alike = len(outcomes) > 1 and len(set(outcomes.values())) == 1
        shown = {"both": next(iter(outcomes.values()))} if alike else outcomes
        for mode, (outcome, message) in shown.items():
            terminalreporter.write_line(f"{attack:{width}}  {mode:6}  {outcome:8}  {message}")
    modes = [mode for outcomes in rows.values() for mode in outcomes]
    counts = ", ".join(f"{modes.count(mode)} {mode}" for mode in dict.fromkeys(modes))
    terminalreporter.write_line(f"{len(rows)} attacks: {counts}; the decoys are as they were")
