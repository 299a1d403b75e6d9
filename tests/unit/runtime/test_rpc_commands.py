"""Commands and their answers, line by line as zot's."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.rpc_process import RECORDINGS, RpcProcess, recorded

from lsp_agent.runtime.options import TOOLS, Options, add_arguments, options
from lsp_agent.runtime.prompt import system_prompt
from lsp_agent.runtime.tools.toolbox import BUILT_IN

LINES = 16 * 1024 * 1024


def sent(name: str) -> list[str]:
    rows = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    entries = [json.loads(row) for row in rows if row]
    return [
        entry["raw"] if "raw" in entry else json.dumps(entry["line"])
        for entry in entries
        if entry["dir"] == "in"
    ]


def responses(frames: list[dict[str, object]]) -> list[dict[str, object]]:
    return [frame for frame in frames if frame["type"] == "response"]


def test_every_odd_line_of_the_recording_gets_the_recorded_answer(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x"}]) as agent:
        for line in sent("malformed_and_unknown"):
            agent.raw(line)
        expected = responses(recorded("malformed_and_unknown"))
        got = [agent.until("response")[-1] for _ in expected]
        # Commands are answered at once, prompts when they start: their order may differ.
        key = json.dumps
        assert sorted(map(key, map(_sorted, got))) == sorted(map(key, map(_sorted, expected)))


def _sorted(frame: dict[str, object]) -> dict[str, object]:
    return dict(sorted(frame.items()))


@pytest.mark.parametrize("name", ["auth_token_ok", "auth_token_missing", "auth_token_wrong"])
def test_a_token_is_asked_for_as_in_the_recording(tmp_path: Path, name: str):
    with RpcProcess(tmp_path, env={"ZOTCORE_RPC_TOKEN": "s3cret"}) as agent:
        expected = responses(recorded(name))
        for line, answer in zip(sent(name), expected, strict=False):
            agent.raw(line)
            got = agent.until("response")[-1]
            assert {**got, "data": None} == {**answer, "data": None}
        agent.close_stdin() if name == "auth_token_ok" else None
        assert agent.wait() == (0 if name == "auth_token_ok" else 1)
    if name != "auth_token_ok":
        assert agent.stderr == "lsp-agent rpc: bad auth token\n"


def test_answers_have_the_recorded_fields(tmp_path: Path):
    """All of the recording but the models, which are others here; and the features beyond zot."""
    with RpcProcess(tmp_path, [{"text": "a1"}, {"text": "a2"}]) as agent:
        expected = iter(responses(recorded("state_commands")))
        for line in sent("state_commands"):
            agent.raw(line)
            command = json.loads(line)
            got, wanted = agent.until("response")[-1], next(expected)
            if command["type"] == "prompt":
                agent.until("done")
            elif command["type"] != "set_model":
                if command["type"] == "hello":
                    assert got["data"].pop("features")
                assert shape(got) == shape(wanted)


def shape(value: object) -> object:
    """The names, and the types of what they name; of a list its first item's."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return "number" if type(value) in (int, float) else type(value)


def test_hello_says_who_answers(tmp_path: Path):
    with RpcProcess(tmp_path) as agent:
        data = agent.ask("hello")["data"]
    assert (data["protocol_version"], data["provider"], data["model"]) == (1, "script", "script")


def test_the_state_counts_messages_and_usage(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "two words"}]) as agent:
        agent.prompt("hi")
        state = agent.ask("get_state")["data"]
    assert state["cwd"] == str(tmp_path)
    assert (state["message_count"], state["busy"]) == (2, False)
    assert state["usage"]["output"] == 2


def test_messages_have_the_shape_of_the_wire(tmp_path: Path):
    calls = [{"name": "write", "args": {"path": "a", "content": "x"}}]
    with RpcProcess(tmp_path, [{"text": "t", "calls": calls}, {"text": "end"}]) as agent:
        agent.prompt("hi")
        messages = agent.ask("get_messages")["data"]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[1]["content"][1] == {"type": "tool_call", "id": "call_01", **calls[0]}
    assert messages[2]["content"] == [
        {
            "type": "tool_result",
            "call_id": "call_01",
            "is_error": False,
            "content": [{"type": "text", "text": "x"}],
        }
    ]


def test_images_come_back_as_their_size(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x"}]) as agent:
        images = [{"mime_type": "image/png", "data": "iVBORw0KGgo="}]
        agent.send("prompt", id="1", message="see", images=images)
        content = agent.until("user_message")[-1]["content"]
    assert content[1] == {"type": "image", "mime_type": "image/png", "bytes": 8}


def test_clear_empties_the_transcript_and_keeps_the_usage(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x"}]) as agent:
        agent.prompt()
        assert "data" not in agent.ask("clear")
        state = agent.ask("get_state")["data"]
    assert (state["message_count"], state["usage"]["output"]) == (0, 1)


def test_clear_is_refused_while_a_turn_runs(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x", "delay_ms": 10_000}]) as agent:
        agent.send("prompt", id="1", message="hi")
        agent.until("turn_start")
        assert "busy" in agent.ask("clear")["error"]
        assert agent.ask("get_state")["data"]["busy"] is True


def test_script_is_the_only_model(tmp_path: Path):
    with RpcProcess(tmp_path) as agent:
        models = agent.ask("get_models")["data"]["models"]
        assert [model["id"] for model in models] == ["script"]
        assert agent.ask("set_model", model="script")["data"] == {"model": "script"}
        error = agent.ask("set_model", model="nope")["error"]
        assert error == 'unknown model "nope" (provider="script")'


def test_a_line_of_15_mb_is_taken_and_echoed(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x"}]) as agent:
        text = "a" * 15_000_000
        agent.send("prompt", id="1", message=text)
        assert agent.until("user_message")[-1]["content"] == [{"type": "text", "text": text}]
        agent.until("done")


def test_a_line_that_is_too_long_is_refused_and_the_agent_lives_on(tmp_path: Path):
    with RpcProcess(tmp_path) as agent:
        agent.raw(b'{"type":"ping","x":"' + b"a" * LINES + b'"}')
        refusal = agent.until("response")[-1]
        assert refusal["success"] is False
        assert "line too long" in refusal["error"]
        assert agent.ask("ping")["data"] == {"pong": True}


def test_commands_are_answered_while_a_turn_runs(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x", "delay_ms": 10_000}]) as agent:
        agent.send("prompt", id="1", message="hi")
        agent.until("turn_start")
        assert agent.ask("ping")["success"] is True


def test_every_flag_of_zot_is_taken(tmp_path: Path):
    flags = (
        "--model script --api-key k --base-url u --system-prompt s --append-system-prompt a"
        " --reasoning high --max-steps 3 --no-tools --tools read --no-ext --no-skill --no-yolo"
    )
    with RpcProcess(tmp_path, [], *flags.split()) as agent:
        assert agent.ask("ping")["success"] is True


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([], "no provider is configured"),
        (["--provider", "mystery"], "there is no provider 'mystery'"),
        (["--provider", "script"], "needs a script"),
        (["--script", "/nowhere.json"], "cannot be read"),
    ],
)
def test_an_agent_that_cannot_run_says_how_it_can(flags: list[str], words: str):
    command = [sys.executable, "-P", "-m", "lsp_agent", "rpc", *flags]
    ended = subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert words in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert ended.stdout == ""


def test_the_systems_keyring_is_looked_for_without_a_compiler(tmp_path: Path):
    """keyring's part for macOS, which it imports everywhere, asks one where libraries lie."""
    for name in ("gcc", "cc"):
        (tmp_path / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (tmp_path / name).chmod(0o755)
    env = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [sys.executable, "-P", "-m", "lsp_agent", "rpc", "--provider", "anthropic"]
    subprocess.run(command, env=env, check=False, stdin=subprocess.DEVNULL, capture_output=True)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--cwd", "/nowhere", "--script", "x"], "is no folder"),
        (["--tools", "read, bsh"], "--tools: there is no tool 'bsh', only read, write, edit, bash"),
        (["--tools", "read,"], "--tools: there is no tool ''"),
        (["--tools", ""], "--tools: there is no tool ''"),
        (["--max-steps", "0"], "--max-steps: 0 is below 1"),
        (["--max-steps", "-3"], "--max-steps: -3 is below 1"),
        (
            ["--reasoning", "silly"],
            "--reasoning: there is no level 'silly', only off, minimal, low",
        ),
    ],
)
def test_a_flag_that_says_nothing_of_use_is_wrong_use(flags: list[str], words: str, tmp_path: Path):
    with RpcProcess(tmp_path, [], *flags) as agent:
        assert agent.wait() == 2
    assert words in agent.stderr
    assert agent.stderr.count("\n") == 1


def parsed(*flags: str) -> Options:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return options(parser.parse_args(flags))


def test_tools_may_have_blanks_between_them():
    assert parsed("--tools", "read, bash").tools == {"read", "bash"}
    assert parsed("--tools", " write ,edit").tools == {"write", "edit"}
    assert parsed().tools is None


def test_each_tool_can_be_named():
    assert set(TOOLS) == BUILT_IN.keys()
    assert parsed("--tools", ",".join(TOOLS)).tools == BUILT_IN.keys()


def test_every_text_that_is_appended_to_the_system_prompt_is():
    flags = ("--append-system-prompt", "Be brief.", "--append-system-prompt", "Be kind.")
    assert parsed(*flags).append_system_prompt == "Be brief.\n\nBe kind."
    assert system_prompt(parsed(*flags)).endswith("\n\nBe brief.\n\nBe kind.")
    assert parsed().append_system_prompt == ""


def test_a_level_of_reasoning_may_be_in_capitals_as_zots_may():
    assert parsed("--reasoning", "High").reasoning == "high"


def test_an_unknown_model_ends_it_at_once(tmp_path: Path):
    with RpcProcess(tmp_path, [], "--model", "nope-1") as agent:
        assert agent.wait() == 1
    assert 'unknown model "nope-1"' in agent.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id":"a"', "unexpected end of JSON input"),
        ('{"id" "a"}', "invalid character '\"' after object key"),
        ("nope", "invalid character 'n' looking for beginning of value"),
        ("[" * 5000, "unexpected end of JSON input"),
    ],
)
def test_other_odd_lines_are_told_of_and_survived(tmp_path: Path, line: str, message: str):
    with RpcProcess(tmp_path) as agent:
        agent.raw(line)
        assert agent.until("response")[-1]["error"].startswith("malformed json: ")
        assert agent.ask("ping")["success"] is True
        if len(line) < 100:
            assert agent.frames[0]["error"] == f"malformed json: {message}"


def test_a_half_of_a_surrogate_pair_and_stray_bytes_are_taken_as_replacements(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x"}]) as agent:
        agent.raw(rb'{"id":"1","type":"prompt","message":"\ud83d!' + b'\xff"}')
        assert agent.until("user_message")[-1]["content"][0]["text"] == "\ufffd!\ufffd"


def test_a_last_line_without_an_end_counts(tmp_path: Path):
    with RpcProcess(tmp_path) as agent:
        assert agent.process.stdin is not None
        agent.process.stdin.write(b'{"id":"1","type":"ping"}')
        agent.close_stdin()
        assert agent.wait() == 0
    assert [frame["id"] for frame in agent.frames] == ["1"]


def test_the_agent_starts_without_the_heavy_libraries():
    heavy = "pydantic pydantic_core lsprotocol pygls anyio rapidfuzz rich platformdirs"
    code = f"import sys, lsp_agent.runtime.rpc; print(*set({heavy.split()}) & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert ended.stdout.split() == []
