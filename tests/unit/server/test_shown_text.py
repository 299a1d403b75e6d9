"""What a client without any extension shows of an agent's own words."""

from support.project import BESIDE, Editor, Project, bash, step
from support.raw_client import Json, wait_until

ASK: Json = {"events": True, "ask": True}
SHOW: Json = {"window": {"showMessage": {}, "workDoneProgress": True}}
TRICK = "rm -rf build\x1b[2K\recho \u202eolleh\ntrue"


def test_a_question_writes_out_what_would_not_be_seen(project: Project) -> None:
    editor = project.editor(step("", bash(TRICK)), step("Done."), client=ASK)
    editor.answers = ["deny"]
    editor.ask_agent("Go.")
    (question,) = editor.received("agent/ask")
    first = r"rm -rf build\x1b[2K\recho \u202eolleh"
    assert question["title"].startswith(f"bash: {first}")
    assert question["detail"] == f"{first}\ntrue"
    assert editor.event("questionAsked")["question"] == question


def test_a_plain_clients_messages_and_progress_write_it_out_too(project: Project) -> None:
    editor = project.editor(
        step("", bash(TRICK)), step("Done."), capabilities=SHOW, clientInfo=BESIDE
    )
    prompt = editor.prompt("Go.")  # the question stays open, so that progress is shown
    assert wait_until(lambda: editor.received("window/showMessageRequest"))
    (shown,) = editor.received("window/showMessageRequest")
    assert wait_until(lambda: tool_titles(editor))
    for text in (shown["message"], *tool_titles(editor)):
        assert r"build\x1b[2K\recho \u202eolleh" in text
        assert text.replace("\n", "").isprintable()
    editor.command("answer", {"optionId": "deny"})
    editor.result(prompt)


def tool_titles(editor: Editor) -> list[str]:
    values = [params["value"] for params in editor.received("$/progress")]
    told = [value[key] for value in values for key in ("title", "message") if key in value]
    return [text for text in told if text.startswith("bash")]
