"""A table of what became of the edits, by client and by where the person typed."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from counts import COLUMNS, Counts
from typing_client import TypingProject


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TypingProject]:
    # Sockets' addresses are short: pytest's own folders are too deep for them.
    runtime = Path(tempfile.mkdtemp(prefix="la-"))
    made = TypingProject(tmp_path, runtime)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(runtime, ignore_errors=True)


@pytest.fixture
def report(record_property: Callable[[str, object], None]) -> Callable[[str, Counts], None]:
    """``report(client, counts)`` adds to the table."""

    def add(client: str, counts: Counts) -> None:
        rows = [(client, point, column, n) for (point, column), n in counts.items()]
        record_property("edits", rows)

    return add


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    table: dict[tuple[str, str], Counter[str]] = {}
    for outcome in ("passed", "failed"):
        for result in terminalreporter.stats.get(outcome, []):
            for name, rows in result.user_properties if result.when == "call" else ():
                for client, point, column, n in rows if name == "edits" else ():
                    table.setdefault((client, point), Counter())[column] += n
    if not table:
        return
    total: Counter[str] = Counter()
    terminalreporter.section("edits under typing, the real server over stdio")
    heads = "".join(f"{column:>9}" for column in COLUMNS)
    terminalreporter.write_line(f"{'client':34} {'key typed':16}{heads}")
    for (client, point), row in [*table.items(), (("in all", ""), total)]:
        cells = "".join(f"{row[column]:9}" for column in COLUMNS)
        terminalreporter.write_line(f"{client:34} {point:16}{cells}")
        if row is not total:
            total.update(row)
