"""What the faults came to: a table of points and outcomes at the end of the run."""

from collections import Counter

import pytest


@pytest.fixture
def outcome(record_property, request):
    """``outcome(what, came_to)`` adds a row; a test that fails adds none."""

    def add(what: str, came_to: str) -> None:
        record_property("fault", (what, came_to))

    return add


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows: Counter[tuple[str, str]] = Counter()
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties if report.when == "call" else ():
            if name == "fault":
                rows[value[0], value[1]] += 1
    if not rows:
        return
    terminalreporter.section("faults: points and what they came to")
    width = max(len(what) for what, _ in rows)
    for (what, came_to), count in sorted(rows.items()):
        terminalreporter.write_line(f"{count:5}  {what:{width}}  {came_to}")
    terminalreporter.write_line(f"{sum(rows.values()):5}  in all")
