"""Background commands, through the agent."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.rpc_process import Frame, RpcProcess, call, marked, result_texts

from lsp_agent.toolset.background import KEPT_BYTES, RecentOutput
from lsp_agent.toolset.reading import MAX_BYTES


def begin(command: str) -> Frame:
    return {"calls": [call("bash", command=command, background=True)]}


def told(name: str, **args: object) -> Frame:
    return {"calls": [call(name, **args)]}


END: Frame = {"text": "x"}


@contextmanager
def ended_in_order(folder: Path, steps: list[Frame]) -> Iterator[RpcProcess]:
    """It takes what runs in the background with it."""
    with RpcProcess(folder, steps) as agent:
        yield agent
        agent.close_stdin()
        agent.wait()


def until(holds: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 15
    while not (result := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return result


def gone(mark: str) -> bool:
    return not marked(mark)


def test_it_is_answered_at_once_and_its_output_read_later(tmp_path: Path):
    command = "echo up; while ! [ -e go ]; do sleep 0.05; done; echo more; sleep 6121"
    steps = [begin(command), END, told("bash_output", id="b1"), told("bash_output", id="b1"), END]
    with ended_in_order(tmp_path, steps) as agent:
        (first,) = result_texts(agent.prompt())
        assert first.startswith(f"$ {command}\n\nup\n\n[runs in the background as b1: ")
        (tmp_path / "go").touch()
        until(lambda: "more" in agent.ask("get_background")["data"]["commands"][0]["lines"])
        assert result_texts(agent.prompt()) == ["[b1 runs]\nmore\n", "[b1 runs]\n[nothing new]"]


def test_one_that_fails_at_once_is_answered_as_any_other(tmp_path: Path):
    with RpcProcess(tmp_path, [begin("echo no; exit 3"), END]) as agent:
        frames = agent.prompt()
        assert result_texts(frames)[0].startswith("$ echo no; exit 3\n\nno\n\n[exit 3]  Took ")
        assert agent.ask("get_background")["data"] == {"commands": []}
    assert not [frame for frame in frames if frame["type"] == "background_command"]


def test_its_end_is_told_with_the_next_result(tmp_path: Path):
    wait = "touch go; while ! [ -e gone ]; do sleep 0.05; done; sleep 0.6"
    steps = [
        begin("while ! [ -e go ]; do sleep 0.05; done; touch gone; exit 4"),
        told("bash", command=wait),
        told("bash_output", id="b1"),
        END,
    ]
    with RpcProcess(tmp_path, steps) as agent:
        frames = agent.prompt()
    _, second, third = result_texts(frames)
    assert second.endswith("\n\n[b1 has ended, exit 4]")
    assert third == "[b1 has ended, exit 4]\n[nothing new]"
    events = [frame for frame in frames if frame["type"] == "background_command"]
    assert [(each["state"], each.get("exit")) for each in events] == [
        ("running", None),
        ("ended", 4),
    ]
    assert {each["call_id"] for each in events} == {events[0]["call_id"]} != {""}


def test_its_end_between_turns_is_told_with_the_next_prompt(tmp_path: Path):
    steps = [begin("while ! [ -e go ]; do sleep 0.05; done"), END, END]
    with RpcProcess(tmp_path, steps) as agent:
        agent.prompt()
        (tmp_path / "go").touch()
        agent.until(lambda frame: frame.get("state") == "ended")
        agent.prompt("and now")
        (said,) = [m for m in agent.ask("get_messages")["data"]["messages"] if m["role"] == "user"][
            1:
        ]
    assert [block["text"] for block in said["content"]] == ["[b1 has ended, exit 0]\n\n", "and now"]


def test_the_end_of_another_command_spares_it_and_what_it_left_behind(tmp_path: Path):
    command = "(setsid sleep 6122 &); sleep 6123"
    steps = [begin(command), told("bash", command="(setsid sleep 6124 &); true"), END]
    with RpcProcess(tmp_path, steps) as agent:
        agent.prompt()
        assert gone("6124")
        assert not gone("6122")
        assert not gone("6123")
        assert agent.ask("stop_background", background_id="b1")["data"] == {"stopped": True}
        assert gone("6122")
        assert gone("6123")
        assert agent.ask("stop_background", background_id="b1")["data"] == {"stopped": False}


def test_the_agent_ends_it(tmp_path: Path):
    steps = [
        begin("trap 'echo bye; exit 0' TERM; sleep 6125 & wait"),
        told("bash_kill", id="b1"),
        END,
    ]
    with RpcProcess(tmp_path, steps) as agent:
        assert result_texts(agent.prompt())[1] == "[b1 has ended, exit 0]\nbye\n"
        assert gone("6125")


def test_one_that_does_not_run_is_named_so_with_those_that_do(tmp_path: Path):
    steps = [begin("sleep 6126"), told("bash_output", id="b7"), told("bash_kill"), END]
    with ended_in_order(tmp_path, steps) as agent:
        texts = result_texts(agent.prompt())[1:]
    assert texts == [
        "there is no background command 'b7'; there run: b1 (sleep 6126)",
        "id is required",
    ]


def test_so_many_run_at_once_and_no_more(tmp_path: Path):
    calls = [call("bash", command="sleep 6127", background=True)] * 9
    with ended_in_order(tmp_path, [{"calls": calls}, END]) as agent:
        texts = result_texts(agent.prompt())
    assert all("runs in the background" in each for each in texts[:8])
    assert texts[8].startswith("8 background commands run already; end one with bash_kill: ")


def test_a_stop_ends_what_its_turn_has_started_alone(tmp_path: Path):
    steps = [begin("sleep 6128"), END, begin("sleep 6129"), told("bash", command="sleep 6130")]
    with ended_in_order(tmp_path, steps) as agent:
        agent.prompt()
        agent.send("prompt", id="p", message="go")
        until(lambda: marked("sleep 6130"))
        agent.send("abort")
        agent.until("done")
        assert gone("6129")
        assert not gone("6128")


def test_clearing_ends_it(tmp_path: Path):
    with RpcProcess(tmp_path, [begin("sleep 6131"), END]) as agent:
        agent.prompt()
        assert agent.ask("clear")["success"]
        assert gone("6131")
        assert agent.ask("get_background")["data"] == {"commands": []}


def test_the_end_of_the_agent_ends_it(tmp_path: Path):
    with RpcProcess(tmp_path, [begin("(setsid sleep 6132 &); sleep 6133"), END]) as agent:
        agent.prompt()
        os.kill(agent.process.pid, signal.SIGTERM)
        agent.wait()
        assert gone("6132")
        assert gone("6133")


def test_of_an_output_that_was_not_asked_for_the_end_is_told_and_how_much_is_missing():
    output = RecentOutput()
    for number in range(100_000):
        output.add(b"line %d\n" % number)
    size = sum(len(f"line {number}\n") for number in range(100_000))
    first, _, rest = output.new(ended=False).partition("\n")
    assert len(rest) <= MAX_BYTES < KEPT_BYTES
    assert first == f"[left out: {size - len(rest)} bytes]"
    assert rest.endswith("line 99999\n")
    assert rest.startswith("line ")


def test_an_unfinished_line_is_told_again_when_it_is_whole():
    output = RecentOutput()
    output.add(b"a\nKEY=se")
    assert output.new(ended=False) == "a\nKEY=se"
    output.add(b"cret\n")
    assert output.new(ended=False) == "KEY=secret\n"
    assert output.new(ended=True) == ""
