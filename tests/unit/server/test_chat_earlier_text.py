"""What stood in a document before its session began reaches the agent with the first prompt that
does."""

import json
import sys
from pathlib import Path

from support.project import EVENTS, Document, Editor, Project
from support.raw_client import wait_until
from test_chat_documents import say, send, text_of

ACP_AGENT = str(Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py")
ABOVE = "## You\n\nOnce.\n\n## Agent\n\nUpon a time.\n\n"


def begun(project: Project, prompt: str, until: str = "") -> tuple[Editor, Document, Path]:
    """A document whose first prompt is sent; its agent starts once the file is there, and before
    does what ``until`` says."""
    ready = project.folder.parent / "ready"
    script = f'test -e "{ready}" || {until or "exit 3"}; exec "$@"'
    program = ["sh", "-c", script, "sh", sys.executable, ACP_AGENT, json.dumps({"echoes": True})]
    if not until:
        ready.touch()
    editor = project.editor(agent={"wire": "acp", "command": program}, client=EVENTS)
    document = editor.open(project.file("x.chat.md", f"{ABOVE}## You\n\n{prompt}\n"))
    send(editor, document)
    return editor, document, ready


def at_rest(document: Document, answers: int) -> bool:
    text = text_of(document)
    return "at work" not in text and text.count("## Agent\n") > answers


def told(editor: Editor, document: Document, prompt: str) -> bool:
    """Sends a prompt; whether what stood there went with it."""
    count = len(editor.events("turnEnded"))
    say(editor, document, prompt)
    send(editor, document)
    assert wait_until(lambda: len(editor.events("turnEnded")) > count)
    sent = editor.events("turnStarted")[-1]["prompt"]
    assert sent.startswith(prompt)
    assert wait_until(lambda: text_of(document).endswith("## You\n\n"))
    return "Upon a time." in sent


def test_a_prompt_whose_agent_does_not_start_leaves_it_to_the_next(project: Project) -> None:
    editor, document, ready = begun(project, "Never.", until="exit 3")
    assert wait_until(lambda: at_rest(document, 1))
    ready.touch()
    assert told(editor, document, "Go on.")
    assert not told(editor, document, "And on.")


def test_a_prompt_that_is_stopped_before_it_is_sent_leaves_it_to_the_next(
    project: Project,
) -> None:
    editor, document, ready = begun(project, "Never.", until="sleep 30")
    editor.event("agentStatus", status="starting")
    assert editor.command("abort") == {"aborted": True}
    assert wait_until(lambda: at_rest(document, 1))
    ready.touch()
    assert told(editor, document, "Go on.")
    assert not told(editor, document, "And on.")


def test_a_prompt_whose_turn_fails_leaves_it_to_the_next(project: Project) -> None:
    editor, document, _ = begun(project, "die")
    assert wait_until(lambda: at_rest(document, 1))
    assert told(editor, document, "Go on.")
    assert not told(editor, document, "And on.")


def test_a_prompt_behind_one_that_has_it_goes_without(project: Project) -> None:
    editor, document, ready = begun(project, "First.", until="sleep 1")
    editor.event("agentStatus", status="starting")
    say(editor, document, "Go on.")
    send(editor, document)
    ready.touch()
    assert wait_until(lambda: len(editor.events("turnEnded")) == 2)
    assert ["Upon a time." in each["prompt"] for each in editor.events("turnStarted")] == [
        True,
        False,
    ]
