"""The bridge and the process guard around the real embedded agent."""

import asyncio
import time
from pathlib import Path

import anyio
import pytest

from agents.hosting import Host, allow, bash, deny, embedded, forever, gate
from agents.survivors import survivors
from lsp_agent.agents.bridge import Limits
from lsp_agent.toolset.calls import Allow, ToolAnswer, ToolRequest, Verdict

READ = ("read", {"path": "a.txt"})
LINGER = "setsid sleep 600 & (setsid sleep 600 &); trap '' TERM; touch started; sleep 600 & wait"


def made_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def _exists(path: anyio.Path) -> None:
    with anyio.fail_after(5):
        while not await path.exists():  # noqa: ASYNC110 (another process makes it)
            await anyio.sleep(0.01)


@pytest.mark.asyncio
async def test_file_calls_are_answered_by_the_host(tmp_path: Path):
    calls = [READ, ("write", {"path": "b", "content": "x"}), ("edit", {"path": "c", "edits": []})]
    async with embedded(Host(), tmp_path, calls) as agent:
        results = await agent.turn()
        assert [result.text for result in results] == ["read a.txt\n", "write b\n", "edit c\n"]
        intercepted, ran = agent.host.asked("intercept"), agent.host.asked("run")
        assert [one.tool_call_id for one in intercepted] == [one.tool_call_id for one in ran]
        assert None not in [one.tool_call_id for one in ran]


@pytest.mark.asyncio
async def test_commands_are_allowed_blocked_and_gated(tmp_path: Path):
    async def by_command(request: ToolRequest) -> Verdict:
        verdicts = {"echo allowed": allow, "touch blocked": deny}
        return await verdicts.get(str(request.args["command"]), gate)(request)

    async def later(request: ToolRequest) -> Allow:
        await anyio.sleep(0.3)
        return await (deny if "refused" in str(request.args) else allow)(request)  # type: ignore

    calls = [bash("echo allowed"), bash("touch blocked"), bash("echo gated"), bash("touch refused")]
    async with embedded(Host(by_command, later), tmp_path, calls) as agent:
        allowed, blocked, gated, refused = await agent.turn()
        assert allowed.output == "allowed0"
        assert blocked.text == "Not run: the user declined this command."
        assert gated.output == "gated0"
        assert refused.text.endswith("\n\nNot run: the user declined this command.\n\n[not run]")
        assert made_in(tmp_path) == []


@pytest.mark.asyncio
async def test_a_gated_commands_time_begins_when_it_is_allowed(tmp_path: Path):
    async def later(_: ToolRequest) -> Allow:
        await anyio.sleep(0.8)
        return Allow()

    calls = [bash("sleep 0.1; echo done", timeout=0.7), bash("echo a; sleep 30", timeout=0.2)]
    async with embedded(Host(gate, later), tmp_path, calls) as agent:
        in_time, late = await agent.turn()
        assert in_time.output == "done0"
        assert late.output == "a-1"


@pytest.mark.asyncio
async def test_an_abort_while_a_gate_waits_runs_nothing_and_the_next_turn_works(tmp_path: Path):
    first = [bash("touch proof"), READ, bash("touch proof")]
    async with embedded(Host(gate, forever), tmp_path, first, [READ, bash("echo hi")]) as agent:
        await agent.prompt()
        await agent.host.until("decide")
        await agent.abort()
        await agent.results()
        assert made_in(tmp_path) == []
        assert agent.host.cancelled == ["decide"]
        assert agent.host.asked("run") == []
        agent.bridge.resume()
        agent.host.decided = allow
        assert await agent.turn() == []  # the rest of the script's first turn
        read, command = await agent.turn()
        assert read.text == "read a.txt\n"
        assert command.output == "hi0"


@pytest.mark.asyncio
async def test_an_abort_while_a_file_call_is_pending_drops_it(tmp_path: Path):
    async with embedded(Host(ran=forever), tmp_path, [READ, READ], [READ]) as agent:
        await agent.prompt()
        await agent.host.until("run")
        await agent.abort()
        await agent.results()
        assert agent.host.cancelled == ["run"]
        assert len(agent.host.asked("run")) == 1


@pytest.mark.asyncio
async def test_killing_commands_ends_what_runs_and_spares_the_bridge(tmp_path: Path):
    async with embedded(Host(), tmp_path, [READ], [bash(LINGER), READ]) as agent:
        await agent.turn()
        await agent.process.keep()
        await agent.prompt()
        await _exists(anyio.Path(tmp_path / "started"))
        assert await agent.process.kill_commands() >= 3  # its last one may not have begun
        assert len(survivors(agent.tag)) == 3  # the supervisor, the agent, the pipe
        command, read = await agent.results()
        assert command.is_error
        assert read.text == "read a.txt\n"


@pytest.mark.asyncio
async def test_while_the_servers_loop_is_blocked_the_pipe_blocks_calls(tmp_path: Path):
    async def block_the_loop(_: ToolRequest) -> Verdict:
        time.sleep(1.2)  # noqa: ASYNC251 (on purpose)
        return Allow()

    limits = Limits(pipe=0.3)
    async with embedded(
        Host(block_the_loop), tmp_path, [bash("touch proof")], limits=limits
    ) as agent:
        (result,) = await agent.turn()
        assert result.text == "Not run: the editor did not answer in time."
        assert made_in(tmp_path) == []


@pytest.mark.asyncio
async def test_a_result_too_large_becomes_an_error_and_work_goes_on(tmp_path: Path):
    async def large_first(request: ToolRequest) -> ToolAnswer:
        return ToolAnswer("x" * (5 << 20) if request.args["path"] == "a.txt" else "small")

    calls = [READ, ("read", {"path": "b.txt"})]
    async with embedded(Host(ran=large_first), tmp_path, calls) as agent:
        large, small = await agent.turn()
        assert "too large" in large.text
        assert small.text == "small"


@pytest.mark.asyncio
async def test_nothing_is_left_when_the_bridge_ends_while_a_command_runs(tmp_path: Path):
    async with embedded(Host(), tmp_path, [bash(LINGER), bash("touch proof")]) as agent:
        await agent.prompt()
        await _exists(anyio.Path(tmp_path / "started"))
        await agent.bridge.__aexit__(None, None, None)
        with anyio.fail_after(3):
            await agent.process.wait()
        assert survivors(agent.tag) == []
        assert not (tmp_path / "proof").exists()


@pytest.mark.asyncio
async def test_nothing_is_left_when_the_agent_is_stopped_while_a_command_runs(tmp_path: Path):
    async with embedded(Host(), tmp_path, [bash(LINGER)]) as agent:
        await agent.prompt()
        await _exists(anyio.Path(tmp_path / "started"))
        await agent.process.stop(0.3)
        assert survivors(agent.tag) == []


@pytest.mark.asyncio
async def test_an_ordinary_end_is_quick_and_no_loss(tmp_path: Path):
    async with embedded(Host(), tmp_path, [READ]) as agent:
        await agent.turn()
        began = time.monotonic()
        assert (await agent.process.stop(5)).code == 0
        assert time.monotonic() - began < 2
        await asyncio.sleep(0.1)
        assert not agent.bridge.lost.is_set()
