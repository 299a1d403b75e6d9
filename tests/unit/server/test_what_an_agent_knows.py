"""What a person types while an agent works is never lost to a whole text of the agent's: what it
knows is what it has read and written, and it is told of the rest."""

import pytest
from support.project import Document, Editor, Project, call, edit, step, write
from support.raw_client import Json

LINES = [f"line {number}\n" for number in range(1, 13)]
TEXT = "".join(LINES)


def changed(*places: int) -> str:
    """The agent's own text, with these lines (1-based) changed."""
    return "".join(
        line.upper() if number in places else line for number, line in enumerate(LINES, 1)
    )


def conversation(project: Project, *calls: Json) -> tuple[Editor, Document]:
    """One call a turn; the person types ``TYPED `` into the first line after the first."""
    path = project.file("a.txt", TEXT)
    turns = [each for made in calls for each in (step("", made), step("Done."))]
    editor = project.editor(*turns, client={"events": True})
    document = editor.open(path)
    editor.ask_agent("Go.")
    editor.type(document, 0, "TYPED ")
    return editor, document


READ = call("read", path="a.txt")


def note(*rows: str, path: str) -> str:
    return (
        "\n[Note from the editor, not part of a.txt]\n"
        f"{path} changed since you last saw it:\n" + "".join(f"{row}\n" for row in rows)
    )


def test_a_second_write_that_knows_nothing_of_the_typing_leaves_it(project: Project) -> None:
    editor, document = conversation(
        project, READ, write("a.txt", changed(5)), write("a.txt", changed(5, 9))
    )
    editor.ask_agent("Write.")
    assert document.text.content == "TYPED " + changed(5)
    editor.ask_agent("Write again.")
    assert document.text.content == "TYPED " + changed(5, 9)
    path = str(project.folder / "a.txt")
    told = note("@@ line 1 @@", "-line 1", "+TYPED line 1", path=path)
    assert [text.endswith(told) for text in editor.tool_texts()] == [False, True, True]


def test_a_write_after_an_edit_leaves_the_typing(project: Project) -> None:
    editor, document = conversation(
        project, READ, edit("a.txt", "line 5", "LINE 5"), write("a.txt", changed(5, 9))
    )
    editor.ask_agent("Edit.")
    editor.ask_agent("Write.")
    assert document.text.content == "TYPED " + changed(5, 9)


def test_two_writes_of_one_answer_leave_the_typing(project: Project) -> None:
    path = project.file("a.txt", TEXT)
    both = step("", write("a.txt", changed(5)), write("a.txt", changed(5, 9)))
    editor = project.editor(
        step("", READ), step("Done."), both, step("Done."), client={"events": True}
    )
    document = editor.open(path)
    editor.ask_agent("Read.")
    editor.type(document, 0, "TYPED ")
    editor.ask_agent("Write both.")
    assert document.text.content == "TYPED " + changed(5, 9)


def test_a_write_that_took_the_typing_in_goes_on_from_there(project: Project) -> None:
    editor, document = conversation(
        project,
        READ,
        write("a.txt", changed(5)),
        write("a.txt", "TYPED " + changed(5, 9)),
        write("a.txt", "TYPED MORE " + changed(5, 9)),
    )
    for _ in range(3):
        editor.ask_agent("Write.")
    assert document.text.content == "TYPED MORE " + changed(5, 9)


def test_a_line_that_a_note_told_of_is_not_doubled_by_who_writes_it_too(project: Project) -> None:
    took_in = "TYPED " + changed(5, 9)
    beside = took_in.replace("line 3\n", "new\nLINE 3\n")
    editor, document = conversation(
        project, READ, write("a.txt", changed(5)), write("a.txt", beside)
    )
    editor.type(document, 2, "new\n")
    for _ in range(2):
        editor.ask_agent("Write.")
    assert document.text.content == beside


def test_what_the_agent_has_read_it_may_take_out(project: Project) -> None:
    editor, document = conversation(project, READ, READ, write("a.txt", changed(5)))
    editor.ask_agent("Read.")
    editor.ask_agent("Write.")
    assert document.text.content == changed(5)


def test_where_both_changed_the_same_words_the_agent_reads_which(project: Project) -> None:
    mine = "mine " + "".join(LINES[1:])
    editor, document = conversation(
        project, READ, write("a.txt", "line one\n" + "".join(LINES[1:]))
    )
    editor.retype(document, mine)
    editor.ask_agent("Write.")
    assert document.text.content == mine
    path = str(project.folder / "a.txt")
    told = note("@@ line 1 @@", "-line 1", "-line 2", "+mine line 2", path=path)
    assert editor.tool_texts()[-1] == "a.txt changed since you read it; read it again" + told


@pytest.mark.parametrize("typed", [True, False])
def test_a_write_drops_no_lines_that_the_agent_has_not_read(project: Project, typed: bool) -> None:
    path = project.file("a.txt", TEXT)
    first = call("read", path="a.txt", limit=8)
    rest = call("read", path="a.txt", offset=9)
    less = write("a.txt", "".join(LINES[:8]))
    turns = [each for made in (first, less, rest, less) for each in (step("", made), step("Done."))]
    editor = project.editor(*turns, client={"events": True})
    document = editor.open(path)
    if typed:
        editor.type(document, 9, "TYPED ")
    before = document.text.content
    editor.ask_agent("Read some.")
    editor.ask_agent("Write.")
    assert document.text.content == before
    assert editor.tool_texts()[-1] == (
        "this would drop lines of a.txt that you have not read; read it from line 9 to 12 before"
        " writing it"
    )
    editor.ask_agent("Read the rest.")
    editor.ask_agent("Write.")
    assert document.text.content == "".join(LINES[:8])
