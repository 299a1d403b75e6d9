"""A change of a closed file killed (-9) at each point of its way, and the restart after it."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from crash_job import POINTS
from support.restarts import LINES, TWO, a_run

from lsp_agent.workspace import recovery

pytestmark = pytest.mark.sampled

JOB = Path(__file__).with_name("crash_job.py")
TEXTS = {"create": (None, LINES), "change": (LINES, TWO), "delete": (LINES, None)}
#: A deletion writes no temporary file.
_NO_FILE_WRITTEN = {point for point in POINTS if "temporary" in point or "rename" in point}
CELLS = [
    (what, point)
    for what in TEXTS
    for point in POINTS
    if what != "delete" or point not in _NO_FILE_WRITTEN
]


@pytest.mark.asyncio
@pytest.mark.parametrize(("what", "point"), CELLS)
async def test_after_a_kill_the_ledger_tells_what_is_on_disk(
    tmp_path: Path,
    what: str,
    point: str,
    outcome: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recovery, "GRACE_SECONDS", 0)
    command = [sys.executable, str(JOB), str(tmp_path), point, what]
    found_by_it = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    job = await anyio.run_process(command, check=False, env=found_by_it)
    assert job.returncode == -signal.SIGKILL, job.stderr.decode()
    before, after = TEXTS[what]
    async with a_run(tmp_path) as run:

        def disk() -> str | None:
            return run.file.read_text() if run.file.exists() else None

        found = disk()
        assert found in (before, after)
        await run.judge()
        assert disk() == found
        assert not [name for name in os.listdir(tmp_path) if name.startswith(".lsp-agent-")]  # noqa: PTH208
        statuses = run.statuses()
        if found == after:
            assert (statuses, run.said) == (["applied"], [])
            assert len(run.marks(found or "")) == 1
            come_to = "in, with its mark"
        elif statuses:
            assert statuses == ["lost"]
            assert len(run.said) == 1
            placed = await run.host.accept(run.ledger.changes()[0].id)
            assert (placed.status, disk()) == ("applied", after)
            come_to = "lost, said, applied again"
        else:
            assert point == "before it is recorded"
            come_to = "never made"
    outcome(f"killed, {what}: {point}", come_to)
