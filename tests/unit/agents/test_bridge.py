# ruff: noqa: ASYNC110, ASYNC240, ASYNC251 (tests poll for what processes do, and block on purpose)

import asyncio
import errno
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import psutil
import pytest

from agents.hosting import Host, Hosted, allow, bash, deny, echo, forever, gate, hosted
from agents.survivors import survivors, wait_until_gone
from lsp_agent.agents.bridge import Bridge, Limits
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.toolset.calls import Allow, Block, ToolAnswer, ToolRequest, Verdict

RECORDINGS = Path(__file__).parents[2] / "recordings" / "zot"
READ = ("read", {"path": "a.txt"})


def pipe_of(hosted: Hosted) -> psutil.Process:
    below = psutil.Process(hosted.process.pid).children(recursive=True)
    return next(process for process in below if "/guard/" in " ".join(process.cmdline()))


# File calls


@pytest.mark.asyncio
async def test_file_calls_are_answered_by_the_host(tmp_path: Path):
    async with hosted(Host(), tmp_path) as agent:
        results = await agent.turn(READ, ("write", {"path": "b", "content": "x"}))
        assert [result.text for result in results] == ["read a.txt\n", "write b\n"]
        assert not any(result.is_error for result in results)


@pytest.mark.asyncio
async def test_calls_carry_the_id_that_the_wire_tells(tmp_path: Path):
    async with hosted(Host(), tmp_path) as agent:
        await agent.turn(READ, bash("true"), READ, ("edit", {"path": "b"}))
        for question, numbers in (("intercept", (1, 2, 3, 4)), ("run", (1, 3, 4))):
            ids = [request.tool_call_id for request in agent.host.asked(question)]
            assert ids == [f"toolu_{number:02}" for number in numbers]


@pytest.mark.asyncio
async def test_a_blocked_call_does_not_lend_its_id_to_the_next(tmp_path: Path):
    async def block_first(request: ToolRequest) -> Verdict:
        return Block("no") if request.tool_call_id == "toolu_01" else Allow()

    async with hosted(Host(block_first), tmp_path) as agent:
        first, _ = await agent.turn(READ, READ)
        assert (first.text, first.is_error) == ("no", True)
        assert [request.tool_call_id for request in agent.host.asked("run")] == ["toolu_02"]


@pytest.mark.asyncio
async def test_an_id_counts_as_asked_about_for_as_many_results_as_there_were_questions():
    async with Bridge(Host()) as bridge, await anyio.connect_unix(_socket_of(bridge)) as stream:
        answers = _answers(stream)
        for number in range(2):  # the second is asked about before the first's result is told
            args = {"tool_name": "read", "tool_args": {"path": "a"}, "tool_id": "c"}
            frame = {"type": "event_intercept", "id": str(number), "event": "tool_call", **args}
            await stream.send(json.dumps(frame).encode() + b"\n")
            await anext(answers)
        asked = []
        for _ in range(3):
            asked.append(bridge.was_asked("c"))
            bridge.call_ended("c")
        assert asked == [True, True, False]


@pytest.mark.asyncio
async def test_an_error_of_the_hosts_is_what_the_model_reads(tmp_path: Path):
    async def fail(_: ToolRequest) -> ToolAnswer:
        raise RequestFailed("editorFailed", "the editor refused")

    async def fail_first(request: ToolRequest) -> Verdict:
        if request.tool_call_id == "toolu_01":
            raise RequestFailed("editorFailed", "it is not known")
        return Allow()

    async with hosted(Host(fail_first, ran=fail), tmp_path) as agent:
        first, second = await agent.turn(READ, READ)
        assert (first.text, first.is_error) == ("Not run: it is not known", True)
        assert (second.text, second.is_error) == ("the editor refused", True)


@pytest.mark.asyncio
async def test_a_result_too_large_for_the_agent_becomes_an_error_and_work_goes_on(tmp_path: Path):
    async def large_first(request: ToolRequest) -> ToolAnswer:
        return ToolAnswer("\n" * (3 << 20)) if request.tool == "read" else await echo(request)

    async with hosted(Host(ran=large_first), tmp_path) as agent:
        read, write = await agent.turn(READ, ("write", {"path": "b"}))
        assert read.is_error
        assert "too large" in read.text
        assert write.text == "write b\n"


@pytest.mark.asyncio
async def test_a_file_call_that_takes_too_long_is_an_error(tmp_path: Path):
    async with hosted(Host(ran=forever), tmp_path, limits=Limits(run=0.1)) as agent:
        (result,) = await agent.turn(READ)
        assert result.is_error
        assert "did not answer in time" in result.text
        assert agent.host.cancelled == ["run"]


# Commands


@pytest.mark.asyncio
async def test_an_allowed_command_runs_unchanged(tmp_path: Path):
    async with hosted(Host(), tmp_path) as agent:
        (result,) = await agent.turn(bash("echo hi; exit 3"))
        assert result.text == "$ echo hi; exit 3\n\nhi\n\n[exit 3]  Took 0.0s"


@pytest.mark.asyncio
async def test_a_blocked_command_does_not_run(tmp_path: Path):
    async with hosted(Host(deny), tmp_path) as agent:
        (result,) = await agent.turn(bash("touch proof"))
        assert result.text == "Not run: the user declined this command."
        assert not (tmp_path / "proof").exists()


@pytest.mark.asyncio
async def test_a_gated_command_starts_when_it_is_allowed(tmp_path: Path):
    async def later(_: ToolRequest) -> Allow:
        assert not (tmp_path / "proof").exists()
        await anyio.sleep(0.5)
        return Allow()

    async with hosted(Host(gate, later), tmp_path) as agent:
        began = time.monotonic()
        (result,) = await agent.turn(bash("touch proof; echo $PWD"))
        assert time.monotonic() - began > 0.5
        assert result.output == f"{tmp_path}0"
        assert (tmp_path / "proof").exists()
        (request,) = agent.host.asked("decide")
        assert request == ToolRequest("bash", {"command": "touch proof; echo $PWD"}, "toolu_01")


@pytest.mark.asyncio
async def test_a_gated_command_that_is_refused_never_runs_and_says_why(tmp_path: Path):
    async with hosted(Host(gate, deny), tmp_path) as agent:
        refused, _ = await agent.turn(bash("touch proof"), READ)
        assert refused.output == "Not run: the user declined this command.126"
        assert not (tmp_path / "proof").exists()


@pytest.mark.parametrize("verdict", [allow, gate])
@pytest.mark.asyncio
async def test_what_the_host_notes_stands_before_the_commands_output(tmp_path: Path, verdict):
    async def with_a_note(request: ToolRequest) -> Verdict:
        answer = await verdict(request)
        return Allow("a.txt has unsaved text:\n+é") if isinstance(answer, Allow) else answer

    async def decided_with_a_note(_: ToolRequest) -> Allow:
        return Allow("a.txt has unsaved text:\n+é")

    async with hosted(Host(with_a_note, decided_with_a_note), tmp_path) as agent:
        (result,) = await agent.turn(bash("echo hi; exit 3", timeout=5))
        assert result.output == "a.txt has unsaved text:\n+é\nhi3"


@pytest.mark.asyncio
async def test_a_gate_copied_by_the_model_is_not_part_of_the_command(tmp_path: Path):
    async with hosted(Host(gate), tmp_path, unset=("API_KEY",)) as agent:
        (first,) = await agent.turn(bash("echo one"))
        copied = first.text.removeprefix("$ ").partition("\n\n")[0].replace("one", "two")
        assert "|| exit; unset LSP_AGENT_GATE; unset API_KEY\necho two" in copied
        (second,) = await agent.turn(bash(copied))
        assert second.output == "two0"
        assert agent.host.asked("decide")[1].args == {"command": "echo two"}


@pytest.mark.parametrize("verdict", [allow, gate])
@pytest.mark.asyncio
async def test_commands_do_not_see_hidden_variables(tmp_path: Path, verdict):
    async with hosted(Host(verdict), tmp_path, unset=("API_KEY", "NOT_SET")) as agent:
        (result,) = await agent.turn(bash('echo "<$API_KEY>"'))
        assert result.output == "<>0"


@pytest.mark.parametrize("verdict", [allow, gate])
@pytest.mark.asyncio
async def test_a_name_that_no_shell_can_unset_is_left_out(tmp_path: Path, verdict):
    unset = ("my-key", "a; touch made", "API_KEY")
    async with hosted(Host(verdict), tmp_path, unset=unset) as agent:
        (result,) = await agent.turn(bash('echo "<$API_KEY>"; ls'))
        assert result.output == "<>0"


ODD_COMMANDS = [
    "echo hi; exit 3",
    "echo one\necho two",
    "cat <<'E'\n$a `b` \"c\"\nE",
    "echo hi # a comment",
    "echo hi \\",
    "set -e\nfalse\necho never",
    'echo "it\'s" \'a "b"\' $((1+1)) `echo c`',
    "trap 'echo bye' EXIT; exit 4",
    "exec echo replaced",
    "f() { echo in f; return 5; }; f",
    "(echo sub; exit 2)",
    "echo err >&2; cd / && pwd",
    "kill $$",
    "echo é 🎉 \\| cat | cat",
    "echo a; ) echo syntax",
    "echo 'unterminated",
    "",
    "cat; echo $?",
    "echo $#:$0",
]


@pytest.mark.asyncio
async def test_odd_commands_behave_as_without_a_gate(tmp_path: Path):
    async def every_second(request: ToolRequest) -> Verdict:
        number = int((request.tool_call_id or "").removeprefix("toolu_"))
        return await (gate if number % 2 == 0 else allow)(request)

    async with hosted(Host(every_second), tmp_path) as agent:
        calls = [bash(command) for command in ODD_COMMANDS for _ in range(2)]
        results = await agent.turn(*calls)
    assert len(agent.host.asked("decide")) == len(ODD_COMMANDS)
    plain, gated = results[::2], results[1::2]
    for command, without, behind in zip(ODD_COMMANDS, plain, gated, strict=True):
        said = without.text.removeprefix(f"$ {command}\n")
        said_behind = re.sub(r"^\$ \S+/gate \d+ \|\| exit; unset LSP_AGENT_GATE\n", "", behind.text)
        # The shell's own messages count one line more.
        said_behind = re.sub(r"sh: (\d+):", _one_less, said_behind.removeprefix(f"{command}\n"))
        assert said_behind == said


def _one_less(match: re.Match[str]) -> str:
    return f"sh: {int(match[1]) - 1}:"


@pytest.mark.asyncio
async def test_a_folder_with_blanks_in_its_path_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with tempfile.TemporaryDirectory(prefix="a 'b' $c ") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        async with hosted(Host(gate), tmp_path) as agent:
            assert agent.bridge.folder.startswith(folder)
            (result,) = await agent.turn(bash("echo hi"))
            assert result.output == "hi0"
            copied = result.text.removeprefix("$ ").partition("\n\n")[0]
            await agent.turn(bash(copied))
            assert agent.host.asked("decide")[1].args == {"command": "echo hi"}


@pytest.mark.asyncio
async def test_a_gate_that_cannot_be_executed_is_run_by_its_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    really = os.access

    def no_execution(path, mode, **more):
        return False if str(path).endswith("/gate") else really(path, mode, **more)

    monkeypatch.setattr(os, "access", no_execution)
    async with hosted(Host(gate), tmp_path) as agent:
        (result,) = await agent.turn(bash("echo hi"))
        assert sys.executable in result.text
        assert result.output == "hi0"
        await agent.turn(bash(result.text.removeprefix("$ ").partition("\n\n")[0]))
        assert agent.host.asked("decide")[1].args == {"command": "echo hi"}


@pytest.mark.asyncio
async def test_a_command_named_twice_is_refused_since_it_is_unclear_which_runs(tmp_path: Path):
    async with hosted(Host(), tmp_path) as agent:
        twice, other_case = await agent.turn(
            ("bash", {"command": "true", "Command": "touch proof"}),
            ("bash", {"COMMAND": "echo hi"}),
        )
        assert "more than one command" in twice.text
        assert other_case.output == "hi0"
        (request,) = agent.host.asked("intercept")
        assert request.args == {"command": "echo hi"}


@pytest.mark.asyncio
async def test_a_gated_call_without_a_command_is_refused(tmp_path: Path):
    async with hosted(Host(gate), tmp_path) as agent:
        (result,) = await agent.turn(("bash", {"command": 7}))
        assert result.text == "Not run: bash was called without a command."


@pytest.mark.asyncio
async def test_a_command_too_large_for_the_agent_is_refused(tmp_path: Path):
    async with hosted(Host(gate), tmp_path) as agent:
        large, small = await agent.turn(bash("#" + "x" * (4 << 20)), bash("echo hi"))
        assert "too large" in large.text
        assert small.output == "hi0"


@pytest.mark.asyncio
async def test_a_file_call_that_must_be_decided_waits_within_the_time(tmp_path: Path):
    async def first_only(request: ToolRequest) -> Allow | Block:
        return await (allow if request.tool_call_id == "toolu_01" else forever)(request)

    limits = Limits(intercept=0.3)
    async with hosted(Host(gate, first_only), tmp_path, limits=limits) as agent:
        decided, undecided = await agent.turn(READ, READ)
        assert decided.text == "read a.txt\n"
        assert undecided.text == "Not run: nobody decided in time whether it may."


# Time limits


@pytest.mark.asyncio
async def test_a_commands_time_begins_when_it_is_allowed(tmp_path: Path):
    async def later(_: ToolRequest) -> Allow:
        await anyio.sleep(0.8)
        return Allow()

    async with hosted(Host(gate, later), tmp_path) as agent:
        in_time, late = await agent.turn(
            bash("sleep 0.1; echo done", timeout=0.7), bash("echo a; sleep 30", timeout=0.2)
        )
        assert in_time.output == "done0"
        assert late.output == "a-1"


@pytest.mark.asyncio
async def test_a_command_that_ignores_its_time_is_killed(tmp_path: Path):
    async with hosted(Host(gate), tmp_path, limits=Limits(term=0.2)) as agent:
        began = time.monotonic()
        (result,) = await agent.turn(bash('trap "" TERM; sleep 30 & wait; sleep 30', timeout=0.2))
        assert time.monotonic() - began >= 0.4
        assert result.exit == "-1"


@pytest.mark.parametrize("refused", [(signal.SIGTERM,), (signal.SIGTERM, signal.SIGKILL)])
@pytest.mark.asyncio
async def test_a_command_that_may_not_be_signalled_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: tuple[int, ...]
):
    """One that has become another user's, or on macOS a group in which one is a zombie."""
    signal_group, told = os.killpg, []

    def refusing(group: int, number: int) -> None:
        told.append(number)
        if number in refused:
            raise PermissionError(errno.EPERM, "Operation not permitted")
        signal_group(group, number)

    monkeypatch.setattr(os, "killpg", refusing)
    async with hosted(Host(gate), tmp_path, limits=Limits(term=0.2)) as agent:
        result, read = await agent.turn(bash("sleep 1", timeout=0.2), READ)
        assert told == [signal.SIGTERM, signal.SIGKILL]
        assert result.exit == ("-1" if signal.SIGKILL not in refused else "0")
        assert read.text == "read a.txt\n"


# Aborts


@pytest.mark.asyncio
async def test_an_abort_while_a_gate_waits_refuses_it_and_the_rest(tmp_path: Path):
    async with hosted(Host(gate, forever), tmp_path) as agent:
        await agent.prompt(bash("touch proof"), bash("touch proof"), READ)
        await agent.host.until("decide")
        await agent.abort()
        results = await agent.results()
        assert all(result.is_error for result in results)
        assert not (tmp_path / "proof").exists()
        assert agent.host.cancelled == ["decide"]
        assert len(agent.host.heard) == 2


@pytest.mark.asyncio
async def test_an_abort_alone_denies_a_waiting_gate(tmp_path: Path):
    async with hosted(Host(gate, forever), tmp_path) as agent:
        await agent.prompt(bash("touch proof"))
        await agent.host.until("decide")
        agent.bridge.abort()
        (result,) = await agent.results()
        assert result.output == "Not run: the turn was stopped.126"


@pytest.mark.asyncio
async def test_an_abort_while_a_file_call_is_pending_cancels_it_and_refuses_the_rest(
    tmp_path: Path,
):
    async with hosted(Host(ran=forever), tmp_path) as agent:
        await agent.prompt(READ, READ, bash("touch proof"))
        await agent.host.until("run")
        await agent.abort()
        results = await agent.results()
        assert all(result.is_error for result in results)
        assert agent.host.cancelled == ["run"]
        assert len(agent.host.heard) == 2
        assert not (tmp_path / "proof").exists()


@pytest.mark.asyncio
async def test_an_abort_while_the_host_considers_a_call_blocks_it_at_once(tmp_path: Path):
    async with hosted(Host(forever), tmp_path) as agent:
        await agent.prompt(bash("touch proof"))
        await agent.host.until("intercept")
        agent.bridge.abort()
        (result,) = await agent.results()
        assert result.text == "Not run: the turn was stopped."


@pytest.mark.asyncio
async def test_after_an_abort_the_next_turn_works(tmp_path: Path):
    async with hosted(Host(gate, forever), tmp_path) as agent:
        await agent.prompt(bash("touch proof"))
        await agent.host.until("decide")
        await agent.abort()
        await agent.results()
        agent.bridge.resume()
        agent.host.decided = allow
        read, command = await agent.turn(READ, bash("echo hi"))
        assert read.text == "read a.txt\n"
        assert command.output == "hi0"


@pytest.mark.asyncio
async def test_the_decision_is_dropped_when_its_command_dies(tmp_path: Path):
    async with hosted(Host(gate, forever), tmp_path) as agent:
        await agent.prompt(bash("touch proof"))
        await agent.host.until("decide")
        await agent.process.send({"type": "abort", "id": "2"})
        (result,) = await agent.results()
        assert result.exit == "-1"
        with anyio.fail_after(1):
            while not agent.host.cancelled:
                await anyio.sleep(0.01)


# What fails must fail closed


@pytest.mark.asyncio
async def test_a_host_that_is_too_slow_has_the_call_blocked(tmp_path: Path):
    async with hosted(Host(forever), tmp_path, limits=Limits(intercept=0.2)) as agent:
        (result,) = await agent.turn(bash("touch proof"))
        assert result.text == "Not run: the editor's server did not decide in time."
        assert not (tmp_path / "proof").exists()


@pytest.mark.asyncio
async def test_while_the_servers_loop_is_blocked_the_pipe_blocks_calls(tmp_path: Path):
    async def block_the_loop(request: ToolRequest) -> Verdict:
        if request.tool_call_id == "toolu_01":
            time.sleep(1.5)
        return Allow()

    limits = Limits(pipe=0.2)
    async with hosted(Host(block_the_loop), tmp_path, "--quiet", limits=limits) as agent:
        # The second question is longer than what the socket holds while nobody reads.
        calls = bash("touch proof"), bash("#" + "x" * 1_000_000), bash("touch proof")
        for result in await agent.turn(*calls):
            assert result.text == "Not run: the editor did not answer in time."
        assert not (tmp_path / "proof").exists()
        (after,) = await agent.turn(bash("echo hi"))
        assert after.output == "hi0"


@pytest.mark.slow
@pytest.mark.asyncio
async def test_the_pipe_blocks_before_the_agents_patience_ends(tmp_path: Path):
    async def block_the_loop(_: ToolRequest) -> Verdict:
        time.sleep(6)
        return Allow()

    async with hosted(Host(block_the_loop), tmp_path) as agent:
        (result,) = await agent.turn(bash("touch proof"))
        assert result.text == "Not run: the editor did not answer in time."
        assert not (tmp_path / "proof").exists()


@pytest.mark.asyncio
async def test_when_the_bridge_ends_the_agent_and_its_commands_end(tmp_path: Path):
    host = Host()
    async with hosted(host, tmp_path) as agent:
        await agent.prompt(bash("touch started; setsid sleep 60"), bash("touch proof"))
        await _exists(tmp_path / "started")
        await agent.bridge.__aexit__(None, None, None)
        with anyio.fail_after(3):
            await agent.process.wait()
        assert survivors(agent.tag) == []
        assert not (tmp_path / "proof").exists()


@pytest.mark.asyncio
async def test_the_bridge_of_a_killed_pipe_is_lost(tmp_path: Path):
    async with hosted(Host(), tmp_path) as agent:
        await agent.turn(READ)
        pipe_of(agent).kill()
        with anyio.fail_after(3):
            await agent.bridge.lost.wait()


@pytest.mark.asyncio
async def test_an_ordinary_end_is_no_loss(tmp_path: Path):
    async with hosted(Host(), tmp_path) as agent:
        await agent.turn(READ)
        assert (await agent.process.stop(3)).code == 0
        await anyio.sleep(0.1)
        assert not agent.bridge.lost.is_set()


@pytest.mark.parametrize(
    "killed", [["server"], ["supervisor"], ["supervisor", "server"], ["agent"]]
)
def test_nothing_is_left_whoever_is_killed(tmp_path: Path, killed: list[str]):
    script = Path(__file__).with_name("hosting_server.py")
    tag = f"tag{tmp_path.parent.name}{'_'.join(killed)}"
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "TAG": tag, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as server:
        assert server.stdout is not None
        pids = {"server": server.pid, **json.loads(server.stdout.readline())}
        # The server itself outlives its agent.
        alive = [f"{server.pid}: "] if "server" not in killed else []
        for name in killed:
            os.kill(pids[name], signal.SIGKILL)
        left = wait_until_gone(tag) if not alive else _only(tag, alive[0])
        server.kill()
    assert left == []


def _only(tag: str, prefix: str) -> list[str]:
    deadline = time.monotonic() + 3
    while True:
        left = [line for line in survivors(tag) if not line.startswith(prefix)]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.01)


# The gate itself


async def _run_gate(agent: Hosted, *arguments: str) -> tuple[int | None, str]:
    gate_script = Path(agent.bridge.folder).parent / "gate"
    process = await asyncio.create_subprocess_exec(
        str(gate_script), *arguments, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


@pytest.mark.parametrize("arguments", [("99",), (), ("x" * 10_000,)])
@pytest.mark.asyncio
async def test_a_gate_that_is_not_known_is_denied(tmp_path: Path, arguments: tuple[str, ...]):
    async with hosted(Host(gate), tmp_path) as agent:
        code, output = await _run_gate(agent, *arguments)
        assert (code, output[:7]) == (126, "Not run")


@pytest.mark.asyncio
async def test_a_gate_opens_only_once(tmp_path: Path):
    async with hosted(Host(gate), tmp_path) as agent:
        await agent.turn(bash("echo hi"))
        code, output = await _run_gate(agent, "1")
        assert code == 126
        assert "used before" in output


@pytest.mark.asyncio
async def test_without_a_server_nothing_runs(tmp_path: Path):
    async with hosted(Host(gate), tmp_path) as agent:
        (Path(agent.bridge.folder).parent / "gate.sock").unlink()
        (result,) = await agent.turn(bash("touch proof"))
        assert result.exit == "126"
        assert not (tmp_path / "proof").exists()


@pytest.mark.asyncio
async def test_a_killed_gate_lets_nothing_run(tmp_path: Path):
    async with hosted(Host(gate, forever), tmp_path) as agent:
        await agent.prompt(bash("touch proof"))
        await agent.host.until("decide")
        for process in psutil.Process(agent.process.pid).children(recursive=True):
            if process.cmdline()[-1:] == ["1"]:
                process.kill()
        (result,) = await agent.results()
        assert result.exit == "137"
        assert not (tmp_path / "proof").exists()


# The folder and the socket


@pytest.mark.asyncio
async def test_the_folder_is_private_and_gone_at_the_end():
    async with Bridge(Host()) as bridge:
        folder = Path(bridge.folder).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for name in ("bridge.sock", "gate.sock"):
            assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    assert not folder.exists()


@pytest.mark.asyncio
async def test_only_one_connection_is_taken():
    async with Bridge(Host()) as bridge:
        path = _socket_of(bridge)
        async with await anyio.connect_unix(path) as stream:
            await stream.receive()
            assert not path.exists()


@pytest.mark.asyncio
async def test_the_greeting_is_the_recorded_one_and_promises_ready():
    recording = (RECORDINGS / "gate_deny.jsonl").read_text()
    lines = [json.loads(line) for line in recording.splitlines()]
    recorded = [line["line"] for line in lines if line.get("hop") == "ext->zot"][:6]
    recorded[0]["capabilities"] = ["ready"]
    async with Bridge(Host()) as bridge, await anyio.connect_unix(_socket_of(bridge)) as stream:
        greeting = b""
        while greeting.count(b"\n") < len(recorded):
            greeting += await stream.receive()
        assert [json.loads(line) for line in greeting.splitlines()] == recorded


@pytest.mark.parametrize("line", [b"no frame\n", b"[]\n"])
@pytest.mark.asyncio
async def test_a_line_that_is_no_frame_ends_the_connection(line: bytes):
    async with Bridge(Host()) as bridge, await anyio.connect_unix(_socket_of(bridge)) as stream:
        await stream.send(line)
        with anyio.fail_after(1):
            await bridge.lost.wait()


def _abandoned(folder: Path, *, with_socket: bool = True, old: bool = True) -> None:
    folder.mkdir()
    if with_socket:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "gate.sock"))
    if old:
        os.utime(folder, (0, 0))


@pytest.mark.asyncio
async def test_the_folder_of_a_killed_server_is_removed_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
):
    with tempfile.TemporaryDirectory() as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        async with Bridge(Host()) as living:
            os.utime(Path(living.folder).parent, (0, 0))
            _abandoned(Path(runtime, "lsp-agent-bridge-killed"))
            _abandoned(Path(runtime, "lsp-agent-bridge-just-made"), old=False)
            _abandoned(Path(runtime, "lsp-agent-bridge-no-bridge"), with_socket=False)
            _abandoned(Path(runtime, "other"))
            before = set(os.listdir(runtime))  # noqa: PTH208
            async with Bridge(Host()) as bridge:
                own = {Path(bridge.folder).parent.name}
                left = set(os.listdir(runtime)) - own  # noqa: PTH208
        assert before - left == {"lsp-agent-bridge-killed"}


@pytest.mark.asyncio
async def test_without_a_folder_that_can_be_used_the_remedy_is_told(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/no/such/folder")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/" + "long/" * 30)
    with pytest.raises(RequestFailed, match="XDG_RUNTIME_DIR") as failed:
        async with Bridge(Host()):
            pass
    assert failed.value.kind == "notConfigured"


@pytest.mark.asyncio
async def test_an_error_of_the_owners_comes_out_as_it_is():
    with pytest.raises(KeyError):
        async with Bridge(Host()):
            raise KeyError


@pytest.mark.parametrize("recording", sorted(path.name for path in RECORDINGS.glob("gate_*.jsonl")))
@pytest.mark.asyncio
async def test_every_recorded_question_is_answered_with_the_calls_id(recording: str):
    lines = [json.loads(line) for line in (RECORDINGS / recording).read_text().splitlines()]
    said = [line["line"] for line in lines if line.get("hop") == "zot->ext"]
    questions = [frame for frame in said if frame["type"] == "event_intercept"]
    calls = [frame for frame in said if frame["type"] == "tool_call"]

    async def anything(_: ToolRequest) -> ToolAnswer:
        return ToolAnswer("text")

    host = Host(ran=anything)
    async with Bridge(host) as bridge, await anyio.connect_unix(_socket_of(bridge)) as stream:
        answers = _answers(stream)
        for frame in said:
            await stream.send(json.dumps(frame, separators=(",", ":")).encode() + b"\n")
            if frame in questions or frame in calls:
                assert (await anext(answers))["id"] == frame["id"]
    ids = [frame["tool_id"] for frame in questions]
    assert [request.tool_call_id for request in host.asked("intercept")] == ids
    file_calls = [frame["tool_id"] for frame in questions if frame["tool_name"] != "bash"]
    if len(file_calls) == len(calls):  # no call of it was blocked then
        assert [request.tool_call_id for request in host.asked("run")] == file_calls


async def _answers(stream: anyio.abc.ByteStream) -> AsyncIterator[dict[str, object]]:
    """What the bridge says after its greeting."""
    rest, greeted = b"", False
    while True:
        *lines, rest = (rest + await stream.receive()).split(b"\n")
        for line in lines:
            frame = json.loads(line)
            if greeted:
                yield frame
            greeted = greeted or frame["type"] == "ready"


def _socket_of(bridge: Bridge) -> Path:
    manifest = json.loads((Path(bridge.folder) / "extension.json").read_text())
    return Path(manifest["args"][3])


async def _exists(path: Path) -> None:
    with anyio.fail_after(5):
        while not path.exists():
            await anyio.sleep(0.01)
