"""A command's time is its own, and one that never ran has neither time nor exit code: for the
model, and for whoever is shown it."""

import json
import re
import time

import pytest
from support.project import Editor, Project, bash, step
from support.raw_client import NO_ANSWER, Json

ASK: Json = {"events": True, "ask": True}
#: Seconds that the person thinks.
WAIT = 1.2
#: Asked about, since it is no reading command.
COMMAND = "sh -c 'echo ran'"


def told_the_model(project: Project) -> list[str]:
    """The results of commands in the embedded agent's own conversation."""
    (kept,) = (project.home / "data" / "lsp-agent" / "conversations").glob("*.jsonl")
    strings = re.findall(r'"\$ (?:[^"\\]|\\.)*"', kept.read_text(encoding="utf-8"))
    return [json.loads(each) for each in strings]


def asked_editor(project: Project, answer: str) -> Editor:
    editor = project.editor(step("", bash(COMMAND)), step("Done."), client=ASK)

    def think(_question: Json) -> Json:
        time.sleep(WAIT)
        return {"optionId": answer}

    editor.handlers["agent/ask"] = think
    return editor


def test_the_time_of_a_command_does_not_count_its_question(project: Project) -> None:
    editor = asked_editor(project, "allow")
    editor.ask_agent("Go.")
    (shown,) = editor.tool_texts()
    (told,) = told_the_model(project)
    for text in (shown, told):
        took = re.search(r"\[exit 0\]  Took (\d+\.\d)s$", text)
        assert took
        assert float(took[1]) < WAIT


@pytest.mark.parametrize("how", ["declined", "stopped"])
def test_a_command_that_never_ran_has_no_exit_code(project: Project, how: str) -> None:
    editor = asked_editor(project, "deny")
    if how == "stopped":
        editor.handlers["agent/ask"] = lambda _question: NO_ANSWER
    prompt = editor.prompt("Go.")
    editor.notification("agent/ask")
    if how == "stopped":
        editor.call("agent/abort")
    editor.result(prompt)
    (shown,) = editor.tool_texts()
    assert len(told_the_model(project)) == 1
    for text in (shown, *told_the_model(project)):
        assert "[exit" not in text
        assert "Took" not in text
    if how == "declined":
        assert shown == f"$ {COMMAND}\n\nNot run: the user declined this command.\n\n[not run]"
