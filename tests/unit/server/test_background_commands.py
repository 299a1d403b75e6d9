"""``agent/backgroundCommands``: what the agent runs while it works on, and its end."""

import json
import os
import signal
from pathlib import Path

from support.project import EVENTS, Editor, Project, bash, step
from support.raw_client import Json, wait_until
from support.rpc_process import marked

from lsp_agent.agents.guard import supervise

ASK: Json = {"events": True, "ask": True}


def begin(command: str) -> Json:
    return {"name": "bash", "args": {"command": command, "background": True}}


def said(name: str, **args: str) -> Json:
    return {"name": name, "args": args}


def start(project: Project, *steps: Json, policy: str = "allow", **client: object) -> Editor:
    options = {"permissions": {"command": policy}}
    return project.editor(*steps, client=EVENTS | client, options=options)


def gone(mark: str) -> bool:
    return wait_until(lambda: not marked(mark))


def logged(project: Project) -> list[Json]:
    done = project.command("log", "commands", "--json")
    done.check_returncode()
    return json.loads(done.stdout)["commands"]


def test_it_is_listed_and_stopped_from_the_editor(project: Project) -> None:
    editor = start(project, step("", begin("echo up; sleep 6201")), step("Done."), step("Again."))
    assert editor.call("agent/backgroundCommands") == {"commands": []}
    editor.ask_agent("Go.")
    (told,) = editor.call("agent/backgroundCommands")["commands"]
    assert (told["id"], told["command"], told["state"]) == ("b1", "echo up; sleep 6201", "running")
    assert told["lines"] == ["up"]
    assert editor.command("stopBackgroundCommand", {"id": "b1"}) == {"stopped": ["b1"]}
    assert gone("6201")
    assert editor.event("backgroundCommand", state="ended")["exitCode"] == -1
    (told,) = editor.call("agent/backgroundCommands")["commands"]
    assert told["state"] == "ended"
    error = editor.failure("agent/stopBackgroundCommand", {"id": "b1"})
    assert (error.code, "there run: none" in error.message) == (-32602, True)
    assert editor.call("agent/stopBackgroundCommand", {}) == {"stopped": []}


def test_the_person_is_asked_as_for_any_command_and_of_what_it_says_not_again(
    project: Project,
) -> None:
    steps = [
        step("", begin("sh -c 'echo up; sleep 6202'")),
        step("", said("bash_output", id="b1")),
        step("", said("bash_kill", id="b1")),
        step("Done."),
    ]
    editor = start(project, *steps, policy="ask", ask=True)
    asked: list[str] = []

    def answer(question: Json) -> Json:
        asked.append(question["title"])
        return {"optionId": "allow"}

    editor.handlers["agent/ask"] = answer
    editor.ask_agent("Go.")
    assert asked == ["In the background: bash: sh -c 'echo up; sleep 6202'"]
    assert [each["background"] for each in logged(project)] == [True]
    first, second, third = editor.tool_texts()
    assert first.startswith("$ sh -c 'echo up; sleep 6202'\n\nup\n\n[runs in the background as b1")
    assert second == "[b1 runs]\n[nothing new]"
    assert third == "[b1 was ended]\n[nothing new]"
    assert gone("6202")


def test_one_that_was_declined_does_not_run(project: Project) -> None:
    editor = start(project, step("", begin("touch made")), step("Done."), policy="ask", ask=True)
    editor.handlers["agent/ask"] = lambda _question: {"optionId": "deny"}
    editor.ask_agent("Go.")
    assert "declined" in editor.tool_texts()[0]
    assert not (project.folder / "made").exists()
    assert editor.call("agent/backgroundCommands") == {"commands": []}


def test_a_stopped_turn_takes_along_what_it_has_started_alone(project: Project) -> None:
    steps = [
        step("", begin("sleep 6203")),
        step("Done."),
        step("", begin("sleep 6204"), bash("sleep 6205")),
    ]
    editor = start(project, *steps)
    editor.ask_agent("Go.")
    editor.prompt("Go on.")
    assert wait_until(lambda: marked("sleep 6205"))
    editor.call("agent/abort", {})
    assert gone("6204")
    assert gone("6205")
    assert marked("sleep 6203")
    editor.call("agent/clear")
    assert gone("6203")


def test_it_ends_with_its_session(project: Project) -> None:
    editor = start(project, step("", begin("(setsid sleep 6206 &); sleep 6207")), step("Done."))
    editor.ask_agent("Go.")
    assert marked("sleep 6206")
    session = editor.event("turnStarted")["sessionId"]
    editor.call("agent/closeSession", {"sessionId": session})
    assert gone("6206")
    assert gone("6207")


def test_it_ends_with_a_server_that_is_killed(project: Project) -> None:
    editor = start(project, step("", begin("(setsid sleep 6208 &); sleep 6209")), step("Done."))
    editor.ask_agent("Go.")
    assert marked("sleep 6208")
    os.kill(editor.process.pid, signal.SIGKILL)
    assert gone("6208")
    assert gone("6209")


def test_it_ends_with_its_agent_which_is_told(project: Project) -> None:
    editor = start(project, step("", begin("sleep 6210")), step("Done."))
    editor.ask_agent("Go.")
    for process in marked(f"--cwd\0{project.folder}"):
        if Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip() != supervise.NAME:
            os.kill(process, signal.SIGKILL)
    told = editor.event("backgroundCommand", state="ended")
    assert (told["id"], "exitCode" in told) == ("b1", False)
    assert gone("6210")
    assert editor.call("agent/backgroundCommands") == {"commands": []}


def test_the_log_has_its_end_and_not_that_of_its_call(project: Project) -> None:
    editor = start(project, step("", begin("while ! [ -e go ]; do sleep 0.05; done; exit 4")))
    editor.ask_agent("Go.")
    assert wait_until(lambda: len(logged(project)) == 1)
    assert logged(project)[0]["ended"] is None
    (project.folder / "go").touch()
    assert wait_until(lambda: logged(project)[0]["ended"] is not None)
    assert logged(project)[0]["ended"]["exit"] == 4


def test_a_plain_client_is_shown_them(project: Project) -> None:
    options = {"permissions": {"command": "allow"}}
    steps = [step("", begin("sleep 6211")), step("Done.")]
    editor = project.editor(*steps, options=options)
    editor.ask_agent("Go.")
    editor.command("backgroundCommands")
    shown = "b1 (running): sleep 6211"
    assert wait_until(
        lambda: any(shown in json.dumps(each) for each in editor.received("window/showMessage"))
    )
