"""The conversation is a document: its last section is the prompt, and the answer comes into it."""

from support.project import Document, Editor, Project, step
from support.raw_client import Json, wait_until
from test_code_actions import actions, run, the_action

SHOW: Json = {"window": {"showDocument": {"support": True}}}
ANSWER = "It is a list of three things, each of which matters."
SLOW = {"delay": 0.05, "chunk": 3}


def text_of(document: Document) -> str:
    return document.text.content


def send(editor: Editor, document: Document) -> None:
    run(editor, the_action(actions(editor, document), "Send to the agent: "))


def ended(document: Document, times: int = 1) -> bool:
    text = text_of(document)
    return "at work" not in text and text.count("## Agent") == times


def test_the_answer_comes_under_the_prompt_and_an_empty_section_is_the_next(
    project: Project,
) -> None:
    path = project.file("x.chat.md", "## You\n\nWhat is it?\n")
    editor = project.editor(step(ANSWER))
    document = editor.open(path)
    send(editor, document)
    assert wait_until(lambda: ended(document))
    assert text_of(document) == f"## You\n\nWhat is it?\n\n## Agent\n\n{ANSWER}\n\n## You\n\n"
