"""The embedded agent keeps its conversation where it is asked to, and goes on with it."""

import os
import resource
import stat
import sys
from pathlib import Path

import pytest
from support.rpc_process import Frame, RpcProcess, call

from lsp_agent.runtime import conversation
from lsp_agent.runtime.conversation import Conversation
from lsp_agent.runtime.transcript import Usage

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits another process, looks in /proc")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def agent(data: Path, *steps: Frame) -> RpcProcess:
    folder = data.parent / "work"
    folder.mkdir(exist_ok=True)
    return RpcProcess(folder, steps, env={"XDG_DATA_HOME": str(data)})


def hello(running: RpcProcess, session: str = "new") -> str | None:
    return running.ask("hello", session=session)["data"].get("session")


def said(running: RpcProcess) -> list[tuple[str, str]]:
    messages = running.ask("get_messages")["data"]["messages"]
    return [
        (message["role"], "".join(block.get("text", block["type"]) for block in message["content"]))
        for message in messages
    ]


def files(data: Path) -> list[Path]:
    return sorted(data.glob("lsp-agent/conversations/*"))


def test_who_does_not_ask_for_it_leaves_nothing(data: Path):
    with agent(data, {"text": "Noted."}) as running:
        assert "session" not in running.ask("hello")["data"]
        running.prompt()
        assert "session" not in running.ask("get_state")["data"]
    assert files(data) == []


def test_a_later_process_goes_on_with_it(data: Path):
    with agent(data, {"calls": [call("bash", command="echo out")]}, {"text": "Noted."}) as first:
        name = hello(first)
        assert name is not None
        first.prompt("The word is blue.")
        state, before = first.ask("get_state")["data"], said(first)
    with agent(data) as second:
        assert hello(second, name) == name
        assert said(second) == before
        again = second.ask("get_state")["data"]
        assert (again["session"], again["usage"]) == (state["session"], state["usage"])
    (file,) = files(data)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_killed_process_loses_nothing_that_was_said(data: Path):
    with agent(data, {"text": "Noted."}, {"text": "w " * 500, "pace_ms": 20}) as first:
        name = hello(first) or ""
        first.prompt("The word is blue.")
        first.send("prompt", message="Go on.")
        first.until("text_delta")
        first.until("text_delta")
        first.until("text_delta")
        first.process.kill()
    with agent(data, {"text": "Blue."}) as second:
        assert hello(second, name) == name
        *before, (role, partly) = said(second)
    assert [text for _, text in before] == ["The word is blue.", "Noted.", "Go on."]
    assert role == "assistant"
    assert partly.startswith("w w")


def test_a_call_that_was_cut_off_has_a_result_that_says_so(data: Path):
    with agent(data, {"calls": [call("bash", command="sleep 60")]}) as first:
        name = hello(first) or ""
        first.send("prompt", message="Wait.")
        first.until("tool_call")
        first.process.kill()
    with agent(data) as second:
        hello(second, name)
        (*_, (role, _)) = said(second)
        (result,) = second.ask("get_messages")["data"]["messages"][-1]["content"]
    assert role == "tool"
    assert result["is_error"]
    assert "the agent was ended" in result["content"][0]["text"]


def test_a_torn_last_line_is_left_out(data: Path):
    with agent(data, {"text": "Noted."}) as first:
        name = hello(first) or ""
        first.prompt("The word is blue.")
    (file,) = files(data)
    with file.open("ab") as opened:
        opened.write(b'{"message": {"role": "us')
    with agent(data, {"text": "Well."}) as second:
        assert hello(second, name) == name
        second.prompt("And?")
        told = said(second)
    with agent(data) as third:
        hello(third, name)
        assert said(third) == told
    assert [text for _, text in told] == ["The word is blue.", "Noted.", "And?", "Well."]


def test_a_file_that_was_cut_anywhere_is_a_conversation_that_can_go_on(
    data: Path, monkeypatch: pytest.MonkeyPatch
):
    """As by kill -9 amid a write."""
    calls = [call("bash", command="echo out"), call("read", path="none")]
    with agent(data, {"text": "I look.", "calls": calls}, {"text": "Noted."}) as running:
        name = hello(running) or ""
        running.prompt("The word is blue.")
        whole = said(running)
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    (file,) = files(data)
    written = file.read_bytes()
    for size in range(0, len(written), 9):
        file.write_bytes(written[:size])
        taken = Conversation.take_up(name)
        assert taken is not None
        kept, messages, _ = taken
        assert [message["role"] for message in messages] == [
            role for role, _ in whole[: len(messages)]
        ]
        kept.forget()
        if messages and messages[-1]["role"] == "assistant":
            assert "tool_call" not in {block["type"] for block in messages[-1]["content"]}


@pytest.mark.parametrize(
    "line",
    [
        b"\x89PNG \xff",
        b"[]",
        b'{"delta": 3}',
        b'{"usage": {"input": "many", "output": 0, "cache_read": 0, "cache_write": 0}}',
        b'{"message": {"role": "user", "content": "Blue.", "time": ""}}',
        b'{"message": {"role": "robot", "content": [], "time": ""}}',
        b'{"message": {"role": "user", "content": [{"type": "video"}], "time": ""}}',
        b'{"message": {"role": "user", "content": [{"type": "text", "text": 3}], "time": ""}}',
        b'{"message": {"role": "tool", "content": [{"type": "text", "text": ""}], "time": ""}}',
    ],
)
def test_one_that_is_damaged_is_begun_anew(data: Path, line: bytes):
    """The client then tells the agent what was said: more than what is left of it."""
    name = f"c-{1:032x}"
    folder = data / "lsp-agent" / "conversations"
    folder.mkdir(parents=True)
    said_before = b'{"message": {"role": "user", "content": [], "time": ""}}'
    (folder / f"{name}.jsonl").write_bytes(b"\n".join((said_before, line, said_before, b"")))
    with agent(data, {"text": "Well."}) as running:
        assert hello(running, name) not in (None, name)
        assert running.prompt()[-2]["stop"] == "end"


def fill_the_disk(running: RpcProcess, most: int) -> None:
    """No file can grow over so many bytes."""
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


@linux
@pytest.mark.parametrize("kind", ["prompt", "compact"])
def test_a_full_disk_is_told_of_and_leaves_nothing_behind(data: Path, kind: str):
    steps = [{"text": "Noted."}] * 4 + [{"text": "All was noted. " * 900}]
    with agent(data, *steps) as running:
        hello(running)
        for _ in range(4):
            running.prompt("Note this.")
        (file,) = files(data)
        fill_the_disk(running, file.stat().st_size)
        running.send(kind, message="Note this.")
        running.until("done" if kind == "prompt" else "compact_done")
        (told,) = [one["message"] for one in running.frames if one["type"] == "ext_notify"]
        assert f"cannot be kept in {file.parent} (File too large)" in told
        assert files(data) == []
        opened = Path(f"/proc/{running.process.pid}/fd").iterdir()
        assert not [link for link in opened if "conversations" in str(link.readlink())]
        assert "session" not in running.ask("get_state")["data"]


@linux
def test_a_full_disk_at_the_start_leaves_an_agent_that_knows_nothing(data: Path):
    """The client sees by the answer that it is to be told."""
    with agent(data, {"text": "Noted."}) as first:
        name = hello(first) or ""
        first.prompt("The word is blue.")
    with agent(data, {"text": "Well."}) as second:
        fill_the_disk(second, 10)
        assert hello(second, name) is None
        assert said(second) == []
        assert second.prompt()[-2]["stop"] == "end"
    assert files(data) == []


def test_what_a_killed_process_was_about_to_put_in_place_goes(data: Path):
    folder = data / "lsp-agent" / "conversations"
    folder.mkdir(parents=True)
    (folder / f"c-{1:032x}.new").write_text("secret", encoding="utf-8")
    (folder / f"c-{2:032x}.jsonl").symlink_to("nowhere")  # as if it had just been removed
    with agent(data) as running:
        name = hello(running)
    assert {path.stem for path in files(data)} == {name, f"c-{2:032x}"}


def test_one_that_is_put_in_its_place_meanwhile_is_in_use(
    data: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its file was opened before, and its lock is free."""
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    keeper = Conversation.begin()
    flock = conversation.fcntl.flock

    def late(file: int, operation: int) -> None:
        monkeypatch.setattr(conversation.fcntl, "flock", flock)
        keeper.replace([], Usage())
        flock(file, operation)

    monkeypatch.setattr(conversation.fcntl, "flock", late)
    assert Conversation.take_up(keeper.name) is None
    keeper.forget()
    assert files(data) == []


def test_what_is_cleared_or_summarized_is_so_for_later_processes(data: Path):
    steps = [{"text": "Noted."}] * 4 + [{"text": "All was noted."}]
    with agent(data, *steps) as first:
        name = hello(first) or ""
        for _ in range(4):
            first.prompt("Note this.")
        first.send("compact")
        first.until("compact_done")
        short = said(first)
    with agent(data) as second:
        hello(second, name)
        assert said(second) == short
        second.ask("clear")
    with agent(data) as third:
        assert hello(third, name) == name
        assert said(third) == []


def test_one_in_which_nothing_was_said_leaves_nothing(data: Path):
    with agent(data) as running:
        assert hello(running) is not None
        running.close_stdin()
        running.wait()
    assert files(data) == []


def test_one_that_is_forgotten_or_in_use_is_begun_anew(data: Path):
    with agent(data, {"text": "Noted."}) as first:
        name = hello(first) or ""
        first.prompt()
        with agent(data) as second:
            other = hello(second, name)
            assert other not in (None, name)
            assert said(second) == []
    (data / "lsp-agent" / "conversations" / f"{name}.jsonl").unlink()
    with agent(data) as third:
        assert hello(third, name) not in (None, name)


@pytest.mark.parametrize("name", ["../../secret", "c-", "/etc/passwd", "c-" + "0" * 32 + "/../x"])
def test_a_name_leads_nowhere_else(data: Path, name: str):
    with agent(data) as running:
        assert hello(running, name) not in (None, name)


def test_a_link_in_its_place_is_not_followed(data: Path, tmp_path: Path):
    folder = data / "lsp-agent" / "conversations"
    folder.mkdir(parents=True)
    (tmp_path / "precious").write_text("mine", encoding="utf-8")
    name = "c-" + "0" * 32
    (folder / f"{name}.jsonl").symlink_to(tmp_path / "precious")
    with agent(data, {"text": "x"}) as running:
        hello(running, name)
        running.prompt()
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "mine"


def test_where_nothing_can_be_kept_the_turns_go_on(data: Path):
    data.write_text("a file in the folder's place", encoding="utf-8")
    with agent(data, {"text": "Noted."}) as running:
        assert hello(running) is None
        (told,) = [one["message"] for one in running.frames if one["type"] == "ext_notify"]
        assert f"cannot be kept in {data}/lsp-agent/conversations (Not a directory)" in told
        assert running.prompt()[-2]["stop"] == "end"


def test_of_many_the_oldest_go(data: Path):
    folder = data / "lsp-agent" / "conversations"
    folder.mkdir(parents=True)
    for number in range(205):
        path = folder / f"c-{number:032x}.jsonl"
        path.touch()
        os.utime(path, (number, number))
    with agent(data) as running:
        name = hello(running)
    left = {path.stem for path in files(data)}
    assert len(left) == 200
    assert name in left
    assert f"c-{5:032x}" not in left
    assert f"c-{6:032x}" in left
