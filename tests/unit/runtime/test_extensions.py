"""Extensions: tools, events and vetoes from other processes, and their deaths."""

import base64
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from extension_kit import ALLOW, ECHO, FILE_TOOLS, heard, lines_heard, make_extension
from support.raw_client import wait_until
from support.rpc_process import RpcProcess, call, marked, recorded, result_texts, types


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def write_step(**more: object) -> list[dict[str, Any]]:
    return [{"calls": [call("write", path="a.txt", content="hello new\n")], **more}, {"text": "ok"}]


def test_its_tools_answer_where_the_agents_own_are_left_out(cwd: Path):
    folder = make_extension(cwd / "ext", FILE_TOOLS, ECHO)
    with RpcProcess(cwd, write_step(), "--ext", folder, "--tools", "bash") as agent:
        frames = agent.prompt()
    expected = recorded("ext_own_file_tools_no_tools")
    assert result_texts(frames) == result_texts(expected)
    assert not (cwd / "a.txt").exists()


def test_the_agents_own_tools_go_first(cwd: Path):
    folder = make_extension(cwd / "ext", FILE_TOOLS, ECHO)
    with RpcProcess(cwd, write_step(), "--ext", folder, "--no-ext") as agent:
        frames = agent.prompt()
    assert result_texts(frames) == ["hello new\n"]
    assert (cwd / "a.txt").read_text() == "hello new\n"


def test_it_is_greeted_with_what_it_needs(cwd: Path):
    folder = make_extension(cwd / "ext")
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        agent.ask("ping")
        agent.close_stdin()
        assert agent.wait() == 0
    ack, shutdown = heard(cwd / "ext")
    assert ack.pop("zot_version")
    assert ack == {
        "type": "hello_ack",
        "protocol_version": 1,
        "provider": "script",
        "model": "script",
        "cwd": str(cwd),
        "extension_dir": folder,
        "data_dir": folder,
    }
    assert shutdown == {"type": "shutdown"}


def test_calls_of_a_step_are_intercepted_and_run_one_after_the_other(cwd: Path):
    greeting = f'{FILE_TOOLS}\nsay(type="subscribe", intercept=["tool_call"])'
    folder = make_extension(cwd / "ext", greeting, f"{ALLOW}\n{ECHO}")
    calls = [
        call("read", path="a"),
        call("bash", command="echo hi"),
        call("nosuch"),
        call("write", path="b", content="x"),
    ]
    with RpcProcess(
        cwd, [{"calls": calls}, {"text": "x"}], "--ext", folder, "--tools", "bash"
    ) as agent:
        agent.prompt()
    frames = [frame for frame in heard(cwd / "ext") if frame["type"] != "hello_ack"]
    assert [(f["type"], f.get("tool_id"), f.get("tool_name", f.get("name"))) for f in frames] == [
        ("event_intercept", "call_01", "read"),
        ("tool_call", None, "read"),
        ("event_intercept", "call_02", "bash"),
        ("event_intercept", "call_04", "write"),
        ("tool_call", None, "write"),
    ]


def test_an_intercept_begins_with_its_type_and_its_id(cwd: Path):
    """The guard of the bridge tells it by that, without reading the rest."""
    folder = make_extension(cwd / "ext", 'say(type="subscribe", intercept=["tool_call"])', ALLOW)
    with RpcProcess(cwd, write_step(), "--ext", folder) as agent:
        agent.prompt()
    line = next(line for line in lines_heard(cwd / "ext") if "event_intercept" in line)
    start = '{"type":"event_intercept","id":"'
    assert line.startswith(start)
    assert line[len(start) :].partition('"')[2].startswith(',"event":"tool_call","tool_id":')


def test_a_block_is_what_the_model_reads(cwd: Path):
    reaction = (
        'if kind == "event_intercept":\n'
        '    say(type="event_intercept_response", id=number, block=True, reason="no, thanks")'
    )
    folder = make_extension(cwd / "ext", 'say(type="subscribe", intercept=["tool_call"])', reaction)
    with RpcProcess(cwd, write_step(), "--ext", folder) as agent:
        frames = agent.prompt()
    assert result_texts(frames) == ["no, thanks"]
    assert next(f for f in frames if f["type"] == "tool_result")["is_error"] is True
    assert not (cwd / "a.txt").exists()


def test_changed_arguments_change_what_runs_and_not_what_is_told(cwd: Path):
    reaction = (
        'if kind == "event_intercept":\n'
        '    args = {"path": "a.txt", "content": "HELLO NEW\\n"}\n'
        '    say(type="event_intercept_response", id=number, modified_args=args)'
    )
    folder = make_extension(cwd / "ext", 'say(type="subscribe", intercept=["tool_call"])', reaction)
    with RpcProcess(cwd, write_step(), "--ext", folder) as agent:
        frames = agent.prompt()
    assert result_texts(frames) == ["HELLO NEW\n"]
    assert (cwd / "a.txt").read_text() == "HELLO NEW\n"
    assert next(f for f in frames if f["type"] == "tool_call")["args"]["content"] == "hello new\n"


def test_a_blocked_step_ends_the_turn_as_in_the_recording(cwd: Path):
    reaction = (
        'if kind == "event_intercept":\n'
        '    say(type="event_intercept_response", id=number, block=frame["step"] == 2,'
        ' reason="turn budget reached")'
    )
    folder = make_extension(
        cwd / "ext", 'say(type="subscribe", intercept=["turn_start"])', reaction
    )
    with RpcProcess(cwd, write_step(text="writing"), "--ext", folder) as agent:
        frames = agent.prompt()
    assert types(frames) == types(recorded("ext_block_turn"))
    assert frames[-2]["error"] == "turn budget reached"


@pytest.mark.parametrize(
    ("answer", "recording"),
    [
        ('replace_text="REWRITTEN: secret"', "ext_rewrite_message"),
        ("block=True", "ext_hide_message"),
    ],
)
def test_a_message_is_rewritten_or_hidden_after_it_was_streamed(
    cwd: Path, answer: str, recording: str
):
    reaction = (
        'if kind == "event_intercept":\n'
        f'    say(type="event_intercept_response", id=number, {answer})'
    )
    folder = make_extension(
        cwd / "ext", 'say(type="subscribe", intercept=["assistant_message"])', reaction
    )
    steps = (
        [{"text": "secret"}] if recording == "ext_rewrite_message" else write_step(text="writing")
    )
    with RpcProcess(cwd, steps, "--ext", folder) as agent:
        frames = agent.prompt()
        messages = agent.ask("get_messages")["data"]["messages"]
    expected = [frame for frame in recorded(recording) if frame["type"] != "response"]
    assert types([frame for frame in frames if frame["type"] != "response"]) == types(expected)
    shown = [frame["content"] for frame in frames if frame["type"] == "assistant_message"]
    assert shown == [f["content"] for f in expected if f["type"] == "assistant_message"]
    assert messages[1]["content"][0]["text"] == steps[0]["text"]


def test_events_are_told_to_who_subscribed(cwd: Path):
    events = ["session_start", "turn_start", "turn_end", "tool_call", "assistant_message"]
    folder = make_extension(cwd / "ext", f'say(type="subscribe", events={events})')
    with RpcProcess(cwd, write_step(), "--ext", folder) as agent:
        agent.prompt()
        agent.close_stdin()
        agent.wait()
    told = [frame for frame in heard(cwd / "ext") if frame["type"] == "event"]
    assert all(frame.pop("type") for frame in told)
    call_fields = {"tool_id": "call_01", "tool_name": "write", "tool_args": told[3]["tool_args"]}
    assert told == [
        {"event": "session_start"},
        {"event": "turn_start", "step": 1},
        {"event": "assistant_message"},
        {"event": "tool_call", **call_fields},
        {"event": "turn_end", "stop": "tool_use"},
        {"event": "turn_start", "step": 2},
        {"event": "assistant_message", "text": "ok"},
        {"event": "turn_end", "stop": "end"},
    ]
    assert told[3]["tool_args"]["path"] == "a.txt"


def test_its_notices_reach_the_client(cwd: Path):
    reaction = 'if kind == "event":\n    say(type="notify", level="warn", message="saw it")'
    folder = make_extension(cwd / "ext", 'say(type="subscribe", events=["turn_end"])', reaction)
    with RpcProcess(cwd, [{"text": "x"}], "--ext", folder) as agent:
        agent.prompt()
        agent.until("ext_notify") if agent.frames[-1]["type"] == "done" else None
    notice = next(frame for frame in agent.frames if frame["type"] == "ext_notify")
    assert notice == {
        "type": "ext_notify",
        "extension": "helper",
        "level": "warn",
        "message": "saw it",
    }


@pytest.mark.parametrize("block", ["1", "'yes'"])
def test_whatever_may_be_meant_as_a_refusal_is_one(cwd: Path, block: str):
    reaction = (
        'if kind == "event_intercept":\n'
        f'    say(type="event_intercept_response", id=number, block={block})'
    )
    folder = make_extension(cwd / "ext", 'say(type="subscribe", intercept=["tool_call"])', reaction)
    with RpcProcess(cwd, write_step(), "--ext", folder) as agent:
        assert result_texts(agent.prompt()) == ["blocked by extension"]


@pytest.mark.slow
def test_a_veto_that_comes_after_5_seconds_is_too_late(cwd: Path):
    reaction = (
        'if kind == "event_intercept":\n    time.sleep(6)\n'
        '    say(type="event_intercept_response", id=number, block=True, reason="late")'
    )
    folder = make_extension(cwd / "ext", 'say(type="subscribe", intercept=["tool_call"])', reaction)
    with RpcProcess(cwd, write_step(), "--ext", folder) as agent:
        frames = agent.prompt()
    assert result_texts(frames) == ["hello new\n"]


def test_an_abort_does_not_wait_for_a_veto(cwd: Path):
    folder = make_extension(cwd / "ext", 'say(type="subscribe", intercept=["tool_call"])')
    with RpcProcess(cwd, write_step(), "--ext", folder) as agent:
        agent.send("prompt", id="1", message="go")
        agent.until("turn_end")
        agent.send("abort", id="a")
        frames = agent.until("done")
    assert result_texts(frames) == ["aborted: not run"]
    assert not (cwd / "a.txt").exists()


def test_an_abort_does_not_wait_for_an_answer(cwd: Path):
    folder = make_extension(cwd / "ext", FILE_TOOLS)
    steps = [{"calls": [call("write", path="a", content="x"), call("read", path="a")]}]
    with RpcProcess(cwd, steps, "--ext", folder, "--tools", "bash") as agent:
        agent.send("prompt", id="1", message="go")
        agent.until("turn_end")
        assert wait_until(lambda: "tool_call" in (cwd / "ext" / "frames.jsonl").read_text())
        agent.send("abort", id="a")
        frames = agent.until("done")
    first = "extension helper/write failed: context canceled"
    assert result_texts(frames) == [first, "aborted: not run"]


def test_an_empty_answer_becomes_a_sentence(cwd: Path):
    reaction = (
        'if kind == "tool_call":\n'
        '    say(type="tool_result", id=number, content=[{"type": "text", "text": ""}])'
    )
    folder = make_extension(cwd / "ext", FILE_TOOLS, reaction)
    with RpcProcess(cwd, write_step(), "--ext", folder, "--no-tools") as agent:
        assert result_texts(agent.prompt()) == ["(extension returned no content)"]


def test_an_image_is_what_models_take_as_one_or_words(cwd: Path):
    """What a service refuses would be refused again with every later prompt."""
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"." * 80).decode()
    datas = [f"{picture[:76]}\n{picture[76:]}\n", f"{picture[:-4]}?.. ", ""]
    images = [{"type": "image", "mime_type": "image/png", "data": data} for data in datas]
    reaction = (
        f'if kind == "tool_call":\n    say(type="tool_result", id=number, content={images!r})'
    )
    folder = make_extension(cwd / "ext", FILE_TOOLS, reaction)
    with RpcProcess(cwd, write_step(), "--ext", folder, "--tools", "bash") as agent:
        frames = agent.prompt()
    (result,) = [frame for frame in frames if frame["type"] == "tool_result"]
    words = "[helper/write: an image whose data is no base64]"
    assert result["content"] == [
        {"type": "image", "mime_type": "image/png", "bytes": 88},
        {"type": "text", "text": words},
        {"type": "text", "text": words},
    ]
    assert result["is_error"] is True


def test_a_block_of_no_known_type_does_not_vanish(cwd: Path):
    content = [{"type": "audio", "data": "AAAA"}, {"text": "x"}, "y", {"type": "text", "text": "z"}]
    reaction = f'if kind == "tool_call":\n    say(type="tool_result", id=number, content={content})'
    folder = make_extension(cwd / "ext", FILE_TOOLS, reaction)
    with RpcProcess(cwd, write_step(), "--ext", folder, "--no-tools") as agent:
        frames = agent.prompt()
    unknown = "[helper/write: a block of the unknown type {!r}]"
    expected = unknown.format("audio") + unknown.format(None) * 2 + "z"
    assert result_texts(frames) == [expected]


def test_what_no_context_could_hold_is_cut_and_says_so(cwd: Path):
    """The context of the script has 200,000 tokens; a step's results may take half of it."""
    reaction = (
        'if kind == "tool_call":\n'
        '    content = [{"type": "text", "text": "x" * 500_000}]\n'
        '    say(type="tool_result", id=number, content=content)'
    )
    folder = make_extension(cwd / "ext", FILE_TOOLS, reaction)
    steps = [{"calls": [call("read", path="a"), call("read", path="b")]}, {"text": "ok"}]
    with RpcProcess(cwd, steps, "--ext", folder, "--no-tools") as agent:
        texts = result_texts(agent.prompt())
    note = "\n[cut: {} more characters than there is room for; ask for less]"
    assert texts[0] == "x" * 300_000 + note.format(200_000)
    assert texts[1] == "x" * 2_000 + note.format(498_000)


def test_an_extension_that_crashes_fails_its_calls_and_not_the_agent(cwd: Path):
    folder = make_extension(cwd / "ext", FILE_TOOLS, 'if kind == "tool_call":\n    os._exit(3)')
    steps = [*write_step(), *write_step()]
    with RpcProcess(cwd, steps, "--ext", folder, "--no-tools") as agent:
        failed = "extension helper/write failed: the extension has ended"
        assert result_texts(agent.prompt()) == [failed]
        assert result_texts(agent.prompt()) == [failed]
        assert agent.ask("ping")["success"] is True
    notices = [frame for frame in agent.frames if frame["type"] == "ext_notify"]
    assert [(notice["level"], notice["message"]) for notice in notices] == [
        ("error", "extension helper has ended (exit code 3); see: lsp-agent ext logs helper")
    ]


@pytest.mark.parametrize(
    ("crash", "how"),
    [
        ("os._exit(0)", "exit code 0"),
        ("os.kill(os.getpid(), 9)", "signal 9"),
        ("os.close(1); time.sleep(1000)", "it closed its stdout"),
        ('print("x" * (5 << 20), flush=True); time.sleep(1000)', "it sent a line of more than"),
    ],
)
def test_how_an_extension_ended_is_told(cwd: Path, crash: str, how: str):
    """Whether it has said hello or not; and nothing waits for it."""
    folder = make_extension(cwd / "ext", crash)
    with RpcProcess(cwd, [{"text": "ok"}], "--ext", folder) as agent:
        assert types(agent.prompt())[-1] == "done"
        if not any(frame["type"] == "ext_notify" for frame in agent.frames):
            agent.until("ext_notify")
    notices = [frame["message"] for frame in agent.frames if frame["type"] == "ext_notify"]
    assert len(notices) == 1
    assert notices[0].startswith(f"extension helper has ended ({how}")


def test_what_it_does_not_read_does_not_fill_the_memory(cwd: Path):
    greeting = 'say(type="subscribe", events=["assistant_message"])\nsay(type="ready")'
    folder = make_extension(cwd / "ext", f"{greeting}\ntime.sleep(1000)")
    with RpcProcess(cwd, [{"text": "x" * (1 << 20)}] * 40, "--ext", folder) as agent:
        for number in range(40):
            agent.prompt()
            agent.ask("clear")
            if number == 19:
                before = memory(agent)
        assert memory(agent) - before < 10 << 20
        agent.close_stdin()  # killed, it could not end one that reads nothing
        assert agent.wait() == 0


def memory(agent: RpcProcess) -> int:
    return psutil.Process(agent.process.pid).memory_info().rss


def test_frames_that_only_zots_screen_has_are_passed_over(cwd: Path):
    greeting = "\n".join(
        f'say(type="{kind}", id="1", text="x")' for kind in ("panel_render", "status", "whatever")
    )
    folder = make_extension(cwd / "ext", f"{greeting}\n{FILE_TOOLS}", ECHO)
    with RpcProcess(cwd, write_step(), "--ext", folder, "--no-tools") as agent:
        assert result_texts(agent.prompt())[0].startswith("[editor] write")


def test_its_garbage_is_skipped(cwd: Path):
    folder = make_extension(cwd / "ext", f'print("garbage")\nprint("[]")\n{FILE_TOOLS}', ECHO)
    with RpcProcess(cwd, write_step(), "--ext", folder, "--no-tools") as agent:
        assert result_texts(agent.prompt())[0].startswith("[editor] write")


def test_what_cannot_be_started_is_told_of_and_the_others_go_on(cwd: Path):
    good = make_extension(cwd / "ext", FILE_TOOLS, ECHO)
    missing = make_extension(cwd / "bad", exec="/nowhere/at-all")
    flags = ["--ext", str(cwd / "none"), "--ext", missing, "--ext", good, "--no-tools"]
    with RpcProcess(cwd, write_step(), *flags) as agent:
        assert result_texts(agent.prompt())[0].startswith("[editor] write")
        agent.close_stdin()
        assert agent.wait() == 0
    assert "extension.json cannot be read: No such file" in agent.stderr
    assert "/nowhere/at-all: No such file" in agent.stderr


def test_a_disabled_extension_is_not_started(cwd: Path):
    folder = make_extension(cwd / "ext", FILE_TOOLS, ECHO, enabled=False)
    with RpcProcess(cwd, write_step(), "--ext", folder, "--no-tools") as agent:
        assert result_texts(agent.prompt()) == ['unknown tool "write"']
    assert not (cwd / "ext" / "frames.jsonl").exists()


def test_of_two_tools_of_one_name_the_first_counts(cwd: Path):
    one = make_extension(cwd / "one", FILE_TOOLS, ECHO.replace("[editor]", "[one]"), name="one")
    two = make_extension(cwd / "two", FILE_TOOLS, ECHO.replace("[editor]", "[two]"), name="two")
    with RpcProcess(cwd, write_step(), "--ext", one, "--ext", two, "--no-tools") as agent:
        assert result_texts(agent.prompt())[0].startswith("[one] write")


def test_it_sees_no_token(cwd: Path):
    greeting = 'open("seen", "w").write(os.environ.get("ZOTCORE_RPC_TOKEN", "nothing"))'
    folder = make_extension(cwd / "ext", greeting)
    with RpcProcess(cwd, [], "--ext", folder, env={"ZOTCORE_RPC_TOKEN": "s3cret"}) as agent:
        assert agent.ask("hello", token="s3cret")["success"] is True
    assert (cwd / "ext" / "seen").read_text() == "nothing"


@pytest.mark.skipif(sys.platform != "linux", reason="descendants are only found on Linux")
def test_a_command_that_ends_leaves_extensions_alone_and_the_end_takes_all(cwd: Path):
    mark = f"mark-{time.time_ns()}"
    child = "import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 1000; : MARK'])".replace(
        "MARK", mark
    )
    folder = make_extension(cwd / "ext", f"{child}\n{FILE_TOOLS}", ECHO)
    steps = [{"calls": [call("bash", command="true"), call("read", path="a")]}, {"text": "x"}]
    with RpcProcess(cwd, steps, "--ext", folder, "--tools", "bash") as agent:
        assert result_texts(agent.prompt())[1].startswith("[editor] read")
        # The shell is there twice until its child has become the other program.
        assert wait_until(lambda: len(marked(mark)) == 1)
        agent.close_stdin()
        assert agent.wait() == 0
        assert marked(mark) == []


def test_one_that_does_not_heed_shutdown_is_ended(cwd: Path):
    greeting = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)"
    folder = make_extension(cwd / "ext", greeting)
    source = (cwd / "ext" / "helper.py").read_text()
    deaf = source.partition("for line in sys.stdin:")[0] + "time.sleep(1000)\n"
    (cwd / "ext" / "helper.py").write_text(deaf)
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        agent.ask("ping")
        agent.close_stdin()
        assert agent.wait(5) == 0
    assert agent.stderr == ""
