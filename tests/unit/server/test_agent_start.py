"""The start of an agent: what it may not print, and what it must have loaded."""

import sys

import pytest
from support.project import EVENTS, Editor, Project, bash, processes_with, step
from support.raw_client import Json

KEY = "sk-1234567890"


def test_an_inherited_key_that_an_agent_prints_is_masked(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "no")  # too short for a key: a word, not to be masked
    says = 'echo "no model takes $ANTHROPIC_API_KEY" >&2; exit 3'
    agent = {"wire": "zot", "command": ["/bin/sh", "-c", says]}
    editor = project.editor(agent=agent, client=EVENTS)
    error = editor.failure("agent/prompt", {"text": "Go."})
    assert error.message.startswith("The agent ended with exit code 3: no model takes ***")
    assert error.data["stderr"] == "no model takes ***"
    assert editor.event("agentStatus", status="exited")["message"] == "no model takes ***"


def test_an_agent_that_is_not_there_is_no_longer_starting(project: Project) -> None:
    agent = {"wire": "zot", "command": ["/nowhere/agent"]}
    editor = project.editor(agent=agent, client=EVENTS)
    error = editor.failure("agent/models")
    assert error.data["kind"] == "agentNotFound"
    told = [(event["status"], event.get("message")) for event in editor.events("agentStatus")]
    assert told == [("starting", None), ("exited", error.message)]


def test_the_log_of_an_agent_that_was_ended_is_no_reason_for_its_end(project: Project) -> None:
    agent = through(project, 'echo "INFO all is well" >&2; exec "$@"', step("Hello."))
    editor = project.editor(agent=agent, client=EVENTS)
    session = editor.ask_agent("Go.")["sessionId"]
    editor.call("agent/closeSession", {"sessionId": session})
    assert "message" not in editor.event("agentStatus", status="exited")


# The bridge

ASKED: Json = {"permissions": {"command": "ask"}}


def through(project: Project, script: str, *steps: Json) -> Json:
    """An agent whose command is a shell script that starts the embedded one as "$@"."""
    agent = project.agent(*steps)
    return agent | {"command": ["/bin/sh", "-c", script, "wrapper", *agent["command"]]}


def why_it_exited(editor: Editor) -> str:
    """What a prompt is answered with by an agent that does not last."""
    error = editor.failure("agent/prompt", {"text": "Go."})
    assert error.data["kind"] == "agentExited"
    return error.message


#: Starts it without the two words ``--ext FOLDER``.
WITHOUT_EXTENSION = (
    'skip=""; for word do shift; if [ "$word" = --ext ]; then skip=1; '
    'elif [ "$skip" ]; then skip=""; else set -- "$@" "$word"; fi; done; exec "$@"'
)


def test_an_agent_that_does_not_load_the_extension_runs_nothing(project: Project) -> None:
    agent = through(project, WITHOUT_EXTENSION, step("", bash("touch made")), step("Done."))
    editor = project.editor(agent=agent, options=ASKED, client=EVENTS)
    assert "did not load the extension" in why_it_exited(editor)
    assert editor.events("toolCall") == []
    assert not (project.folder / "made").exists()
    assert processes_with(agent["command"][-1]) == []


def test_an_agent_whose_extension_dies_while_it_starts_is_ended(project: Project) -> None:
    kills = (
        "import json, os, sys, time, subprocess, pathlib\n"
        "folder = sys.argv[sys.argv.index('--ext') + 1]\n"
        "made = json.loads((pathlib.Path(folder) / 'extension.json').read_text())\n"
        "pipe = subprocess.Popen([made['exec'], *made['args']], stdin=-1, stdout=-1)\n"
        "pipe.stdout.readline(); pipe.kill(); pipe.wait()\n"
        "for line in sys.stdin:\n"
        "    name = json.loads(line)['id']\n"
        "    answer = {'type': 'response', 'id': name, 'success': True}\n"
        "    answer['data'] = {'protocol_version': 1}\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    mark = str(project.folder / "kills")
    agent = {"wire": "zot", "command": [sys.executable, "-c", kills, mark]}
    editor = project.editor(agent=agent, client=EVENTS)
    assert "lost its connection to the editor" in why_it_exited(editor)
    assert processes_with(mark) == []


def test_an_agent_that_runs_a_command_without_asking_is_ended(project: Project) -> None:
    """Its extension is up, and not asked."""
    bypasses = (
        "import json, sys, subprocess, pathlib\n"
        "say = lambda **frame: print(json.dumps(frame), flush=True)\n"
        "folder = sys.argv[sys.argv.index('--ext') + 1]\n"
        "made = json.loads((pathlib.Path(folder) / 'extension.json').read_text())\n"
        "pipe = subprocess.Popen([made['exec'], *made['args']], stdin=-1, stdout=-1)\n"
        'pipe.stdin.write(b\'{"type":"hello_ack"}\\n\'); pipe.stdin.flush()\n'
        "for line in sys.stdin:\n"
        "    frame = json.loads(line)\n"
        "    data = {'protocol_version': 1}\n"
        "    say(type='response', id=frame['id'], success=True, data=data)\n"
        "    if frame['type'] == 'prompt':\n"
        "        say(type='user_message', content=[{'type': 'text', 'text': ''}])\n"
        "        say(type='turn_start', step=1)\n"
        "        say(type='tool_call', id='c1', name='bash', args={'command': 'true'})\n"
        "        text = '$ true\\n\\n[exit 0]  Took 0.0s'\n"
        "        content = [{'type': 'text', 'text': text}]\n"
        "        say(type='tool_result', id='c1', is_error=False, content=content)\n"
    )
    mark = str(project.folder / "bypasses")
    agent = {"wire": "zot", "command": [sys.executable, "-c", bypasses, mark]}
    editor = project.editor(agent=agent, client=EVENTS)
    why_it_exited(editor)
    (notice,) = editor.events("notice", level="error")
    assert "ran a command without asking" in notice["message"]
    assert processes_with(mark) == []
