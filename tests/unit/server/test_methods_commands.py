"""Slash commands, and the extensions that the hosted agent runs beside ours."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from support.project import EVENTS, LSP_AGENT, Editor, Project, call, edit, step
from support.raw_client import RpcError

COMMANDS = """
from lsp_agent.ext import Block, Change, Display, Extension, Insert, Prompt
extension = Extension("helper", "1")
answers = {"ask": Prompt, "put": Insert, "show": Display, "do": lambda args: None}
for name, answer in answers.items():
    extension.command(name, f"to {name}")(lambda args, answer=answer: answer(f"<{args}>"))

@extension.command("fail", "to fail")
def fail(args):
    raise ValueError("it went wrong")

@extension.tool("count", "counts", {"type": "object"})
def count(args):
    return "3"

@extension.tool("read", "takes over reading", {"type": "object"})
def read(args):
    return "not what the editor shows"

@extension.on_call
def judge(call):
    if call.tool == "bash" and "forbidden" in call.args["command"]:
        return Block("not this one")

extension.run()
"""


def install(folder: Path, name: str = "helper") -> None:
    """Puts the extension into ``folder`` of extensions."""
    place = folder / name
    place.mkdir(parents=True)
    (place / "main.py").write_text(COMMANDS)
    program = {"exec": LSP_AGENT[0], "args": [*LSP_AGENT[1:], "ext", "run", "main.py"]}
    (place / "extension.json").write_text(json.dumps({"name": name, **program}))


def persons_folder(project: Project) -> Path:
    return project.home / "data" / "lsp-agent" / "extensions"


def names(editor: Editor) -> list[str]:
    return [each["name"] for each in editor.call("agent/commands")["commands"]]


@pytest.fixture
def editor(project: Project) -> Editor:
    install(persons_folder(project))
    return project.editor(step("Hello."), client=EVENTS)


def test_the_commands_of_extensions_are_listed(editor: Editor) -> None:
    listed = editor.call("agent/commands")["commands"]
    assert listed[0] == {"name": "ask", "description": "to ask"}
    assert [each["name"] for each in listed] == ["ask", "do", "fail", "put", "reload-ext", "show"]
    capabilities = editor.call("agent/state")["capabilities"]
    assert (capabilities["commands"], capabilities["runCommand"]) == (True, True)


def test_each_action_says_what_the_client_is_to_do(editor: Editor) -> None:
    def run(name: str) -> Any:
        return editor.call("agent/runCommand", {"name": name, "args": "a b"})

    assert run("ask") == {"action": "prompt", "text": "<a b>"}
    assert run("/put") == {"action": "insert", "text": "<a b>"}
    assert run("show") == {"action": "display", "text": "<a b>"}
    assert run("do") == {"action": "noop"}
    assert editor.events("turnStarted") == []


def test_a_command_that_fails_or_is_not_there_says_so(editor: Editor) -> None:
    failed = editor.failure("agent/runCommand", {"name": "fail"})
    assert (failed.data["kind"], failed.message) == ("conflict", "ValueError: it went wrong")
    missing = editor.failure("agent/runCommand", {"name": "init"})
    assert missing.data["kind"] == "unsupported"
    assert "it has /ask, /do, /fail, /put, /reload-ext, /show" in missing.message


def test_the_commands_form_prompts_by_itself(editor: Editor) -> None:
    result = editor.command("runCommand", {"name": "ask", "args": "x"})
    assert (result["action"], result["text"]) == ("prompt", "<x>")
    ended = editor.event("turnEnded", turnId=result["turnId"])
    assert ended["stopReason"] == "endTurn"
    assert editor.events("turnStarted")[0]["prompt"] == "<x>"


def test_the_commands_form_shows_a_text_where_nobody_else_does(project: Project) -> None:
    install(persons_folder(project))
    editor = project.editor(step("Never."))
    assert editor.command("runCommand", {"name": "show", "args": "x"})["action"] == "display"
    assert editor.notification("window/showMessage", type=3)["message"] == "<x>"


def test_the_persons_extension_stays_behind_ours(project: Project) -> None:
    """Files still come from the editor, and its tools and commands are asked about."""
    install(persons_folder(project))
    file = project.file("a.txt", "one\ntwo\n")
    script = [
        step("", call("read", path="a.txt"), edit("a.txt", "two", "2")),
        step("", call("count"), call("bash", command="echo forbidden")),
        step("", call("bash", command="echo fine")),
        step("Done."),
    ]
    client = EVENTS | {"ask": True}
    options = {"permissions": {"reading": "ask"}}
    editor = project.editor(*script, client=client, options=options)
    document = editor.open(file, "one\nunsaved\ntwo\n")
    editor.answers = ["allow", "deny"]
    editor.ask_agent("Go.")
    read, _, counted, forbidden, declined = editor.tool_texts()
    assert read == "one\nunsaved\ntwo\n"
    assert document.text.content == "one\nunsaved\n2\n"
    assert counted == "3"
    assert forbidden == "not this one"  # nobody was asked about what it refuses
    assert "declined" in declined
    asked = [event["question"]["title"] for event in editor.events("questionAsked")]
    assert len(asked) == 2
    assert editor.call("agent/state")["hosting"] == "hosted"


def test_a_repositorys_extensions_run_once_they_are_trusted(project: Project) -> None:
    install(project.folder / ".zot" / "extensions")
    editor = project.editor(step("Never."), client=EVENTS)
    assert names(editor) == ["reload-ext"]
    notice = editor.event("notice", level="warning")
    assert "lsp-agent ext trust" in notice["message"]
    project.command("ext", "trust", str(project.folder)).check_returncode()
    session = editor.call("agent/newSession", {})["sessionId"]
    found = editor.call("agent/commands", {"sessionId": session})["commands"]
    assert [each["name"] for each in found] == ["ask", "do", "fail", "put", "reload-ext", "show"]


def test_the_builtin_agent_gets_those_of_zots_user_as_well(project: Project) -> None:
    install(project.home / "zot" / "extensions", "theirs")
    env = {"ZOT_HOME": str(project.home / "zot")}
    editor = project.editor(agent=project.agent(step("Never."), env=env))
    assert "ask" in names(editor)


LATE = Path(__file__).parents[2] / "support" / "doubles" / "late_extension"


def test_a_command_that_is_told_late_runs_at_the_first_try(project: Project) -> None:
    shutil.copytree(LATE, persons_folder(project) / "late")
    editor = project.editor(step("Never."), client=EVENTS)
    found = editor.call("agent/runCommand", {"name": "late"})
    assert found == {"action": "insert", "text": "there"}


def test_extensions_are_started_anew_and_the_agent_stays_hosted(project: Project) -> None:
    """What was installed meanwhile runs; files still come from the editor."""
    file = project.file("a.txt", "one\n")
    script = [step("", call("read", path="a.txt")), step("Done.")]
    editor = project.editor(*script, client=EVENTS)
    editor.open(file, "unsaved\n")
    assert names(editor) == ["reload-ext"]
    install(persons_folder(project))
    answer = editor.call("agent/runCommand", {"name": "reload-ext"})
    assert answer == {"action": "display", "text": "Started anew: helper."}
    assert "ask" in names(editor)
    editor.ask_agent("Go.")
    assert editor.tool_texts() == ["unsaved\n"]
    assert editor.call("agent/state")["hosting"] == "hosted"


def test_an_agents_command_may_leave_extensions_out(project: Project) -> None:
    install(persons_folder(project))
    editor = project.editor(agent=project.agent(step("Never."), arguments=["--no-ext"]))
    assert names(editor) == []


def test_zot_gets_the_extensions_of_its_own_user(project: Project) -> None:
    """Another program of that wire, here in the place of zot."""
    install(persons_folder(project), "ours")
    install(project.home / "zot" / "extensions", "theirs")
    zot = project.home / "zot-wrapper"
    written = project.home / "arguments"
    agent = project.agent(step("Never."), env={"ZOT_HOME": str(project.home / "zot")})
    script = f"import os, sys\nopen({str(written)!r}, 'w').write('\\n'.join(sys.argv))\n"
    command = agent["command"]
    script += f"os.execv({command[0]!r}, [*{command!r}, *sys.argv[1:]])\n"
    zot.write_text(script)
    editor = project.editor(agent=agent | {"command": [sys.executable, str(zot)]})
    assert "ask" in names(editor)
    arguments = written.read_text().split("\n")
    extensions = [arguments[i + 1] for i, word in enumerate(arguments) if word == "--ext"]
    assert arguments.count("--no-ext") == 1
    assert Path(extensions[0]).name == "bridge"
    assert extensions[1:] == [str(project.home / "zot" / "extensions" / "theirs")]


def test_a_name_must_be_given(editor: Editor) -> None:
    with pytest.raises(RpcError, match="name"):
        editor.call("agent/runCommand", {})
