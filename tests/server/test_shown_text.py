"""What a client without any extension shows of an agent's own words."""

from project import Editor, Project, bash, step
from raw_client import Json

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
    editor = project.editor(step("", bash(TRICK)), step("Done."), capabilities=SHOW)
    editor.answers = ["Deny"]
    editor.ask_agent("Go.")
    (shown,) = editor.received("window/showMessageRequest")
    told = [value.get("message", "") for value in progress_values(editor)]
    for text in (shown["message"], *(line for line in told if line.startswith("bash"))):
        assert r"build\x1b[2K\recho \u202eolleh" in text
        assert text.replace("\n", "").isprintable()
    assert any(line.startswith("bash") for line in told)


def progress_values(editor: Editor) -> list[Json]:
    return [params["value"] for params in editor.received("$/progress")]
