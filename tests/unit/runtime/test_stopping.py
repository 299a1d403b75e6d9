"""Stopping: in each phase of a turn, at the end of stdin, by a signal; nothing stays behind."""

import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.raw_client import wait_until
from support.rpc_process import RpcProcess, call, marked, recorded, result_texts, types

linux = pytest.mark.skipif(sys.platform != "linux", reason="descendants are only found on Linux")


def last(frames: list[dict[str, object]], kind: str) -> dict[str, object]:
    return [frame for frame in frames if frame["type"] == kind][-1]


def test_an_abort_with_nothing_to_stop_stops_nothing_later(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x"}]) as agent:
        assert agent.ask("abort")["success"] is True
        assert last(agent.prompt(), "turn_end")["stop"] == "end"


def test_an_abort_before_the_first_byte_ends_the_turn(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x", "delay_ms": 60_000}, {"text": "next"}]) as agent:
        agent.send("prompt", id="1", message="hi")
        agent.until("turn_start")
        agent.send("abort", id="a")
        frames = agent.until("done")
        assert types(frames) == ["response", "turn_end", "done"]
        assert frames[1] == {"type": "turn_end", "stop": "aborted", "error": "context canceled"}
        assert last(agent.prompt(), "turn_end")["stop"] == "end"


def test_an_abort_sent_together_with_the_prompt_stops_it(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x", "delay_ms": 50}] * 20) as agent:
        for number in range(20):
            agent.raw(f'{{"id":"{number}","type":"prompt","message":"m"}}\n{{"type":"abort"}}')
            assert last(agent.until("done"), "turn_end")["stop"] == "aborted"


def test_an_abort_while_text_streams_keeps_the_text_so_far(tmp_path: Path):
    steps = [{"text": "w0 w1 w2 w3 " * 500, "pace_ms": 20}, {"text": "fresh answer"}]
    with RpcProcess(tmp_path, steps) as agent:
        agent.send("prompt", id="1", message="long")
        agent.until("text_delta")
        agent.until("text_delta")
        agent.send("abort", id="a")
        agent.until("done")
        agent.prompt("again")
        messages = agent.ask("get_messages")["data"]["messages"]
        got = [frame for frame in agent.frames if frame["type"] != "response"]
    expected = [frame for frame in recorded("abort_midstream") if frame["type"] != "response"]
    assert types(got) == types(expected)
    shown = "".join(f["delta"] for f in got if f["type"] == "text_delta")
    kept = messages[1]["content"][0]["text"]
    assert kept + "fresh answer" == shown
    assert messages[3]["content"][0]["text"] == "fresh answer"


def test_an_abort_while_arguments_stream_runs_nothing(tmp_path: Path):
    step = {"text": "so ", "calls": [call("write", path="a", content="x" * 5000)], "pace_ms": 20}
    with RpcProcess(tmp_path, [step]) as agent:
        agent.send("prompt", id="1", message="hi")
        agent.until("tool_use_args")
        agent.send("abort", id="a")
        frames = agent.until("done")
        messages = agent.ask("get_messages")["data"]["messages"]
    assert types(frames)[-4:] == ["usage", "assistant_message", "turn_end", "done"]
    assert "tool_call" not in types(frames)
    assert messages[1]["content"] == [{"type": "text", "text": "so "}]
    assert not (tmp_path / "a").exists()


def test_an_abort_while_a_command_runs_ends_it_and_runs_no_later_call(tmp_path: Path):
    calls = [
        call("bash", command="echo started; sleep 30; echo never"),
        call("write", path="after.txt", content="written after abort\n"),
        call("bash", command="touch too_late"),
    ]
    with RpcProcess(tmp_path, [{"calls": calls}, {"text": "next"}]) as agent:
        agent.send("prompt", id="1", message="run")
        agent.until("tool_progress")
        started = time.monotonic()
        agent.send("abort", id="a")
        frames = agent.until("done")
        assert time.monotonic() - started < 2
        messages = agent.ask("get_messages")["data"]["messages"]
        assert last(agent.prompt(), "turn_end")["stop"] == "end"
    results = result_texts(frames)
    assert results[0].startswith("$ echo started; sleep 30; echo never\n\nstarted\n\n[exit -1]")
    assert results[1:] == ["aborted: not run"] * 2
    assert all(frame["is_error"] for frame in frames if frame["type"] == "tool_result")
    assert "turn_end" not in types(frames)
    assert sorted(path.name for path in tmp_path.iterdir()) == []
    assert [block["call_id"] for block in messages[2]["content"]] == [
        "call_01",
        "call_02",
        "call_03",
    ]


def test_an_aborted_compaction_says_so(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "a"}] * 3 + [{"text": "s", "delay_ms": 60_000}]) as agent:
        for _ in range(3):
            agent.prompt("q")
        agent.send("compact", id="c")
        agent.until("response")
        agent.send("abort", id="a")
        assert agent.until("error")[-1]["message"] == "context canceled"
        assert agent.ask("get_state")["data"]["message_count"] == 6


def test_an_abort_hits_the_running_turn_and_not_the_queued_one(tmp_path: Path):
    steps = [{"text": "one", "delay_ms": 60_000}, {"text": "two"}]
    with RpcProcess(tmp_path, steps) as agent:
        agent.send("prompt", id="1", message="first")
        agent.until("turn_start")
        agent.send("prompt", id="2", message="second")
        agent.send("abort", id="a")
        assert last(agent.until("done"), "turn_end")["stop"] == "aborted"
        assert last(agent.until("done"), "turn_end")["stop"] == "end"


# -- nothing stays behind

#: A shell that ignores TERM, with a child in a session of its own and one that was forked twice.
STUBBORN = (
    "trap '' TERM; (trap '' TERM; setsid sh -c \"trap '' TERM; sleep 1000; : {mark}\" &);"
    ' sh -c "sleep 1000; : {mark}" & echo started; sleep 1000; sleep 1000; : {mark}'
)


@pytest.fixture
def mark() -> str:
    return f"mark-{uuid.uuid4().hex}"


def run_stubborn(agent: RpcProcess, mark: str) -> None:
    agent.send("prompt", id="1", message="run")
    agent.until("tool_progress")
    assert wait_until(lambda: len(marked(mark)) >= 3), marked(mark)


@linux
def test_an_abort_leaves_nothing_of_a_stubborn_command(tmp_path: Path, mark: str):
    steps = [{"calls": [call("bash", command=STUBBORN.format(mark=mark))]}]
    with RpcProcess(tmp_path, steps) as agent:
        run_stubborn(agent, mark)
        started = time.monotonic()
        agent.send("abort", id="a")
        agent.until("done")
        assert time.monotonic() - started < 2
        assert marked(mark) == []


@linux
def test_a_time_out_leaves_nothing_of_a_stubborn_command(tmp_path: Path, mark: str):
    steps = [{"calls": [call("bash", command=STUBBORN.format(mark=mark), timeout=1)]}]
    with RpcProcess(tmp_path, steps) as agent:
        run_stubborn(agent, mark)
        result = agent.until("tool_result")[-1]
        assert marked(mark) == []
    assert "[exit -1]" in result["content"][0]["text"]


@linux
def test_a_command_that_ends_takes_its_background_with_it(tmp_path: Path, mark: str):
    command = f"setsid sh -c 'sleep 1000; : {mark}' & echo done"
    steps = [{"calls": [call("bash", command=command)]}, {"text": "x"}]
    with RpcProcess(tmp_path, steps) as agent:
        frames = agent.prompt()
        assert marked(mark) == []
    assert "[exit 0]" in result_texts(frames)[0]


@linux
def test_the_end_of_stdin_stops_the_turn_and_the_agent(tmp_path: Path, mark: str):
    command = STUBBORN.format(mark=mark)
    steps = [{"calls": [call("bash", command=command), call("write", path="a", content="x")]}]
    with RpcProcess(tmp_path, steps) as agent:
        run_stubborn(agent, mark)
        agent.close_stdin()
        assert agent.wait(5) == 0
        assert marked(mark) == []
    assert agent.frames[-1] == {"type": "done"}
    assert not (tmp_path / "a").exists()
    assert agent.stderr == ""


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_agent_in_order(tmp_path: Path, mark: str, number: signal.Signals):
    steps = [{"calls": [call("bash", command=STUBBORN.format(mark=mark))]}]
    with RpcProcess(tmp_path, steps) as agent:
        run_stubborn(agent, mark)
        agent.process.send_signal(number)
        assert agent.wait(5) == 128 + number
        assert marked(mark) == []
    assert agent.frames[-1] == {"type": "done"}


@pytest.fixture
def unread(tmp_path: Path, mark: str) -> Iterator[subprocess.Popen[bytes]]:
    """An agent whose command prints without end, and whose output nobody reads."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"steps": [{"calls": [call("bash", command=f"yes {mark}")]}]}))
    agent = subprocess.Popen(
        [sys.executable, "-P", "-m", "lsp_agent", "rpc", "--script", str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
    )
    tell(agent, {"type": "prompt", "message": "go"})
    assert wait_until(lambda: len(marked(mark)) > 0)
    yield agent
    agent.kill()
    agent.wait()
    for pipe in (agent.stdin, agent.stdout):
        if pipe is not None:
            pipe.close()


def tell(agent: subprocess.Popen[bytes], frame: dict[str, str]) -> None:
    assert agent.stdin is not None
    agent.stdin.write(json.dumps(frame).encode() + b"\n")
    agent.stdin.flush()


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


@linux
def test_a_reader_who_goes_away_ends_the_agent_and_its_command(
    unread: subprocess.Popen[bytes], mark: str
):
    assert unread.stdout is not None
    unread.stdout.close()
    unread.stdout = None
    assert wait_until(lambda: unread.poll() is not None)
    assert marked(mark) == []


@linux
def test_memory_does_not_grow_while_nobody_reads(unread: subprocess.Popen[bytes]):
    time.sleep(0.5)
    before = resident(unread.pid)
    time.sleep(0.5)
    assert resident(unread.pid) - before < 20e6


@linux
def test_an_abort_works_while_nobody_reads(unread: subprocess.Popen[bytes], mark: str):
    tell(unread, {"type": "abort"})
    assert wait_until(lambda: marked(mark) == [], 2)
    assert unread.stdin is not None
    unread.stdin.close()
    unread.stdin = None
    assert unread.communicate()[0].endswith(b'{"type":"done"}\n')
