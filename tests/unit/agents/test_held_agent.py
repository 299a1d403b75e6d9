"""An agent in a sandbox of its own is supervised as any other."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from lsp_agent.agents.process import AgentProcess
from lsp_agent.sandbox import bubblewrap, landlock
from lsp_agent.sandbox.hold import Holder
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
