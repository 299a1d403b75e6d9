"""The benchmark measures everything it says it does; how fast things are is not asserted."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.holders import WAYS

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


def measured(*names: str, timeout: float) -> list[Any]:
    """The rows of those names, or all."""
    run = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", "--json", *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)["rows"]


@pytest.mark.parametrize("way", WAYS)
def test_the_way_to_a_host_is_measured_by_each_holder(way: str) -> None:
    name = f"held_by_{way}_to_a_host"
    (row,) = measured(name, timeout=60)
    assert row["name"] == name
    assert row["ours"] > 0
    assert row["ratio"] == pytest.approx(row["ours"] / row["floor"])


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_figure_comes_with_the_floor_of_the_same_run() -> None:
    rows = measured(timeout=590)
    # Those that hold a command are measured where they can, the chat where it has been built.
    names = [row["name"] for row in rows if not row["name"].startswith(("held_by_", "chat_re"))]
    assert names == [
        "start_up",
        "first_request",
        "added_delay",
        "throughput",
        "held_back",
        "slow_stop",
        "keystroke",
        "edit",
        "write_seen",
        "write_seen_many",
        "hunk_list",
        "hunk_list_kept",
        "undo",
        "revert",
        "opened_files",
        "turns_memory",
        "chat_words",
        "chat_edit",
        "chat_delay",
    ]
    for row in rows:
        assert row["floor"] > 0
        assert row["ratio"] == pytest.approx(row["ours"] / row["floor"])
        assert row["limit"]
