"""What the settings allow, what a person is asked, and what is held back whatever they say."""

from pathlib import Path

import pytest
from support.project import Editor, Project, bash, call, edit, step, write
from support.raw_client import Json

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


SECRETS = ".env (a file for secrets, whose text would go to the agent's model)"


@pytest.mark.parametrize(
    ("settings", "answers", "asked", "shown"),
    [
        ({}, ["allow", "deny"], [SECRETS, SECRETS], ["KEY=1\n", "Not run: the user declined"]),
        ({}, ["allowSession"], [SECRETS], ["KEY=1\n", "KEY=1\n"]),
        ({"allow": ["read: .env"]}, [], [], ["KEY=1\n", "KEY=1\n"]),
        ({"read": "ask", "allow": ["read: a.txt"]}, ["deny"], [SECRETS], ["Not run: the user"]),
        ({"read": "deny"}, [], [], ["Not run: permissions.read"]),
    ],
    ids=["each time", "for the session", "named in the settings", "another named", "never"],
)
def test_a_file_that_is_made_for_secrets_is_read_only_when_the_person_says_so(
    project: Project, settings: Json, answers: list[str], asked: list[str], shown: list[str]
) -> None:
    project.file(".env", "KEY=1\n")
    read = step("", *[call("read", path=".env") for _ in shown])
    options: Json = {"permissions": settings}
    editor = project.editor(read, step("Done."), client=ASK, options=options)
    editor.answers = list(answers)
    editor.ask_agent("Go.")
    titles = [question["title"] for question in editor.received("agent/ask")]
    assert titles == [f"read: {each}" for each in asked]
    texts = editor.tool_texts()
    assert [text[: len(start)] for text, start in zip(texts, shown, strict=True)] == shown


def test_a_link_to_a_file_that_is_made_for_secrets_is_one(project: Project) -> None:
    (project.folder / "notes.txt").symlink_to(project.file(".env", "KEY=1\n"))
    read = step("", call("read", path="notes.txt"), call("read", path=".env.example"))
    project.file(".env.example", "KEY=\n")
    editor = project.editor(read, step("Done."), client=ASK)
    editor.answers = ["deny"]
    editor.ask_agent("Go.")
    (question,) = editor.received("agent/ask")
    assert question["detail"] == f"notes.txt, which is {project.folder.resolve()}/{SECRETS}"
    assert editor.tool_texts()[1] == "KEY=\n"


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
        options={"edits": {"review": "before"}, "permissions": {"reading": "ask"}},
    )
    editor.answers = [answer]
    editor.ask_agent("Go.")
    names = [option["name"] for option in editor.received("agent/ask")[0]["options"]]
    assert names[:3] == ["Allow, applying proposals first", "Deny", "Allow as it is on disk"]
    output = editor.tool_texts()[1]
    assert f"\n{seen}\n" in output
    assert ("Proposed and not yet applied" in output) == (answer == "allow")
