"""What the settings allow, what a person is asked, and what is held back whatever they say."""

from pathlib import Path

import pytest
from project import Editor, Project, bash, call, edit, step, write
from raw_client import Json

ASK: Json = {"events": True, "ask": True, "save": True}


def asked_to_read(project: Project, answer: str) -> Editor:
    """After a turn in which the agent reads a file, and the person answers so."""
    project.file("a.txt", "one\n")
    editor = project.editor(
        step("", call("read", path="a.txt")),
        step("Done."),
        client=ASK,
        options={"permissions": {"read": "ask"}},
    )
    editor.answers = [answer]
    editor.ask_agent("Go.")
    return editor


def test_a_read_that_must_be_asked_for_waits_for_the_answer(project: Project) -> None:
    editor = asked_to_read(project, "allow")
    assert editor.tool_texts() == ["one\n"]
    assert [question["title"] for question in editor.received("agent/ask")] == ["read: a.txt"]


def test_a_declined_read_shows_the_model_nothing(project: Project) -> None:
    editor = asked_to_read(project, "deny")
    assert editor.tool_texts() == ["Not run: the user declined this call."]


@pytest.mark.parametrize(
    ("outside", "answers", "asked", "text"),
    [
        ("deny", [], 0, "lies outside the workspace"),
        ("ask", ["allow"], 1, "secret\n"),
        ("ask", ["deny"], 1, "declined"),
        ("allow", [], 0, "secret\n"),
    ],
)
def test_a_path_outside_is_as_the_settings_say(
    project: Project, tmp_path: Path, outside: str, answers: list[str], asked: int, text: str
) -> None:
    target = tmp_path / "outside.txt"
    target.write_text("secret\n")
    link = project.folder / "link.txt"
    link.symlink_to(target)
    editor = project.editor(
        step("", call("read", path="link.txt")),
        step("Done."),
        client=ASK,
        options={"permissions": {"outside": outside}},
    )
    editor.answers = answers
    editor.ask_agent("Go.")
    questions = editor.received("agent/ask")
    assert len(questions) == asked
    assert all(str(target) in question["title"] for question in questions)
    assert text in editor.tool_texts()[0]


def test_a_write_that_drops_most_of_a_file_becomes_a_proposal(project: Project) -> None:
    path = project.file("a.txt", "".join(f"line {n}\n" for n in range(100)))
    editor = project.editor(
        step("", call("read", path="a.txt")), step("", write("a.txt", "gone\n")), step("Done.")
    )
    result = editor.ask_agent("Go.")
    assert [one["status"] for one in result["edits"]] == ["proposed"]
    assert path.read_text().startswith("line 0\n")


def test_what_the_agent_proposed_itself_has_not_changed_for_it(project: Project) -> None:
    project.file("a.txt", "one\ntwo\n")
    editor = project.editor(
        step("", call("read", path="a.txt")),
        step("", edit("a.txt", "one", "ONE")),
        step("", call("read", path="a.txt")),
        step("Done."),
        client=ASK,
        options={"edits": {"review": "before"}},
    )
    editor.ask_agent("Go.")
    assert editor.tool_texts()[2] == "ONE\ntwo\n"
    assert not any("changed since" in text for text in editor.tool_texts())


@pytest.mark.parametrize(("answer", "seen"), [("allow", "one"), ("allowAndApply", "ONE")])
def test_a_command_beside_a_proposal_is_asked_with_the_choice_to_apply_it(
    project: Project, answer: str, seen: str
) -> None:
    project.file("a.txt", "one\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "ONE")),
        step("", bash("cat a.txt")),
        step("Done."),
        client=ASK,
        options={"edits": {"review": "before"}},
    )
    editor.answers = [answer]
    editor.ask_agent("Go.")
    names = [option["name"] for option in editor.received("agent/ask")[0]["options"]]
    assert names[:2] == ["Allow, applying proposals first", "Allow as it is on disk"]
    output = editor.tool_texts()[1]
    assert f"\n{seen}\n" in output
    assert ("Proposed and not yet applied" in output) == (answer == "allow")
