import asyncio
import errno
import importlib.util
import os
import py_compile
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from agents.survivors import survivors, wait_until_gone
from lsp_agent.agents import process as process_module
from lsp_agent.agents.guard import path_of
from lsp_agent.agents.process import AgentGone, AgentProcess, BadLine
from lsp_agent.protocol.errors import RequestFailed

SPAWNER = str(Path(__file__).with_name("spawner.py"))
LINE_BYTES = 1 << 20
LINUX_ONLY = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what is left")


@pytest.fixture
def tag() -> str:
    return f"tag{uuid.uuid4().hex}"


class Spawner:
    """The spawner below a supervisor, with its frames one by one."""

    def __init__(self, process: AgentProcess) -> None:
        self.process = process
        self.frames = self._frames()

    async def _frames(self) -> AsyncIterator[object]:
        async for batch in self.process.batches():
            for frame in batch:
                yield frame

    async def do(self, what: str, **more: object) -> object:
        await self.process.send({"do": what, **more})
        return await anext(self.frames)

    async def rest(self) -> list[object]:
        return [frame async for frame in self.frames]


@asynccontextmanager
async def spawner(
    tag: str, *arguments: str, secrets: tuple[str, ...] = (), cwd: str = "/"
) -> AsyncIterator[Spawner]:
    process = await AgentProcess.start(
        [sys.executable, SPAWNER, tag, *arguments],
        cwd=cwd,
        env={"TAG": tag, "GIVEN": "value"},
        line_bytes=LINE_BYTES,
        secrets=secrets,
    )
    agent = Spawner(process)
    try:
        assert await anext(agent.frames) == {"ready": True}
        yield agent
    finally:
        await process.kill()


def agent_of(process: AgentProcess) -> psutil.Process:
    return psutil.Process(process.pid).children()[0]


# Frames


@pytest.mark.asyncio
async def test_frames_go_to_the_agent_and_come_back(tag: str):
    async with spawner(tag) as agent:
        assert await agent.do("echo", text="é\n") == {"do": "echo", "text": "é\n"}


@pytest.mark.asyncio
async def test_a_line_that_is_no_json_is_told_in_its_place(tag: str):
    async with spawner(tag) as agent:
        await agent.process.send({"do": "garbage", "text": 'no json\n\n \r\n{"a":1}\r\n\xff\n'})
        first, second, third = [await anext(agent.frames) for _ in range(3)]
        assert isinstance(first, BadLine)
        assert first.text == "no json"
        assert first.reason.startswith("not JSON")
        assert second == {"a": 1}
        assert isinstance(third, BadLine)


@pytest.mark.asyncio
async def test_a_line_over_the_limit_is_told_with_the_limit(tag: str):
    async with spawner(tag) as agent:
        await agent.process.send({"do": "garbage", "text": "x" * (LINE_BYTES + 1)})
        bad = await anext(agent.frames)
        assert isinstance(bad, BadLine)
        assert str(LINE_BYTES) in bad.reason
        assert "limits.line_bytes" in bad.reason
        assert len(bad.text) == 200


@pytest.mark.asyncio
async def test_what_the_agent_said_before_it_ended_is_still_read(tag: str):
    async with spawner(tag) as agent:
        await agent.process.send({"do": "flood", "bytes": 3_000_000})
        await agent.process.send({"do": "exit", "code": 3})
        frames = await agent.rest()
        assert frames[-1] == {"flooded": True}
        assert (await agent.process.wait()).code == 3


@pytest.mark.asyncio
async def test_an_agent_that_is_not_read_waits_and_costs_little_memory(tag: str):
    async with spawner(tag) as agent:
        before = psutil.Process().memory_info().rss
        await agent.process.send({"do": "flood", "bytes": 50_000_000})
        await asyncio.sleep(0.5)
        assert psutil.Process().memory_info().rss - before < 8_000_000


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_flood_of_a_gigabyte_is_read_in_bounded_memory(tag: str):
    async with spawner(tag) as agent:
        before = psutil.Process().memory_info().rss
        await agent.process.send({"do": "flood", "bytes": 1_000_000_000})
        most = read = 0
        async for frame in agent.frames:
            read += 1
            if read % 50_000 == 0:
                most = max(most, psutil.Process().memory_info().rss - before)
            if frame == {"flooded": True}:
                break
        assert read > 900_000
        assert most < 30_000_000


@pytest.mark.asyncio
async def test_sending_waits_while_the_agent_does_not_read_and_ends_with_it(tag: str):
    async with spawner(tag) as agent:
        await agent.process.send({"do": "hang"})

        async def flood() -> None:
            for _ in range(100):
                await agent.process.send({"do": "echo", "text": "x" * 100_000})

        flooding = asyncio.create_task(flood())
        done, _ = await asyncio.wait([flooding], timeout=0.3)
        assert not done
        await agent.process.kill()
        with pytest.raises(AgentGone):
            await flooding


@pytest.mark.asyncio
async def test_writing_to_an_agent_that_has_ended_raises(tag: str):
    async with spawner(tag) as agent:
        await agent.process.stop(2)
        with pytest.raises(AgentGone):
            await agent.process.send({"do": "echo"})


# Starting


@pytest.mark.asyncio
async def test_the_agent_gets_its_folder_its_variables_and_nothing_of_the_supervisor(tag: str):
    async with spawner(tag, cwd=str(Path(SPAWNER).parent)) as agent:
        assert await agent.do("facts") == {
            "cwd": str(Path(SPAWNER).parent),
            "given": "value",
            "descriptors": [0, 1, 2],
            "defaults": [True, True],
        }


@pytest.mark.parametrize(
    ("program", "cwd", "words"),
    [
        ("no-such-agent", "/", ["no-such-agent", "PATH", "Install"]),
        ("/no/such/agent", "/", ["/no/such/agent", "does not exist", "Install"]),
        (SPAWNER, "/", [SPAWNER, "is not executable"]),
        (sys.executable, "/no/such/folder", ["/no/such/folder", "Open"]),
    ],
)
@pytest.mark.asyncio
async def test_an_agent_that_cannot_be_started_says_why(program: str, cwd: str, words: list[str]):
    with pytest.raises(RequestFailed) as failed:
        await AgentProcess.start([program], cwd=cwd, env={}, line_bytes=LINE_BYTES)
    assert failed.value.kind == "agentNotFound"
    for word in words:
        assert word in str(failed.value)


@pytest.mark.parametrize(("argument", "value"), [("a\0b", "x"), ("a", "x\0"), ("half \ud83d", "x")])
@pytest.mark.asyncio
async def test_what_no_program_can_be_started_with_is_named(argument: str, value: str):
    with pytest.raises(RequestFailed, match="in its arguments or in its environment") as failed:
        await AgentProcess.start(
            ["/bin/cat", argument], cwd="/", env={"A": value}, line_bytes=LINE_BYTES
        )
    assert failed.value.kind == "notConfigured"


@pytest.mark.asyncio
async def test_a_program_that_the_system_refuses_says_why(tmp_path: Path):
    program = tmp_path / "agent"
    program.write_bytes(b"\x00\x01\x02")
    program.chmod(0o700)
    with pytest.raises(RequestFailed, match="Exec format error") as failed:
        await AgentProcess.start(["./agent"], cwd=str(tmp_path), env={}, line_bytes=LINE_BYTES)
    assert failed.value.kind == "agentNotFound"


@pytest.mark.asyncio
async def test_a_program_is_looked_for_on_the_agents_own_path(tmp_path: Path):
    (tmp_path / "agent").symlink_to("/bin/cat")
    process = await AgentProcess.start(
        ["agent"], cwd="/", env={"PATH": str(tmp_path)}, line_bytes=LINE_BYTES
    )
    assert (await process.stop(2)).code == 0


@pytest.mark.asyncio
async def test_a_command_line_that_the_system_refuses_says_why():
    with pytest.raises(RequestFailed, match="Argument list too long"):
        await AgentProcess.start(
            ["/bin/cat", "x" * 1_000_000], cwd="/", env={}, line_bytes=LINE_BYTES
        )


# Ends


@pytest.mark.asyncio
async def test_a_stopped_agent_ends_by_itself_when_its_input_ends(tag: str):
    async with spawner(tag) as agent:
        ended = await agent.process.stop(5)
        assert ended.code == 0
        assert await agent.rest() == []


@pytest.mark.asyncio
async def test_an_agent_that_stays_is_killed_after_its_grace(tag: str):
    async with spawner(tag, "--stay") as agent:
        began = time.monotonic()
        assert (await agent.process.stop(0.2)).code == -signal.SIGKILL
        assert time.monotonic() - began >= 0.2


@pytest.mark.asyncio
async def test_stopping_twice_and_waiting_tell_the_same(tag: str):
    async with spawner(tag) as agent:
        ended = await asyncio.gather(
            agent.process.stop(2), agent.process.stop(2), agent.process.wait()
        )
        assert len(set(ended)) == 1


@pytest.mark.asyncio
async def test_the_end_of_stdout_is_not_the_end_of_the_agent(tag: str):
    async with spawner(tag, "--stay") as agent:
        await agent.process.send({"do": "close"})
        assert await agent.rest() == []
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(agent.process.wait(), 0.2)
        assert (await agent.process.kill()).code == -signal.SIGKILL


@pytest.mark.asyncio
async def test_a_cancelled_scope_does_not_interrupt_a_stop(tag: str):
    async with spawner(tag, "--stay") as agent:
        with anyio.CancelScope() as scope:
            scope.cancel()
            assert (await agent.process.stop(0.1)).code == -signal.SIGKILL


@pytest.mark.asyncio
async def test_a_cancelled_task_has_its_agent_killed_at_once(tag: str):
    async with spawner(tag, "--stay") as agent:
        stopping = asyncio.create_task(agent.process.stop(60))
        await asyncio.sleep(0.05)
        stopping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopping
        assert (await agent.process.wait()).code == -signal.SIGKILL


# Nothing is left behind


@LINUX_ONLY
@pytest.mark.asyncio
async def test_nothing_is_left_of_a_start_that_is_given_up_at_any_moment(tag: str):
    for milliseconds in range(0, 60, 2):
        with anyio.move_on_after(milliseconds / 1000):
            process = await AgentProcess.start(
                ["sh", "-c", f": {tag}; while :; do sleep 0.1; done"],
                cwd="/",
                env={},
                line_bytes=LINE_BYTES,
            )
            await process.kill()
        assert survivors(tag) == [], milliseconds


@LINUX_ONLY
@pytest.mark.asyncio
async def test_nothing_is_left_of_a_start_that_is_given_up_before_its_pipes_are_connected(
    tag: str, monkeypatch: pytest.MonkeyPatch
):
    loop = asyncio.get_running_loop()
    connect, connecting = loop.connect_read_pipe, asyncio.Event()

    async def connected_late(*args: Any) -> Any:
        while len(survivors(tag)) < 2:  # the supervisor and the agent
            time.sleep(0.01)  # noqa: ASYNC251 - nothing else is to go on
        connecting.set()
        await asyncio.sleep(0.1)
        return await connect(*args)

    monkeypatch.setattr(loop, "connect_read_pipe", connected_late)

    async def started() -> None:
        argv = ["sh", "-c", f": {tag}; while :; do sleep 0.1; done"]
        process = await AgentProcess.start(argv, cwd="/", env={}, line_bytes=LINE_BYTES)
        await process.kill()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(started)
        await connecting.wait()
        tasks.cancel_scope.cancel()
    assert survivors(tag) == []


@LINUX_ONLY
@pytest.mark.asyncio
async def test_nothing_is_left_after_a_kill(tag: str):
    async with spawner(tag) as agent:
        await agent.do("spawn")
        assert len(survivors(tag)) >= 10
        await agent.process.kill()
        assert survivors(tag) == []


@LINUX_ONLY
@pytest.mark.asyncio
async def test_nothing_is_left_though_a_supervisor_that_hangs_may_not_be_killed(
    tag: str, monkeypatch: pytest.MonkeyPatch
):
    send, refused = os.kill, []

    def refusing(pid: int, number: int) -> None:
        if (pid, number) == (agent.process.pid, signal.SIGCONT):
            raise PermissionError(errno.EPERM, "Operation not permitted")
        if (pid, number) == (agent.process.pid, signal.SIGKILL):
            refused.append(pid)
            send(pid, signal.SIGCONT)
            raise PermissionError(errno.EPERM, "Operation not permitted")
        send(pid, number)

    monkeypatch.setattr(process_module, "_LAST_RESORT", 0.3)
    monkeypatch.setattr(os, "kill", refusing)
    async with spawner(tag) as agent:
        await agent.do("spawn")
        send(agent.process.pid, signal.SIGSTOP)
        await agent.process.kill()
        assert refused
        assert survivors(tag) == []


@LINUX_ONLY
@pytest.mark.asyncio
async def test_nothing_is_left_after_the_agents_own_end(tag: str):
    async with spawner(tag) as agent:
        await agent.do("spawn")
        assert (await agent.process.stop(5)).code == 0
        assert survivors(tag) == []


@LINUX_ONLY
@pytest.mark.asyncio
async def test_nothing_is_left_after_the_agent_was_killed(tag: str):
    async with spawner(tag) as agent:
        await agent.do("spawn")
        agent_of(agent.process).kill()
        assert (await agent.process.wait()).code == -signal.SIGKILL
        assert survivors(tag) == []


@LINUX_ONLY
@pytest.mark.asyncio
async def test_nothing_with_the_supervisors_mark_is_left_after_it_was_killed(tag: str):
    async with spawner(tag) as agent:
        await agent.do("spawn")
        os.kill(agent.process.pid, signal.SIGKILL)
        assert (await agent.process.wait()).code is None
        # One that left the session and dropped the mark is out of reach, with what it starts.
        escaped = survivors(tag)
        assert len(escaped) <= 3
        for line in escaped:
            pid = int(line.partition(":")[0])
            assert "LSP_AGENT_GUARD" not in psutil.Process(pid).environ()
            os.kill(pid, signal.SIGKILL)


@LINUX_ONLY
def test_nothing_is_left_after_the_server_was_killed(tag: str):
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("server.py")), tag],
        stdout=subprocess.PIPE,
    )
    with server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"spawned\n"
        assert len(survivors(tag)) >= 10
        server.kill()
        assert wait_until_gone(tag) == []


@LINUX_ONLY
@pytest.mark.asyncio
async def test_the_supervisor_ignores_signals_meant_for_the_terminal(tag: str):
    async with spawner(tag) as agent:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            os.kill(agent.process.pid, number)
        assert await agent.do("echo") == {"do": "echo"}


# Commands


@LINUX_ONLY
@pytest.mark.asyncio
async def test_commands_are_killed_however_they_hide_and_the_agent_lives(tag: str):
    async with spawner(tag) as agent:
        await agent.do("spawn")
        killed = await agent.process.kill_commands()
        assert killed >= 10
        assert len(survivors(tag)) == 2  # the supervisor and the agent
        assert await agent.do("echo") == {"do": "echo"}


@LINUX_ONLY
@pytest.mark.asyncio
async def test_kept_processes_and_what_they_start_are_no_commands(tag: str):
    async with spawner(tag) as agent:
        await agent.do("spawn one")
        await agent.process.keep()
        kept = set(survivors(tag))
        assert len(kept) > 2
        await agent.do("spawn")
        await agent.process.kill_commands()
        assert set(survivors(tag)) == kept


@LINUX_ONLY
@pytest.mark.asyncio
async def test_what_the_agents_workers_start_are_commands(tag: str):
    async with spawner(tag) as agent:
        await agent.do("spawn one")
        await agent.process.keep(workers=True)
        kept = set(survivors(tag))
        await agent.do("spawn")
        await agent.process.kill_commands()
        assert set(survivors(tag)) == kept
        assert await agent.do("echo") == {"do": "echo"}


@LINUX_ONLY
@pytest.mark.asyncio
async def test_killing_commands_where_there_are_none_kills_nothing(tag: str):
    async with spawner(tag) as agent:
        assert await agent.process.kill_commands() == 0
        await agent.process.kill()
        assert await agent.process.kill_commands() == 0


# stderr


@pytest.mark.asyncio
async def test_the_last_of_stderr_is_told_without_secrets(tag: str):
    async with spawner(tag, secrets=("s3cret", "")) as agent:
        await agent.do("stderr", text="the key s3cret is wrong\n")
        assert (await agent.process.stop(2)).stderr == "the key *** is wrong"


@pytest.mark.asyncio
async def test_the_last_of_stderr_is_told_without_its_colours(tag: str):
    async with spawner(tag, secrets=("s3cret",)) as agent:
        await agent.do(
            "stderr", text="\x1b[2m12:00\x1b[0m \x1b[32mINFO\x1b[0m s3\x1b[1mcret\n  up\n"
        )
        assert (await agent.process.stop(2)).stderr == "12:00 INFO ***\n  up"


@pytest.mark.asyncio
async def test_a_long_stderr_is_cut_to_its_end_and_never_within_a_secret(tag: str):
    secret = "0123456789" * 300
    async with spawner(tag, secrets=(secret,)) as agent:
        for _ in range(30):
            await agent.do("stderr", text=secret * 3)
        await agent.do("stderr", text="\nlast line\n")
        stderr = (await agent.process.stop(2)).stderr
        assert len(stderr) <= 4096
        assert stderr.endswith("last line")
        assert "0123456789" not in stderr


@pytest.mark.asyncio
async def test_no_secret_is_shown_in_a_bad_line(tag: str):
    async with spawner(tag, secrets=("s3cret",)) as agent:
        bad = await agent.do("garbage", text="key: s3cret\n")
        assert isinstance(bad, BadLine)
        assert bad.text == "key: ***"


def test_a_compiled_guard_that_is_older_than_its_source_is_not_run(tmp_path: Path):
    script = tmp_path / "guard_script.py"
    script.write_text("OLD = 1\n")
    cached = Path(py_compile.compile(str(script), doraise=True) or "")
    spec = importlib.util.spec_from_file_location("guard_script", script)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert path_of(module) == str(cached)
    script.write_text("NEW = 2  # not compiled\n")
    assert path_of(module) == str(script)
