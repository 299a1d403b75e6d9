"""An agent in a sandbox of its own is supervised as any other."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from support.far_hosts import PUBLIC, FarHosts

from lsp_agent.agents.process import AgentProcess
from lsp_agent.sandbox import bubblewrap, landlock
from lsp_agent.sandbox.hold import Holder, Way
from lsp_agent.sandbox.places import find, for_agent

BUBBLEWRAP = pytest.param(bubblewrap.working, marks=pytest.mark.bubblewrap, id="bubblewrap")
LANDLOCK = pytest.param(landlock.working, marks=pytest.mark.landlock, id="landlock")
#: Answers each line with a frame, after starting a command in a session of its own.
AGENT = """
while read -r line; do
    setsid sleep 600 &
    echo '{"up": true}'
done
"""


@pytest.fixture(params=[BUBBLEWRAP, LANDLOCK])
def working(request: pytest.FixtureRequest) -> Callable[[], Holder]:
    return request.param


@pytest.mark.asyncio
async def test_a_stopped_turn_ends_its_commands_and_not_the_agent(
    working: Callable[[], Holder], tmp_path: Path
) -> None:
    hold = for_agent(find([str(tmp_path)], home="/none", runtime=""), [])
    held = working().words(hold, str(tmp_path))
    process = await AgentProcess.start(
        ["sh", "-c", AGENT],
        cwd=str(tmp_path),
        env={},
        line_bytes=1000,
        held=held,
    )
    answers = process.batches()
    try:
        with anyio.fail_after(30):
            await process.send({})
            assert await anext(answers) == [{"up": True}]
            await process.keep(workers=True)
            await process.send({})
            assert await anext(answers) == [{"up": True}]
            assert await process.kill_commands() == 1
            await process.send({})
            assert await anext(answers) == [{"up": True}]
    finally:
        ended = await process.stop(5)
    assert ended.code == 0


#: The one that the virtual environment was made of, which lies in no folder for others.
PYTHON = os.path.realpath(sys.executable)
REACHES = """
import sys, subprocess, urllib.request
for line in sys.stdin:
    subprocess.Popen(["setsid", "sleep", "600"])
    try:
        said = urllib.request.urlopen("http://python.org/").read().decode()
    except OSError as error:
        said = str(error)
    print('{"said": "%s"}' % said, flush=True)
"""


@pytest.mark.bubblewrap
@pytest.mark.asyncio
async def test_one_that_is_led_to_hosts_still_is_once_its_commands_were_ended(
    tmp_path: Path,
) -> None:
    far = FarHosts(["python.org"], {"python.org": PUBLIC})
    async with far.door(str(tmp_path / "door")) as door:
        way = Way(door.path, door.ticket(lambda _host: None))
        hold = for_agent(find([str(tmp_path)], home="/none", runtime=""), [], way)
        process = await AgentProcess.start(
            [PYTHON, "-ISc", REACHES],
            cwd=str(tmp_path),
            env={},
            line_bytes=1000,
            held=bubblewrap.working().words(hold, str(tmp_path)),
        )
        answers = process.batches()
        try:
            with anyio.fail_after(30):
                for _ in range(2):
                    await process.send({})
                    assert await anext(answers) == [{"said": "hello"}]
                    await process.keep(workers=True)
                    await process.send({})
                    assert await anext(answers) == [{"said": "hello"}]
                    assert await process.kill_commands() == 1
        finally:
            await process.stop(5)
