"""The real ``rkat-rpc`` on a loopback model: what the scenarios, the capabilities and the untrusted
repository, which run on it too, do not ask. The double is held to what it says here."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import rkat_dialogue as dialogue
from support.project import EVENTS, Editor, Project
from support.raw_client import Json, wait_until
from support.rkat_agent import Rkat
from support.scripted_agents import Step, bash, do, edit, read, say, write

pytestmark = pytest.mark.rkat

CLIENT: Json = EVENTS | {"ask": True}
#: In seconds, on a machine that may be busy.
PATIENCE = 60.0

Start = Callable[..., Editor]


@pytest.fixture
def rkat(project: Project) -> Iterator[Rkat]:
    with ExitStack() as models:
        yield Rkat(project.home / "rkat", models)


@pytest.fixture
def start(project: Project, rkat: Rkat) -> Start:
    """``start(*steps, **settings)``: an editor over a server with the real one."""

    def start(*steps: Step, **settings: object) -> Editor:
        editor = project.editor(agent=rkat.settings(*steps, **settings), client=CLIENT)
        editor.timeout = PATIENCE
        return editor

    return start


def test_the_double_says_what_the_real_one_says_in_its_order(tmp_path: Path) -> None:
    """But for what only the real one has in a frame, which nobody reads."""
    real, double = dialogue.had_with_real(tmp_path), dialogue.had_with_double(tmp_path)
    assert dialogue.ordered(double) == dialogue.ordered(real)
    pairs = zip(dialogue.by_kind(double), dialogue.by_kind(real), strict=True)
    found = [(kind, dialogue.beyond(said, really)) for (kind, said), (_, really) in pairs]
    assert [(kind, differences) for kind, differences in found if differences] == []


def test_the_main_job_in_a_document_with_unsaved_text(project: Project, start: Start) -> None:
    path = project.file("a.txt", "one\ntwo\nthree\n")
    editor = start(
        do(read("a.txt"), text="Let me see."),
        do(edit("a.txt", ("three", "four"), ("typed", "read")), write("b/n.txt", "né\n")),
        do(bash("sh -c 'cat b/n.txt'; exit 3"), bash("echo > no.txt")),
        say("All done."),
    )
    document = editor.open(path)
    editor.type(document, 0, "typed 😀\n")
    editor.answers = ["allow", "deny"]
    result = editor.ask_agent("Go.")
    assert (result["stopReason"], result["text"]) == ("endTurn", "All done.")
    assert [edit["status"] for edit in result["edits"]] == ["applied", "applied"]
    assert document.text.content == "read 😀\none\ntwo\nfour\n"
    assert path.read_text() == "one\ntwo\nthree\n"  # unsaved text stays unsaved
    assert (project.folder / "b/n.txt").read_bytes() == "né\n".encode()
    assert not (project.folder / "no.txt").exists()
    told = editor.tool_texts()
    assert told[0] == "typed 😀\none\ntwo\nthree\n"
    assert any("né\n\n[exit 3]" in each for each in told)
    assert any("Not run: the user declined" in each for each in told)
    assert result["usage"] == {"input": 40, "output": 20}


def test_its_hands_are_there_again_after_a_stop_and_in_another_process(
    project: Project, start: Start, rkat: Rkat
) -> None:
    """After a stop it drops the session's own tools, and its model loads those of the process. In
    another process it has neither for an old session, so that gets a new one, told in short."""
    project.file("a.txt", "one\n")
    look = do(read("a.txt"))
    editor = start(say("Hello."), say("Never.", delay=60), look, say("Seen."), look, say("Again."))
    session = editor.ask_agent("Hi.")["sessionId"]
    prompt = editor.prompt("Wait.")
    assert wait_until(lambda: len(rkat.model.requests) == 2, PATIENCE)
    editor.call("agent/abort")
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert "read" in offered(rkat.model.requests[-1])

    assert editor.ask_agent("Look.")["text"] == "Seen."
    assert editor.tool_texts() == ["one\n"]
    # Until they were loaded; a new process is given them.
    assert ("read" in offered(rkat.model.requests[2])) == was_ended(editor)

    editor.call("agent/closeSession", {"sessionId": session})
    assert "message" not in editor.event("agentStatus", status="exited")
    editor.call("agent/resumeSession", {"sessionId": session})
    assert editor.ask_agent("Look once more.", sessionId=session)["text"] == "Again."
    assert editor.tool_texts() == ["one\n", "one\n"]
    assert "Hello." in str(rkat.model.requests[-1]["messages"])
    assert any("does not remember" in each["message"] for each in editor.events("notice"))


def was_ended(editor: Editor) -> bool:
    """Whether it was, since it had not stopped after 5 s, as on a busy machine."""
    return bool(editor.events("agentStatus", status="restarting"))


def offered(request: Json) -> set[str]:
    return {tool["function"]["name"] for tool in request["tools"]}


def test_a_stop_of_the_only_turn_leaves_a_session_that_goes_on(start: Start, rkat: Rkat) -> None:
    """It drops such a session."""
    editor = start(say("Never.", delay=60), say("Noted."), say("Blue."))
    prompt = editor.prompt("Wait.")
    assert wait_until(lambda: len(rkat.model.requests) == 1, PATIENCE)
    editor.call("agent/abort")
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert editor.call("agent/messages")["messages"] == []
    assert editor.ask_agent("The word is blue.")["text"] == "Noted."
    assert editor.ask_agent("Which word?")["text"] == "Blue."
    assert "The word is blue." in str(rkat.model.requests[-1]["messages"])
    assert was_ended(editor) or not editor.events("notice", level="warning")


def test_the_configuration_is_merged_and_told_without_its_secrets(start: Start) -> None:
    editor = start(say("Hello."), config={"agent": {"max_turns": 7}})
    editor.ask_agent("Go.")
    told = editor.call("agent/state")
    assert (told["model"], told["config"]["agent"]["max_turns"]) == ("one", 7)
    helper = told["config"]["realm"]["lsp-agent"]["auth"]["helper"]
    assert helper["source"]["secret"] == "…"


def test_a_configuration_that_it_refuses_fails_the_start_with_its_reason(start: Start) -> None:
    editor = start(say("Never."), config={"budget": {"max_tokens": "many"}})
    failure = editor.failure("agent/prompt", {"text": "Go."})
    assert "does not take the table `config`" in failure.message
    assert 'max_tokens = "many"' in failure.message


def test_a_limit_of_model_calls_in_its_configuration_ends_the_turn(
    project: Project, start: Start
) -> None:
    look = do(read("a.txt"))
    editor = start(look, look, say("Never."), config={"agent": {"max_turns": 1}})
    assert editor.ask_agent("Go.")["stopReason"] == "maxSteps"


def test_without_a_key_the_turn_fails_with_what_helps(project: Project) -> None:
    agent: Json = {
        "wire": "meerkat",
        "command": ["rkat-rpc", "--state-root", str(project.home / "rkat")],
        "model": "claude-sonnet-4-5",
        "provider": "anthropic",
    }
    editor = project.editor(agent=agent, client=CLIENT)
    editor.timeout = PATIENCE
    result = editor.ask_agent("Go.")
    assert result["stopReason"] == "error"
    assert "kind=missing_secret" in result["error"]
    assert "Check the provider's key" in result["error"]
    assert editor.call("agent/models")["models"]
