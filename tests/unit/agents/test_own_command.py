"""A command that is run in an agent's place."""

import sys
from pathlib import Path

import pytest

from lsp_agent.agents.own_command import CommandEnd, run_command

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="its supervisor needs Linux")


async def run(folder: Path, command: str, seconds: float | None = None) -> tuple[CommandEnd, str]:
    """Its end, and what was told as it came."""
    told: list[str] = []
    end = await run_command(
        command,
        cwd=str(folder),
        env={},
        hidden=(),
        on_output=told.append,
        seconds=seconds,
        overdue="[too late]",
    )
    return end, "".join(told)


@pytest.mark.asyncio
async def test_of_a_long_output_both_ends_are_shown(tmp_path: Path) -> None:
    end, told = await run(tmp_path, "seq 20000; echo the error; exit 3")
    assert end.code == 3
    assert "\n1\n2\n" in end.text
    assert "... [its end:]\n" in end.text
    assert "\n20000\nthe error\n\n[exit 3]" in end.text
    assert told.startswith("1\n2\n")
    assert "the error" not in told


@pytest.mark.asyncio
async def test_one_that_takes_too_long_is_called_so(tmp_path: Path) -> None:
    end, _ = await run(tmp_path, "echo begun; sleep 60", seconds=1)
    assert end.code == -1
    assert "\nbegun\n[too late]\n\n[exit -1]" in end.text


@pytest.mark.asyncio
async def test_one_that_was_killed_is_not_called_late(tmp_path: Path) -> None:
    end, _ = await run(tmp_path, "kill -9 $$", seconds=20)
    assert end.code != 0
    assert "too late" not in end.text
