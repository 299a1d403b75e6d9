"""Uses the scripted editor and the storms' world; prints what the matrix came to."""

import sys
from collections import Counter
from pathlib import Path

import pytest

for folder in ("workspace", "storms"):
    sys.path.insert(0, str(Path(__file__).parent.parent / folder))
sys.path.insert(0, str(Path(__file__).parent))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from matrix_model import ACTIONS, REVIEWS, STATES, WAYS, cells, impossible  # noqa: PLC0415

    ran = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if report.when == "call"
        for name, value in report.user_properties
        if name == "cell"
    ]
    if not ran:
        return
    terminalreporter.section("matrix of edits")
    for title, values, place in (
        ("state", STATES, 0),
        ("action", ACTIONS, 1),
        ("way", WAYS, 2),
        ("review", REVIEWS, 3),
    ):
        counts = Counter(cell[place] for cell in ran)
        told = ", ".join(f"{value} {counts[value]}" for value in values)
        terminalreporter.write_line(f"{title}: {told}")
    every = cells()
    reasons = Counter(reason for cell in every if (reason := impossible(cell)))
    terminalreporter.write_line(
        f"{len(every)} cells, {len(ran)} run, {sum(reasons.values())} cannot exist:"
    )
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count:5}  {reason}")
