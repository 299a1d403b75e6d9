"""Uses the scripted editor and the storms' world, real servers and their kills; prints what the
matrix came to."""

from collections import Counter
from typing import Any

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ran = _told(terminalreporter, "cell")
    clients = Counter(_told(terminalreporter, "cell in a client"))
    faults = Counter(_told(terminalreporter, "fault point"))
    mirror_faults = Counter(_told(terminalreporter, "mirror fault point"))
    kills = sorted(_told(terminalreporter, "kill"))
    if ran or clients or faults or mirror_faults or kills:
        terminalreporter.section("matrix of edits")
    if ran:
        _tell_cells(terminalreporter, ran)
    for title, counts in (
        ("cells more in other clients", clients),
        ("runs with a fault injected into a hosted edit", faults),
        ("runs with a fault injected on the way from the disk", mirror_faults),
    ):
        if counts:
            terminalreporter.write_line(f"{sum(counts.values())} {title}:")
        for name, count in counts.items():
            terminalreporter.write_line(f"{count:5}  {name}")
    if kills:
        terminalreporter.write_line(f"{len(kills)} runs with a real kill:")
        for cell, came_to in kills:
            terminalreporter.write_line(f"       {cell}: {came_to}")


def _told(terminalreporter: pytest.TerminalReporter, wanted: str) -> list[Any]:
    """The properties of this name of the tests that ran."""
    return [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if report.when == "call"
        for name, value in report.user_properties
        if name == wanted
    ]


def _tell_cells(terminalreporter: pytest.TerminalReporter, ran: list[Any]) -> None:
    from matrix_model import ACTIONS, REVIEWS, STATES, WAYS, cells, impossible  # noqa: PLC0415

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
