"""Turns: the events in their order, as zot has them."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from support.rpc_process import RpcProcess, call, recorded, recorded_steps, result_texts, types

TURN = ["response", "user_message", "turn_start", "assistant_start", "text_delta", "usage"]
NUMBERS = "one two three four five six seven eight nine ten eleven twelve"
TWELVE = NUMBERS.replace(" ", "\n") + "\n"
ENDED = ["assistant_message", "turn_end", "done"]


def files(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_bytes(text.encode())


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("simple_text", {}),
        ("multi_tool_calls", {"a": "x\n"}),
        ("write_tool", {}),
        ("edit_delete_all", {"a": "x\n"}),
        ("edit_lf_multiple", {"a": TWELVE}),
        ("bash_progress", {}),
        ("no_tools", {}),
        ("tools_read_bash", {}),
    ],
)
def test_a_turn_is_the_recorded_one(tmp_path: Path, name: str, before: dict[str, str]):
    files(tmp_path, **before)
    flags = {"no_tools": ["--no-tools"], "tools_read_bash": ["--tools", "read,bash"]}
    with RpcProcess(tmp_path, recorded_steps(name), *flags.get(name, [])) as agent:
        got = agent.prompt()
    expected = recorded(name)
    expected = expected[: types_end(expected)]
    assert types(got) == types(expected)
    assert untimed(result_texts(got)) == untimed(result_texts(expected))
    assert stops(got) == stops(expected)
    assert texts(got) == texts(expected)


def untimed(results: list[str]) -> list[str]:
    """Without how long a command took."""
    return [re.sub(r"Took [\d.]+s", "Took", text) for text in results]


def types_end(frames: list[dict[str, object]]) -> int:
    return next(i for i, frame in enumerate(frames) if frame["type"] == "done") + 1


def stops(frames: list[dict[str, object]]) -> list[object]:
    return [frame["stop"] for frame in frames if frame["type"] == "turn_end"]


def texts(frames: list[dict[str, object]]) -> str:
    return "".join(str(frame["delta"]) for frame in frames if frame["type"] == "text_delta")


def test_text_is_streamed_by_words_and_joins_to_the_message(tmp_path: Path):
    text = "  Two  spaces,\nnew lines\n\n and 😀 end \n"
    with RpcProcess(tmp_path, [{"text": text}]) as agent:
        frames = agent.prompt()
    deltas = [frame["delta"] for frame in frames if frame["type"] == "text_delta"]
    assert len(deltas) > 5
    assert "".join(deltas) == text
    message = next(frame for frame in frames if frame["type"] == "assistant_message")
    assert message["content"] == [{"type": "text", "text": text}]


def test_thinking_is_streamed_and_in_no_message(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x", "thinking": "secret thought"}]) as agent:
        frames = agent.prompt()
        messages = agent.ask("get_messages")
    thoughts = [frame["delta"] for frame in frames if frame["type"] == "thinking_delta"]
    assert "".join(thoughts) == "secret thought"
    rest = [frame for frame in frames if frame["type"] != "thinking_delta"]
    assert "secret" not in str([rest, messages])


def test_but_for_its_thoughts_a_step_of_thinking_alone_is_the_recorded_one(tmp_path: Path):
    with RpcProcess(tmp_path, [{"thinking": "hm"}]) as agent:
        frames = agent.prompt()
    rest = [frame for frame in frames if frame["type"] != "thinking_delta"]
    assert types(rest) == types(recorded("thinking_only"))


def test_streamed_arguments_join_to_the_call(tmp_path: Path):
    args = {"path": "é" * 40, "content": "😀" * 40}
    with RpcProcess(tmp_path, [{"calls": [call("write", **args)]}, {"text": "x"}]) as agent:
        frames = agent.prompt()
    pieces = "".join(frame["delta"] for frame in frames if frame["type"] == "tool_use_args")
    one = next(frame for frame in frames if frame["type"] == "tool_call")
    assert one["args"] == args
    assert one["args"] == json.loads(pieces)


def test_the_next_prompt_goes_on_with_the_next_step(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "one"}, {"text": "two"}]) as agent:
        assert [texts(agent.prompt()), texts(agent.prompt())] == ["one", "two"]


def test_a_prompt_jumps_to_the_first_step_that_matches_it(tmp_path: Path):
    steps = [{"text": "one"}, {"text": "two", "match": "(?i)second"}, {"text": "three"}]
    with RpcProcess(tmp_path, steps) as agent:
        assert texts(agent.prompt("the SECOND please")) == "two"
        assert texts(agent.prompt("anything")) == "three"
        assert texts(agent.prompt("second again")) == "two"


def test_past_the_last_step_it_says_so_and_ends_the_turn(tmp_path: Path):
    with RpcProcess(tmp_path, []) as agent:
        frames = agent.prompt()
    assert texts(frames) == "The script has no more steps."
    assert stops(frames) == ["end"]


def test_a_model_that_comes_to_its_limit_before_it_says_anything_is_an_error(tmp_path: Path):
    with RpcProcess(tmp_path, [{"thinking": "hm", "stop": "length"}]) as agent:
        frames = agent.prompt()
    assert stops(frames) == ["error"]
    told = next(frame["message"] for frame in frames if frame["type"] == "error")
    assert told.startswith("script: the model came to its token limit before it said anything; ")


def test_arguments_that_are_nested_too_deeply_fail_as_those_that_were_cut(tmp_path: Path):
    deep: object = "x"
    for _ in range(249):
        deep = [deep]
    with RpcProcess(tmp_path, [{"calls": [call("read", path=deep)]}, {"text": "On."}]) as agent:
        frames = agent.prompt()
        assert agent.ask("get_messages")["success"]
    assert "invalid args" in result_texts(frames)[0]
    assert stops(frames) == ["tool_use", "end"]


def test_a_cut_answer_stops_with_length_and_runs_no_calls(tmp_path: Path):
    step = {"text": "cut", "stop": "length", "calls": [call("write", path="a", content="x")]}
    with RpcProcess(tmp_path, [step]) as agent:
        frames = agent.prompt()
    assert stops(frames) == ["length"]
    assert [frame["is_error"] for frame in frames if frame["type"] == "tool_result"] == [True]
    assert not (tmp_path / "a").exists()


def test_a_failure_after_some_text_is_the_recorded_one(tmp_path: Path):
    error = "anthropic overloaded_error: Overloaded"
    with RpcProcess(tmp_path, [{"text": "partial ", "error": error}, {"text": "next"}]) as agent:
        frames = agent.prompt()
        expected = recorded("stream_error_event")
        assert types(frames) == types(expected[: types_end(expected)])
        assert [frame["error"] for frame in frames if frame["type"] == "turn_end"] == [error]
        assert texts(agent.prompt()) == "next"
        messages = agent.ask("get_messages")["data"]["messages"]
    assert messages[1]["content"] == [{"type": "text", "text": "partial "}]


def test_a_failure_before_any_text_is_the_recorded_one(tmp_path: Path):
    with RpcProcess(tmp_path, [{"error": "anthropic: http 401: no"}]) as agent:
        frames = agent.prompt()
    expected = recorded("provider_401")
    assert types(frames) == types(expected[: types_end(expected)])


def test_too_many_steps_end_the_turn_with_an_error(tmp_path: Path):
    steps = [{"calls": [call("bash", command="true")]}] * 5
    with RpcProcess(tmp_path, steps, "--max-steps", "2") as agent:
        frames = agent.prompt()
    assert [frame["message"] for frame in frames if frame["type"] == "error"] == [
        "max steps (2) exceeded"
    ]
    assert stops(frames) == ["tool_use", "tool_use"]


def test_an_empty_prompt_runs_a_turn_without_content(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "hm"}]) as agent:
        agent.send("prompt", id="1", message="")
        frames = agent.until("done")
    assert types(frames) == types(recorded("prompt_empty_message"))
    assert frames[1]["content"] == []


def test_a_second_prompt_waits_and_is_answered_when_it_starts(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "one", "delay_ms": 200}, {"text": "two"}]) as agent:
        agent.send("prompt", id="1", message="first")
        agent.send("prompt", id="2", message="second")
        first, second = agent.until("done"), agent.until("done")
    assert [frame["id"] for frame in first if frame["type"] == "response"] == ["1"]
    assert second[0]["id"] == "2"
    assert types(first) == types(second) == [*TURN, *ENDED]


def test_every_usage_adds_to_the_sum(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "a b c"}, {"text": "d"}]) as agent:
        frames = [*agent.prompt("x y"), *agent.prompt("z")]
    usages = [frame for frame in frames if frame["type"] == "usage"]
    assert [usage["output"] for usage in usages] == [3, 1]
    assert [usage["cumulative"]["output"] for usage in usages] == [3, 4]
    assert [usage["cumulative"]["input"] for usage in usages] == [2, 3]


# -- compact


def test_a_compaction_is_the_recorded_one(tmp_path: Path):
    steps = [{"text": f"a{n}"} for n in (1, 2, 3)] + [{"text": "## Goal\nsummary text"}]
    with RpcProcess(tmp_path, steps) as agent:
        for n in (1, 2, 3):
            agent.prompt(f"q{n}")
        agent.send("compact", id="c")
        assert types(agent.until("compact_done")) == ["response", "compact_done"]
        messages = agent.ask("get_messages")["data"]["messages"]
    kept = [message["content"][0]["text"] for message in messages]
    summary = "## Context Summary (compacted)\n\n## Goal\nsummary text"
    assert kept == [summary, "q2", "a2", "q3", "a3"]


def test_what_cannot_be_compacted_is_refused_as_recorded(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "a"}]) as agent:
        agent.send("compact", id="c0")
        first = agent.until("error")[-1]["message"]
        agent.prompt("q")
        agent.send("compact", id="c")
        second = agent.until("error")[-1]["message"]
    expected = [f["message"] for f in recorded("compact_too_short") if f["type"] == "error"]
    assert [first, second] == expected


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ([{"text": " "}], "empty summary from model"),
        ([{"error": "boom"}], "boom"),
        ([], "The script has no more steps."),
    ],
)
def test_a_failed_summary_changes_nothing(tmp_path: Path, step: list[dict[str, str]], message: str):
    with RpcProcess(tmp_path, [{"text": "a"}] * 3 + step) as agent:
        for _ in range(3):
            agent.prompt("q")
        agent.send("compact", id="c")
        assert agent.until("error")[-1]["message"] == message
        assert agent.ask("get_state")["data"]["message_count"] == 6


def test_a_compaction_waits_behind_a_prompt(tmp_path: Path):
    steps = [{"text": "a"}] * 3 + [{"text": "slow", "delay_ms": 200}, {"text": "sum"}]
    with RpcProcess(tmp_path, steps) as agent:
        for _ in range(3):
            agent.prompt("q")
        agent.send("prompt", id="4", message="slow")
        agent.until("turn_start")
        agent.send("compact", id="c")
        assert types(agent.until("compact_done"))[-3:] == ["done", "response", "compact_done"]


def test_a_tools_result_stays_with_its_call_through_a_compaction(tmp_path: Path):
    steps = [{"calls": [call("bash", command="true")]}] * 2 + [{"text": "end"}, {"text": "sum"}]
    with RpcProcess(tmp_path, [*steps]) as agent:
        agent.prompt("q")
        agent.send("compact", id="c")
        agent.until("compact_done")
        messages = agent.ask("get_messages")["data"]["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are UTF-8")
def test_a_folder_whose_name_is_no_utf_8_can_be_worked_in(tmp_path: Path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    script = tmp_path / "script.json"
    calls = [
        call("read", path="none"),
        call("write", path="a", content="x"),
        call("bash", command="pwd"),
    ]
    script.write_text(json.dumps({"steps": [{"calls": calls}, {"text": "Done."}]}))
    with RpcProcess(folder, (), "--script", str(script), script=False) as agent:
        frames = agent.prompt()
        assert agent.ask("get_state")["data"]["cwd"] == f"{tmp_path}/caf\ufffd"
    assert (folder / "a").read_text() == "x"
    assert f"{tmp_path}/caf\ufffd/none" in result_texts(frames)[0]
    assert f"{tmp_path}/caf\ufffd" in result_texts(frames)[2]
