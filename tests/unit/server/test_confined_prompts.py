"""``range: "confined"``: an agent's changes stay within the lines that a person has chosen."""

from support.project import EVENTS, Document, Editor, Json, Project, bash, edit, step, write

LINES = "one\ntwo\nthree\nfour\nfive\n"
#: Lines 2 and 3.
RANGE = {"start": {"line": 1, "character": 0}, "end": {"line": 3, "character": 0}}


def begun(project: Project, *steps: Json, **options: Json) -> tuple[Editor, Document]:
    path = project.file("a.txt", LINES)
    project.file("b.txt", "other\n")
    editor = project.editor(*steps, step("Done."), client=EVENTS, options=options)
    return editor, editor.open(path)


def ask(editor: Editor, document: Document) -> None:
    item = {"uri": document.uri, "range": RANGE}
    assert editor.ask_agent("Shout.", context=[item], range="confined")["stopReason"] == "endTurn"


def test_a_change_of_these_lines_is_made_and_one_beyond_is_refused(project: Project) -> None:
    editor, document = begun(
        project, step("", edit("a.txt", "two", "TWO")), step("", edit("a.txt", "four", "FOUR"))
    )
    ask(editor, document)
    assert document.text.content == LINES.replace("two", "TWO")
    made, refused = editor.tool_texts()
    assert "confined" not in made
    assert "lines 2-3 of a.txt" in refused
    assert "line 4 of a.txt" in refused


def test_the_agent_is_told_before(project: Project) -> None:
    editor, document = begun(project)
    ask(editor, document)
    prompt = editor.event("turnStarted")["prompt"]
    assert "confined your changes to lines 2-3 of a.txt" in prompt


def test_the_lines_move_as_the_person_types(project: Project) -> None:
    editor, document = begun(project, step("", edit("a.txt", "three", "THREE")))
    item = {"uri": document.uri, "range": RANGE}
    request = editor.prompt("Shout.", context=[item], range="confined")
    editor.type(document, 0, "typed\ntyped too\n")  # the agent has not even started
    editor.result(request)
    assert document.text.content == "typed\ntyped too\n" + LINES.replace("three", "THREE")


def test_another_file_and_a_command_that_may_write_are_refused(project: Project) -> None:
    allowed = {"command": "allow"}
    editor, document = begun(
        project,
        step("", write("b.txt", "mine\n"), write("c.txt", "new\n")),
        step("", bash("echo x > b.txt")),
        permissions=allowed,
    )
    ask(editor, document)
    texts = editor.tool_texts()
    assert all("confined" in text for text in texts), texts
    assert (project.folder / "b.txt").read_text() == "other\n"
    assert not (project.folder / "c.txt").exists()


def test_the_next_prompt_is_free_again(project: Project) -> None:
    editor, document = begun(project, step("Yes."), step("", edit("a.txt", "five", "FIVE")))
    ask(editor, document)
    editor.ask_agent("Shout.")
    assert document.text.content == LINES.replace("five", "FIVE")


def test_without_lines_it_is_not_known_what_is_meant(project: Project) -> None:
    editor, document = begun(project)
    for context in ([], [{"uri": document.uri}]):
        params = {"text": "Go.", "context": context, "range": "confined"}
        assert editor.failure("agent/prompt", params).data == {"field": "range"}


def test_an_agent_that_writes_files_itself_cannot_be_confined(project: Project) -> None:
    agent = project.agent(step("Done."), hosting="mirror")
    path = project.file("a.txt", LINES)
    editor = project.editor(agent=agent)
    document = editor.open(path)
    params = {"text": "Go.", "context": [{"uri": document.uri, "range": RANGE}]}
    error = editor.failure("agent/prompt", params | {"range": "confined"})
    assert error.data["kind"] == "unsupported"
