"""A real qwen-code behind the server, its model scripted: hosted by ``fs/*``, held to the
permissions, stopped."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from support.acp_agents import Qwen, kill_agent, started
from support.model_server import Call, Step
from support.project import Editor, Project
from support.raw_client import Json, wait_until
from support.scripted_agents import do, say

pytestmark = pytest.mark.qwen

Start = Callable[..., Editor]


@pytest.fixture
def qwen(project: Project) -> Iterator[Qwen]:
    with ExitStack() as models:
        yield Qwen(project, models)


@pytest.fixture
def start(project: Project, qwen: Qwen) -> Start:
    def start(*steps: Step, options: Json | None = None, **settings: Any) -> Editor:
        return started(project, qwen, *steps, options=options, **settings)

    return start


read, edit, write, shell = Qwen.read, Qwen.edit, Qwen.write, Qwen.command


def test_files_are_read_and_changed_in_the_editor_and_not_on_disk(
    project: Project, qwen: Qwen, start: Start
) -> None:
    path = project.file("a.txt", "one\ntwo\nthree\n")
    new = project.folder / "new.txt"
    steps = [do(read(path)), do(edit(path, "two", "2")), do(write(new, "new\n"))]
    editor = start(*steps, say("Done."), say("Again."))
    document = editor.open(path)
    editor.type(document, 0, "typed\n")
    result = editor.ask_agent("Go.")
    assert (result["stopReason"], result["text"]) == ("endTurn", "Done.")
    assert "typed" in qwen.model.tool_results()[0]
    assert document.text.content == "typed\none\n2\nthree\n"
    assert path.read_text() == "one\ntwo\nthree\n"
    assert new.read_text() == "new\n"
    assert [each["status"] for each in result["edits"]] == ["applied", "applied"]
    calls = editor.events("toolCall")
    assert [each["kind"] for each in calls] == ["read", "edit", "edit"]
    results = editor.events("toolResult")
    assert [each["toolCallId"] for each in results] == [each["toolCallId"] for each in calls]
    assert not any(each["isError"] for each in results)
    assert result["usage"]["output"] > 0
    assert editor.ask_agent("And again.")["text"] == "Again."
    state = editor.call("agent/state")
    assert (state["hosting"], state["messageCount"]) == ("hosted", 10)
    assert editor.call("agent/models")["current"] == state["model"]


def test_a_file_that_is_written_first_is_in_once(
    project: Project, qwen: Qwen, start: Start
) -> None:
    new = project.folder / "new.txt"
    editor = start(do(write(new, "new\n")), say("Done."))
    result = editor.ask_agent("Go.")
    assert new.read_text() == "new\n"
    assert [each["status"] for each in result["edits"]] == ["applied"]


def test_commands_run_only_when_they_are_allowed(project: Project, start: Start) -> None:
    """A refusal ends its turn: that is qwen-code's way since 0.24."""
    steps = [do(shell("echo yes > allowed")), do(shell("echo no > denied")), say("Done.")]
    editor = start(*steps)
    editor.answers = ["allow", "deny"]
    editor.ask_agent("Go.")
    questions = [question["detail"].partition("\n")[0] for question in editor.received("agent/ask")]
    assert questions == ["echo yes > allowed", "echo no > denied"]
    assert (project.folder / "allowed").read_text() == "yes\n"
    assert not (project.folder / "denied").exists()
    assert [each["isError"] for each in editor.events("toolResult")] == [False, True]


@pytest.mark.parametrize("change", [edit, write])
def test_why_a_write_was_refused_stands_in_its_call(
    project: Project, start: Start, change: Callable[..., Call]
) -> None:
    path = project.file("a.txt", "one\n")
    path.chmod(0o444)
    text = ("one", "1") if change is edit else ("1\n",)
    editor = start(do(read(path)), do(change(path, *text)), say("Done."))
    assert editor.ask_agent("Go.")["edits"] == []
    _, failed = editor.events("toolResult")
    assert failed["isError"]
    told = "".join(block["text"] for block in failed["content"])
    assert f"{path}: is read-only; change its permissions to let it be written" in told
    assert "[object Object]" not in told
    assert path.read_text() == "one\n"


def test_in_mirror_it_writes_itself_and_the_open_document_follows(
    project: Project, start: Start
) -> None:
    path = project.file("a.txt", "one\n\nthree\n")
    editor = start(do(read(path)), do(edit(path, "three", "3")), say("Done."), hosting="mirror")
    document = editor.open(path)
    editor.type(document, 0, "typed\n")
    assert editor.ask_agent("Go.")["text"] == "Done."
    assert path.read_text() == "one\n\n3\n"
    assert document.text.content == "typed\none\n\n3\n"


def test_a_stopped_turn_and_a_killed_agent_are_followed_by_turns_that_work(
    project: Project, qwen: Qwen, start: Start
) -> None:
    steps = [say("First."), Step("word " * 500, pause=0.05), say("Third."), Step(delay=120)]
    editor = start(*steps, say("Fifth."))
    assert editor.ask_agent("One")["text"] == "First."
    prompt = editor.prompt("Two")
    editor.event("textDelta", text="word ")
    editor.call("agent/abort")
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert editor.ask_agent("Three")["text"] == "Third."
    prompt = editor.prompt("Four")
    assert wait_until(lambda: len(qwen.model.requests) == 4)
    kill_agent(editor)
    assert editor.answer(prompt)["error"]["data"]["kind"] == "agentExited"
    assert editor.ask_agent("Five")["text"] == "Fifth."
    assert "First." in str(qwen.model.requests[-1]["messages"])


def test_its_list_of_what_is_to_do_is_the_plan_of_the_turn(start: Start) -> None:
    def todo(*states: str) -> Step:
        words = zip(("Look", "Act"), states, strict=True)
        todos = [{"id": word, "content": word, "status": state} for word, state in words]
        return do(Call("todo_write", {"todos": todos}))

    editor = start(todo("in_progress", "pending"), todo("completed", "in_progress"), say("So far."))
    assert editor.ask_agent("Go.")["text"] == "So far."
    told = [[entry["status"] for entry in plan["entries"]] for plan in editor.events("plan")]
    assert told == [["in_progress", "pending"], ["completed", "in_progress"]]


def test_its_mode_is_an_option_and_none_that_asks_nobody_is_had_in_a_folder_it_distrusts(
    start: Start,
) -> None:
    editor = start(say("Hi."))
    options = editor.call("agent/options")["options"]
    mode = next(option for option in options if option["id"] == "mode")
    assert mode["value"] == "default"
    assert {"plan", "yolo"} <= {value["value"] for value in mode["values"]}
    editor.call("agent/setOption", {"id": "mode", "value": "plan"})
    editor.event("optionChanged", value="plan")
    refused = editor.failure("agent/setOption", {"id": "mode", "value": "yolo"})
    assert "untrusted folder" in refused.message


def test_nothing_that_a_repository_names_runs(project: Project, start: Start) -> None:
    ran = str(project.folder / "ran")
    hook = {"hooks": [{"type": "command", "command": f"touch {ran}"}]}
    server = {"command": "touch", "args": [ran]}
    settings = {"mcpServers": {"evil": server}, "hooks": {"UserPromptSubmit": [hook]}}
    project.file(".qwen/settings.json", json.dumps(settings))
    editor = start(say("Hi."))
    assert editor.ask_agent("Go.")["text"] == "Hi."
    assert not (project.folder / "ran").exists()
