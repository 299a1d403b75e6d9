"""Claude Code, Codex, Gemini CLI and Copilot CLI as they are, each with its model scripted: what
each does in a way of its own. What they have in common with any agent is in
tests/system/scenarios."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.actors import Actor, Claude, CodexAcp, CopilotCli, GeminiCli
from support.model_server import Refusal, Step
from support.project import EVENTS, Editor, Project
from support.raw_client import Json
from support.scripted_agents import do, say

#: In seconds. They load a whole runtime, on a machine that may be busy with the other tests.
PATIENCE = 90.0
BEFORE: Json = {"edits": {"review": "before", "save": "never"}}

CLAUDE = pytest.param(Claude, id="claude", marks=pytest.mark.claude)
CODEX = pytest.param(CodexAcp, id="codex-acp", marks=pytest.mark.codex_acp)
GEMINI = pytest.param(GeminiCli, id="gemini", marks=pytest.mark.gemini)
COPILOT = pytest.param(CopilotCli, id="copilot", marks=pytest.mark.copilot)

Start = Callable[..., Editor]


@pytest.fixture
def actor(request: pytest.FixtureRequest, project: Project) -> Iterator[Actor]:
    with request.param(project) as made:
        yield made


@pytest.fixture
def start(project: Project, actor: Actor) -> Start:
    def start(*steps: Step, options: Json | None = None, **settings: Any) -> Editor:
        agent = actor.settings(*steps) | settings
        editor = project.editor(agent=agent, client=EVENTS | {"ask": True}, options=options)
        editor.timeout = PATIENCE
        return editor

    return start


def questions(editor: Editor) -> list[str]:
    return [question["title"] for question in editor.received("agent/ask")]


@pytest.mark.parametrize("actor", [CLAUDE, CODEX, COPILOT], indirect=True)
def test_with_review_before_the_first_edit_waits_for_leave(
    project: Project, actor: Actor, start: Start
) -> None:
    path = project.file("a.txt", "one\n")
    steps = [do(actor.read(str(path))), do(actor.edit(str(path), "one\n", "1\n")), say("Done.")]
    editor = start(*steps, options=BEFORE)
    editor.answers = ["deny"]
    editor.ask_agent("Go.")
    assert questions(editor) == [f"edit: {path}"]
    assert path.read_text() == "one\n"


@pytest.mark.parametrize("actor", [GEMINI], indirect=True)
def test_with_review_before_what_comes_to_the_editor_is_a_proposal(
    project: Project, actor: Actor, start: Start
) -> None:
    path, new = project.file("a.txt", "one\n"), project.folder / "new.txt"
    calls = [actor.edit(str(path), "one\n", "1\n"), actor.write(str(new), "new\n")]
    editor = start(do(actor.read(str(path))), *map(do, calls), say("Done."), options=BEFORE)
    result = editor.ask_agent("Go.")
    assert [each["status"] for each in result["edits"]] == ["proposed", "proposed"]
    assert questions(editor) == []
    assert (path.read_text(), new.exists()) == ("one\n", False)


@pytest.mark.parametrize("actor", [CLAUDE, CODEX, GEMINI, COPILOT], indirect=True)
def test_a_command_is_held_to_the_patterns_that_the_person_allows(
    project: Project, actor: Actor, start: Start
) -> None:
    """So the question, where there is one, has the command itself."""
    steps = [do(actor.command("touch allowed")), do(actor.command("touch denied")), say("Done.")]
    editor = start(*steps, options={"permissions": {"allow": ["command: touch allowed"]}})
    editor.answers = ["deny"]
    editor.ask_agent("Go.")
    assert questions(editor) == ["bash: touch denied"]
    assert (project.folder / "allowed").exists()
    assert not (project.folder / "denied").exists()


@pytest.mark.parametrize("actor", [CODEX], indirect=True)
def test_what_a_command_writes_is_told_and_what_it_prints_is_shown(
    project: Project, actor: Actor, start: Start
) -> None:
    editor = start(do(actor.command("echo made > made.txt; echo printed")), say("Done."))
    editor.answers = ["allow"]
    result = editor.ask_agent("Go.")
    assert [each["uri"].rsplit("/", 1)[1] for each in result["edits"]] == ["made.txt"]
    (told,) = editor.events("toolResult")
    assert "printed" in told["content"][0]["text"]


@pytest.mark.parametrize("status", [401, 529])
@pytest.mark.parametrize("actor", [CODEX, COPILOT], indirect=True)
def test_a_model_that_refuses_is_no_success(status: int, actor: Actor, start: Start) -> None:
    """Both end such a turn as if all were well."""
    refused = Step(refusal=Refusal(status, "no such luck"))
    editor = start(*[refused] * 12)
    assert editor.ask_agent("Go.")["stopReason"] == "error"


@pytest.mark.parametrize("actor", [CLAUDE, CODEX, COPILOT], indirect=True)
def test_it_starts_in_the_mode_that_asks(actor: Actor, start: Start) -> None:
    asking = {"claude": "default", "codex-acp": "read-only", "copilot": "#agent"}
    editor = start(say("Hi."))
    options = editor.call("agent/options")["options"]
    mode = next(option for option in options if option["id"] == "mode")
    assert mode["value"].endswith(asking[actor.name])
