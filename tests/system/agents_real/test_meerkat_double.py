"""Meerkat through our real server process, over a double of ``rkat-rpc``: what the real one says
only at times, or never on a model of ours, and what older ones say."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import project as stage
from support.project import ALLOWED, Editor, Project, Stubborn, processes_with
from support.raw_client import Json, RpcError, wait_until

pytestmark = pytest.mark.slow

TIME_MACHINE = Path(__file__).parents[2] / "support" / "time_machine.py"
DOUBLE = Path(__file__).parents[2] / "support" / "doubles" / "rkat_rpc.py"
CLIENT: Json = {"events": True, "ask": True}
#: In which a stop must be answered, in seconds.
BOUND = 1.0

Start = Callable[..., Editor]


def say(text: str, **more: object) -> Json:
    return {"text": text, **more}


def do(*calls: Json, text: str = "") -> Json:
    return {"text": text, "calls": calls}


def call(name: str, **args: object) -> Json:
    return {"name": name, "args": args}


def run(*steps: Json, **more: object) -> Json:
    return {"steps": steps, **more}


#: For what the two do differently.
both = pytest.mark.parametrize("wire", ["0.8.26", "0.9.8"])


@pytest.fixture
def wire() -> str:
    return "0.9.8"


@pytest.fixture
def double(project: Project, tmp_path: Path, wire: str) -> Callable[..., Json]:
    """``double(*runs, **settings)``: an agent's settings."""
    return lambda *runs, **settings: settings_of(tmp_path, wire, *runs, **settings)


@pytest.fixture
def start(project: Project, double: Callable[..., Json]) -> Start:
    """``start(*runs, options=…, **settings)``: an editor over a server with the double."""

    def start(*runs: Json, options: Json | None = None, **settings: object) -> Editor:
        agent = double(*runs, **settings)
        return project.editor(agent=agent, client=CLIENT, options=options)

    return start


def settings_of(folder: Path, wire: str, *runs: Json, **settings: object) -> Json:
    number = len(list(folder.glob("runs-*.json")))
    script = folder / f"runs-{number}.json"
    script.write_text(json.dumps({"runs": runs}), encoding="utf-8")
    command = [sys.executable, str(DOUBLE), "--wire", wire, "--script", str(script)]
    command += ["--log", str(folder / "frames.jsonl"), "--state-root", str(folder / "state")]
    return {"wire": "meerkat", "command": command, **settings}


def frames(folder: Path, method: str) -> list[Json]:
    """The params of our requests to the double."""
    lines = (folder / "frames.jsonl").read_text(encoding="utf-8").splitlines()
    return [frame["params"] for frame in map(json.loads, lines) if frame.get("method") == method]


def doubles(folder: Path) -> list[int]:
    """The processes of doubles that log to ``folder``."""
    found = processes_with(str(folder / "frames.jsonl"))
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in found}
    return [pid for pid, line in lines.items() if line[1] == str(DOUBLE).encode()]


def forward_clock(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Callable[[Editor, int], None]:
    """Puts the clock of the server that starts next forward, by seconds."""
    clock = folder / "clock"
    clock.write_text("0")
    machine = [sys.executable, "-P", str(TIME_MACHINE), str(clock)]
    monkeypatch.setattr(stage, "LSP_AGENT", machine)

    def forward(editor: Editor, seconds: int) -> None:
        aside = clock.with_suffix(".new")
        aside.write_text(str(seconds))
        aside.replace(clock)
        editor.call("agent/state")  # wakes the server

    return forward


def statuses(result: Json) -> list[tuple[str, str]]:
    return [(edit["uri"].rsplit("/", 1)[1], edit["status"]) for edit in result["edits"]]


# The main job


@both
def test_the_main_job_in_a_document_with_unsaved_text(
    project: Project, start: Start, tmp_path: Path
) -> None:
    path = project.file("a.txt", "one\ntwo\nthree\n")
    edits = [{"oldText": "three", "newText": "four"}, {"oldText": "typed", "newText": "read"}]
    editor = start(
        run(
            do(call("read", path="a.txt"), text="Let me see."),
            do(
                call("edit", path="a.txt", edits=edits),
                call("write", path="b/n.txt", content="né\n"),
            ),
            do(
                call("bash", command="sh -c 'cat b/n.txt'; exit 3"),
                call("bash", command="echo > no.txt"),
            ),
            say("All done.", thinking="I think so."),
        )
    )
    document = editor.open(path)
    editor.type(document, 0, "typed 😀\n")
    editor.answers = ["allow", "deny"]
    result = editor.ask_agent("Go.")

    assert (result["stopReason"], result["text"]) == ("endTurn", "All done.")
    assert statuses(result) == [("a.txt", "applied"), ("n.txt", "applied")]
    assert document.text.content == "read 😀\none\ntwo\nfour\n"
    assert path.read_text() == "one\ntwo\nthree\n"  # unsaved text stays unsaved
    assert (project.folder / "b/n.txt").read_bytes() == "né\n".encode()
    assert not (project.folder / "no.txt").exists()
    read, _, _, printed, refused = editor.tool_texts()
    assert read == "typed 😀\none\ntwo\nthree\n"
    assert "$ sh -c 'cat b/n.txt'; exit 3\n\nné\n\n[exit 3]" in printed
    assert "Not run: the user declined" in refused
    assert [event["text"] for event in editor.events("thinkingDelta")] == ["I think so."]
    assert editor.call("agent/state")["hosting"] == "hosted"
    (created,) = frames(tmp_path, "session/create")
    assert created["enable_shell"] is False
    assert created["enable_builtins"] is False


@both
def test_usage_is_counted_once_with_what_no_step_told(start: Start, wire: str) -> None:
    editor = start(run(do(call("read", path="none.txt")), say("Gone.")))
    result = editor.ask_agent("Go.")
    # The catalogue's call where its model needs it, the read's, and the answer.
    calls = 3 if wire == "0.8.26" else 2
    assert result["usage"] == {"input": 100 * calls, "output": 10 * calls}
    assert editor.call("agent/state")["usage"] == result["usage"]


@both
def test_events_that_trail_the_response_are_not_of_the_next_turn(start: Start) -> None:
    editor = start(run(say("The first answer."), late=True), run(say("The second.")))
    assert editor.ask_agent("One.")["text"] == "The first answer."
    second = editor.ask_agent("Two.")
    assert second["text"] == "The second."
    said = [e["text"] for e in editor.events("textDelta", turnId=second["turnId"])]
    assert "".join(said) == "The second."


# Commands


def test_a_commands_output_is_shown_while_it_runs(start: Start) -> None:
    editor = start(
        run(do(call("bash", command="echo one; exec 2>&1; echo two >&2")), say("Done.")),
        options=ALLOWED,
    )
    editor.ask_agent("Go.")
    shown = [event["text"] for event in editor.events("toolProgress")]
    assert "".join(shown) == "one\ntwo\n"
    assert editor.tool_texts()[0].startswith("$ echo one")


def test_a_command_does_not_see_the_keys_of_providers(start: Start) -> None:
    editor = start(
        run(do(call("bash", command="env")), say("Done.")),
        options=ALLOWED,
        env={"OPENAI_API_KEY": "sk-not-for-commands", "PLAIN": "to be seen"},
    )
    editor.ask_agent("Go.")
    (printed,) = editor.tool_texts()
    assert "PLAIN=to be seen" in printed
    assert "OPENAI_API_KEY" not in printed


def test_a_command_ends_with_what_it_started_when_its_time_is_up(start: Start) -> None:
    nap = Stubborn()
    editor = start(
        run(do(call("bash", command=nap.command, timeout=1)), say("Done.")), options=ALLOWED
    )
    assert editor.ask_agent("Go.")["text"] == "Done."
    assert "[exit -1]" in editor.tool_texts()[0]
    assert wait_until(lambda: not nap.processes())


def test_a_question_outlives_the_call_that_meerkat_gives_up_on(
    project: Project, start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock = forward_clock(monkeypatch, tmp_path)
    echo = call("bash", command="echo ran > ran.txt")
    editor = start(run(do(echo), do(echo), say("Done.")))
    prompt = editor.prompt("Go.")
    asked = editor.notification("agent/ask")
    assert editor.events("toolResult") == []
    clock(editor, 54)
    editor.event("toolResult")
    assert "Make the same call once more" in editor.tool_texts()[0]
    assert not (project.folder / "ran.txt").exists()
    editor.command("answer", {"questionId": asked["questionId"], "optionId": "allow"})
    assert editor.result(prompt)["text"] == "Done."
    assert (project.folder / "ran.txt").read_text() == "ran\n"
    assert len(editor.received("agent/ask")) == 1


def test_a_command_is_ended_before_meerkat_gives_up_on_it(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock = forward_clock(monkeypatch, tmp_path)
    nap = Stubborn()
    editor = start(run(do(call("bash", command=nap.command)), say("Done.")), options=ALLOWED)
    prompt = editor.prompt("Go.")
    editor.event("toolProgress")
    clock(editor, 114)
    assert editor.result(prompt)["text"] == "Done."
    assert "[ended: the agent does not wait longer for a command]" in editor.tool_texts()[0]
    assert wait_until(lambda: not nap.processes())


# Stopping


@both
def test_a_stop_ends_the_turn_in_the_middle_of_a_text(start: Start) -> None:
    editor = start(run(say("It is a long story.", hang=True)), run(say("Another.")))
    prompt = editor.prompt("Tell.")
    editor.event("textDelta")
    assert editor.call("agent/abort", timeout=BOUND + 4)["aborted"]
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert editor.ask_agent("Next.")["text"] == "Another."
    assert not editor.events("agentStatus", status="restarting")


def test_a_stop_ends_a_command_and_all_that_it_started(start: Start) -> None:
    nap = Stubborn()
    editor = start(
        run(do(call("bash", command=nap.command))), run(say("Another.")), options=ALLOWED
    )
    prompt = editor.prompt("Go.")
    editor.event("toolProgress")
    assert editor.call("agent/abort", timeout=BOUND + 4)["aborted"]
    assert not nap.processes()
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert editor.ask_agent("Next.")["text"] == "Another."


def test_a_stop_while_a_question_is_open_runs_nothing(project: Project, start: Start) -> None:
    editor = start(run(do(call("bash", command="echo > ran.txt"))), run(say("Another.")))
    prompt = editor.prompt("Go.")
    editor.event("questionAsked")
    editor.call("agent/abort")
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert editor.ask_agent("Next.")["text"] == "Another."
    assert not (project.folder / "ran.txt").exists()


# Failures


@pytest.mark.parametrize(
    ("failed", "stop_reason", "said"),
    [
        ({"error": {"code": -32010, "message": "401 invalid x-api-key"}}, "error", "key"),
        ({"error": {"code": -32011, "message": "out of tokens"}}, "error", "budget"),
        ({"error": {"code": -32012, "message": "not on a Sunday"}}, "error", "hook"),
        ({"error": {"code": -32603, "message": "a bug"}}, "error", "a bug (-32603)."),
        (
            {
                "failed": {"class": "max_turns", "message": "100 turns"},
                "error": {"code": -32013, "message": "100 turns"},
            },
            "maxSteps",
            "100 turns",
        ),
    ],
)
def test_a_failure_is_told_once_and_the_session_goes_on(
    start: Start, failed: Json, stop_reason: str, said: str
) -> None:
    editor = start(run(say("So far."), **failed), run(say("Another.")))
    result = editor.ask_agent("Go.")
    assert (result["stopReason"], result["text"]) == (stop_reason, "So far.")
    assert said in result["error"].replace("Hook", "hook")
    assert len(editor.events("error")) == (stop_reason == "error")
    assert editor.ask_agent("Next.")["text"] == "Another."


def test_a_refused_prompt_is_an_error_of_the_request(start: Start) -> None:
    refused = {"refused": {"code": -32002, "message": "Session busy"}}
    editor = start(run(**refused), run(say("Another.")))
    failure = editor.failure("agent/prompt", {"text": "Go."})
    assert "Session busy (-32002). Wait for the turn that runs" in failure.message
    assert editor.ask_agent("Next.")["text"] == "Another."


def test_a_model_that_there_is_not_is_told_by_the_first_prompt(start: Start) -> None:
    editor = start(run(say("Never.")), model="gpt-none")
    failure = editor.failure("agent/prompt", {"text": "Go."})
    assert "cannot infer provider from model 'gpt-none'" in failure.message
    assert "Check `provider` and `model`" in failure.message


def test_a_death_of_the_agent_ends_the_turn_and_the_next_prompt_begins_a_session_with_tools(
    project: Project, start: Start, tmp_path: Path
) -> None:
    project.file("a.txt", "one\n")
    editor = start(
        run(do(call("read", path="a.txt")), say("So far.")), run(say("And then."), die=True)
    )
    editor.ask_agent("Go.")
    failure = editor.failure("agent/prompt", {"text": "Go on."})
    assert failure.data["kind"] == "agentExited"
    assert editor.events("turnEnded")[-1]["stopReason"] == "error"

    assert editor.ask_agent("Again.")["text"] == "So far."  # its script begins again
    first, second, third = frames(tmp_path, "turn/start")
    assert first["session_id"] == second["session_id"] != third["session_id"]
    assert editor.tool_texts()[-1] == "one\n"  # its tools are there again


def test_a_command_ends_with_its_agent(project: Project, start: Start, tmp_path: Path) -> None:
    nap = Stubborn()
    editor = start(run(do(call("bash", command=nap.command))), options=ALLOWED)
    prompt = editor.prompt("Go.")
    editor.event("toolProgress")
    (agent,) = doubles(tmp_path)
    os.kill(agent, signal.SIGKILL)
    with pytest.raises(RpcError):
        editor.result(prompt)
    assert wait_until(lambda: not nap.processes())


def test_a_command_ends_with_the_server(start: Start) -> None:
    nap = Stubborn()
    editor = start(run(do(call("bash", command=nap.command))), options=ALLOWED)
    editor.prompt("Go.")
    editor.event("toolProgress")
    editor.process.kill()
    assert wait_until(lambda: not nap.processes())


# Sessions, models, state


def test_two_sessions_do_not_disturb_each_other(project: Project, start: Start) -> None:
    path = project.file("a.txt", "one\n")
    editor = start(
        run(
            do(call("edit", path="a.txt", edits=[{"oldText": "one", "newText": "two"}])),
            say("Done."),
        )
    )
    other = editor.call("agent/newSession", {})["sessionId"]
    first = editor.prompt("Go.")
    second = editor.prompt("Go.", sessionId=other)
    answers = [editor.result(first), editor.result(second)]
    assert [answer["text"] for answer in answers] == ["Done.", "Done."]
    assert path.read_text() == "two\n"
    errors = [event["isError"] for event in editor.events("toolResult")]
    assert sorted(errors) == [False, True]  # who comes second finds nothing to replace


def test_the_model_is_listed_chosen_and_told(start: Start, tmp_path: Path) -> None:
    editor = start(run(say("One.")), run(say("Two.")), model="claude-double")
    editor.ask_agent("Go.")
    told = editor.call("agent/models")
    assert {model["id"] for model in told["models"]} == {
        "claude-double",
        "claude-other",
        "gpt-double",
    }
    assert told["current"] == "claude-double"
    assert "knows no model 'none'" in editor.failure("agent/setModel", {"model": "none"}).message
    editor.call("agent/setModel", {"model": "gpt-double"})
    editor.ask_agent("Go on.")
    state = editor.call("agent/state")
    assert (state["model"], state["provider"]) == ("gpt-double", "openai")
    (_, turn) = frames(tmp_path, "turn/start")
    assert (turn["model"], turn["provider"]) == ("gpt-double", "openai")


@both
def test_the_transcript_is_the_agents_own(start: Start) -> None:
    editor = start(run(do(call("read", path="no.txt")), say("It is not there.")))
    editor.ask_agent("Look.")
    messages = editor.call("agent/messages")["messages"]
    # Without the call by which the model has loaded its tools.
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[-1]["content"] == [{"type": "text", "text": "It is not there."}]


@both
def test_the_configuration_of_ones_own_settings_alone_is_merged_and_told(
    project: Project, start: Start
) -> None:
    project.file(".lsp-agent.toml", "[agents.scripted.config]\nmax_tokens = 1\n")
    config: Json = {"max_tokens": 8192, "auth": {"secret": "sk-1"}}
    editor = start(run(say("One.")), config=config)
    editor.ask_agent("Go.")
    told = editor.call("agent/state")["config"]
    assert told == {
        "agent": {"model": "claude-double"},
        "max_tokens": 8192,
        "auth": {"secret": "…"},
    }


def test_a_cleared_session_is_another_one(start: Start) -> None:
    editor = start(run(say("One.")), run(say("Two.")))
    editor.ask_agent("Go.")
    editor.call("agent/clear")
    assert editor.call("agent/messages")["messages"] == []
    assert editor.ask_agent("Go.")["text"] == "Two."
    assert len(editor.call("agent/messages")["messages"]) == 2


def test_a_repositorys_own_hooks_are_never_its_context(start: Start, tmp_path: Path) -> None:
    """``--context-root`` would make Meerkat read, and run, what the repository names."""
    editor = start(run(say("Done.")))
    editor.ask_agent("Go.")
    (agent,) = doubles(tmp_path)
    assert b"--context-root" not in Path(f"/proc/{agent}/cmdline").read_bytes()


def test_mirror_is_refused_with_the_reason(start: Start) -> None:
    editor = start(run(say("Never.")), hosting="mirror")
    failure = editor.failure("agent/prompt", {"text": "Go."})
    assert failure.data["kind"] == "notConfigured"
    assert "without asking anybody" in failure.message


# The wire as it was first published


def test_a_server_of_the_first_wire_can_only_talk(project: Project, tmp_path: Path) -> None:
    agent = settings_of(tmp_path, "seed", run(say("Hello.")), run(say("Again.")))
    editor = project.editor(agent=agent, client=CLIENT)
    assert editor.ask_agent("Go.")["text"] == "Hello."
    assert editor.ask_agent("Go on.")["text"] == "Again."
    (notice,) = [n for n in editor.events("notice") if "too old" in n["message"]]
    assert notice["level"] == "warning"
    state = editor.call("agent/state")
    assert (state["model"], state["usage"]) == ("claude-double", {"input": 200, "output": 20})
    assert len(frames(tmp_path, "turn/start")) == 1


def test_a_server_of_the_first_wire_is_stopped_and_its_numbers_understood(
    project: Project, tmp_path: Path
) -> None:
    failed = run(error={"code": -32002, "message": "no key"})
    hangs = run(say("A long story.", hang=True))
    agent = settings_of(tmp_path, "seed", hangs, failed, run(say("Hello.")))
    editor = project.editor(agent=agent, client=CLIENT)
    prompt = editor.prompt("Tell.")
    editor.event("textDelta")
    editor.call("agent/abort")
    assert editor.result(prompt)["stopReason"] == "aborted"
    result = editor.ask_agent("Go.")
    assert result["stopReason"] == "error"
    assert "Check the provider's key" in result["error"]
    assert editor.ask_agent("Go.")["text"] == "Hello."
