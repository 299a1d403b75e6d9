"""A mirror session: the agent writes the disk itself; its commands are gated all the same."""

from support.project import ALLOWED, Editor, Project, Stubborn, bash, call, edit, step, write
from support.raw_client import Json, wait_until

ASK: Json = {"events": True, "ask": True}


def mirror(project: Project, *steps: Json, options: Json | None = None) -> Editor:
    agent = project.agent(*steps, hosting="mirror")
    return project.editor(agent=agent, client=ASK, options=options)


def notices(editor: Editor) -> list[str]:
    return [event["message"] for event in editor.events("notice", level="warning")]


def test_the_agent_writes_files_itself_and_one_notice_says_so(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = mirror(
        project,
        step("", edit("a.txt", "one", "two")),
        step("", write("b.txt", "new\n")),
        step("Done."),
        step("", call("read", path="b.txt")),
        step("Again."),
    )
    document = editor.open(path)
    assert editor.call("agent/state")["hosting"] == "mirror"
    result = editor.ask_agent("Go.")
    assert result["text"] == "Done."
    assert path.read_text() == "two\n"
    assert (project.folder / "b.txt").read_text() == "new\n"
    assert document.text.content == "two\n"
    assert [edit["status"] for edit in result["edits"]] == ["applied", "applied"]
    assert editor.ask_agent("Go on.")["text"] == "Again."
    assert editor.call("agent/state")["hosting"] == "mirror"
    assert len(notices(editor)) == 1
    assert "itself" in notices(editor)[0]
    shown = [params["message"] for params in editor.received("window/showMessage")]
    assert shown == notices(editor)


def test_events_and_progress_are_those_of_any_session(project: Project) -> None:
    editor = mirror(
        project,
        step("Words.", bash("echo out; sleep 0.3")),
        step("Done."),
        options=ALLOWED,
    )
    editor.ask_agent("Go.")
    numbers = [event["seq"] for event in editor.events()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(editor.events("toolCall")) == len(editor.events("toolResult")) == 1
    assert "out" in editor.events("toolProgress")[0]["text"]
    assert len(editor.events("turnEnded")) == 1
    titles = [p["value"].get("title") for p in editor.received("$/progress")]
    assert "bash: echo out; sleep 0.3" in titles


def test_its_commands_are_asked_for(project: Project) -> None:
    editor = mirror(
        project, step("", bash("touch first.txt")), step("", bash("touch second.txt")),
        step("Done."),
    )  # fmt: skip
    editor.answers = ["deny", "allow"]
    editor.ask_agent("Go.")
    assert len(editor.received("agent/ask")) == 2
    assert not (project.folder / "first.txt").exists()
    assert (project.folder / "second.txt").exists()
    assert "declined" in editor.tool_texts()[0]


def test_its_commands_are_refused_where_the_settings_deny_them(project: Project) -> None:
    editor = mirror(
        project,
        step("", bash("touch first.txt")),
        step("Done."),
        options={"permissions": {"command": "deny"}},
    )
    editor.ask_agent("Go.")
    assert editor.received("agent/ask") == []
    assert not (project.folder / "first.txt").exists()


def test_it_can_be_stopped(project: Project) -> None:
    stubborn = Stubborn()
    editor = mirror(
        project, step("", bash(stubborn.command)), step("Next.", match="next"), options=ALLOWED
    )
    prompt = editor.prompt("Go.")
    assert wait_until(lambda: stubborn.runs)
    assert editor.call("agent/abort") == {"aborted": True}
    assert stubborn.processes() == []
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert editor.ask_agent("The next one.")["text"] == "Next."
