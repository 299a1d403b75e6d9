"""What the embedded agent has beyond zot: words for the turn that runs, and its thoughts."""

from pathlib import Path

from support.rpc_process import Frame, RpcProcess, call, result_texts, types


def said(frames: list[Frame]) -> list[str]:
    """What the person said, in the order in which the agent took it up."""
    messages = [frame for frame in frames if frame["type"] == "user_message"]
    return [message["content"][0]["text"] for message in messages]


def steps(frames: list[Frame]) -> list[int]:
    return [frame["step"] for frame in frames if frame["type"] == "turn_start"]


def waiting_for(file: Path) -> Frame:
    return call("bash", command=f"while ! test -e {file}; do sleep 0.02; done")


def test_hello_names_what_zot_does_not_have(tmp_path: Path):
    with RpcProcess(tmp_path) as agent:
        assert set(agent.ask("hello")["data"]["features"]) == {
            "steer",
            "thinking",
            "resume",
            "background",
        }


def test_words_that_come_while_a_call_runs_follow_its_result(tmp_path: Path):
    go = tmp_path / "go"
    script = [{"calls": [waiting_for(go)]}, {"text": "Blue, then."}, {"text": "next"}]
    with RpcProcess(tmp_path, script) as agent:
        agent.send("prompt", id="1", message="Red.")
        agent.until("tool_call")
        assert agent.ask("steer", message="Blue!")["success"]
        go.touch()
        agent.until("done")
        messages = agent.ask("get_messages")["data"]["messages"]
        assert said(agent.frames) == ["Red.", "Blue!"]
        assert steps(agent.frames) == [1, 2]
        roles = " ".join(one["role"] for one in messages)
        assert roles == "user assistant tool user assistant"
        assert said(agent.prompt("Green.")) == ["Green."]


def test_words_that_come_in_the_last_answer_have_an_answer_of_their_own(tmp_path: Path):
    script = [{"text": "w0 w1 w2 w3 " * 20, "pace_ms": 5}, {"text": "Blue, then."}]
    with RpcProcess(tmp_path, script) as agent:
        agent.send("prompt", id="1", message="Red.")
        agent.until("text_delta")
        assert agent.ask("steer", message="Blue!")["success"]
        assert agent.ask("steer", message="Dark blue!")["success"]
        agent.until("done")
        assert said(agent.frames) == ["Red.", "Blue!", "Dark blue!"]
        assert steps(agent.frames) == [1, 2]
        assert types(agent.frames).count("done") == 1


def test_words_after_a_failure_are_answered(tmp_path: Path):
    script = [{"text": "w0 " * 20, "pace_ms": 5, "error": "overloaded"}, {"text": "Here I am."}]
    with RpcProcess(tmp_path, script) as agent:
        agent.send("prompt", id="1", message="Red.")
        agent.until("text_delta")
        assert agent.ask("steer", message="Well?")["success"]
        agent.until("done")
        ends = [frame["stop"] for frame in agent.frames if frame["type"] == "turn_end"]
        assert ends == ["error", "end"]


def test_a_stop_drops_words_that_were_not_taken_up(tmp_path: Path):
    script = [{"calls": [call("bash", command="sleep 60")]}, {"text": "Yes?"}]
    with RpcProcess(tmp_path, script) as agent:
        agent.send("prompt", id="1", message="Red.")
        agent.until("tool_call")
        assert agent.ask("steer", message="Blue!")["success"]
        agent.send("abort")
        agent.until("done")
        frames = agent.prompt("Green.")
        assert said(agent.frames) == ["Red.", "Green."]
        assert result_texts(frames) == []


def test_words_are_refused_where_no_turn_runs(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "x"}]) as agent:
        refused = agent.ask("steer", message="Blue!")
        assert refused["success"] is False
        assert "no turn runs" in refused["error"]
        agent.prompt()
        assert agent.ask("steer", message="Blue!")["success"] is False


def test_what_the_model_thinks_is_told_apart_from_what_it_says(tmp_path: Path):
    with RpcProcess(tmp_path, [{"thinking": "Hm, hm.", "text": "Ah."}]) as agent:
        frames = agent.prompt()
        thought = "".join(one["delta"] for one in frames if one["type"] == "thinking_delta")
        (message,) = [one for one in frames if one["type"] == "assistant_message"]
    assert thought == "Hm, hm."
    assert [block["text"] for block in message["content"]] == ["Ah."]


def test_words_that_come_with_the_prompt_are_answered(tmp_path: Path):
    with RpcProcess(tmp_path, [{"text": "Ah."}, {"text": "Blue, then."}]) as agent:
        agent.raw(
            '{"type": "prompt", "message": "Red."}\n{"type": "steer", "message": "Blue!"}\n'
            '{"type": "steer", "message": "Dark blue!"}'
        )
        agent.until("done")
        assert said(agent.frames) == ["Red.", "Blue!", "Dark blue!"]
        assert steps(agent.frames) == [1, 2]
