"""``agent/revert``: turns taken back out of files that people and other sessions work in."""

import time

from support.project import EVENTS, Editor, Project, bash, call, edit, step, write
from support.raw_client import Json, wait_until

LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


def outcomes(result: Json) -> dict[str, str]:
    return {file["uri"].rsplit("/", 1)[1]: file["outcome"] for file in result["files"]}


def statuses(editor: Editor, **params: object) -> list[str]:
    return [item["status"] for item in editor.call("agent/edits", params)["edits"]]


def test_the_last_turn_is_taken_back_in_open_closed_and_new_files(project: Project) -> None:
    shown, closed = project.file("a.txt", LINES), project.file("b.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO"), edit("b.txt", "two", "TWO"), write("c.txt", "new\n")),
        step("Done."),
        client=EVENTS,
    )
    document = editor.open(shown)
    editor.ask_agent("Go.")
    editor.type(document, 6, "typed ")
    result = editor.command("revert")
    assert outcomes(result) == {"a.txt": "merged", "b.txt": "restored", "c.txt": "deleted"}
    assert document.text.content == LINES.replace("seven", "typed seven")
    assert closed.read_text() == LINES
    assert not (project.folder / "c.txt").exists()
    assert set(statuses(editor, status="rejected")) == {"rejected"}
    assert statuses(editor, status="applied") == []


def test_a_file_that_a_command_took_away_under_the_editor_is_there_again(project: Project) -> None:
    """Also with what is not saved: the file is as it was, and the editor's text stays."""
    for command, name in (("rm a.txt", "a.txt"), ("mv b.txt c.txt", "b.txt")):
        path = project.file(name, LINES)
        editor = project.editor(
            step("", edit(name, "two", "TWO"), bash(command)), step("Done."), client=EVENTS,
            options={"permissions": {"command": "allow"}},
        )  # fmt: skip
        document = editor.open(path)
        editor.type(document, 0, "typed ")
        editor.ask_agent("Go.")
        assert not path.exists()
        assert outcomes(editor.call("agent/revert"))[name] == "created"
        assert path.read_text() == LINES
        assert document.text.content == f"typed {LINES}"
        assert not (project.folder / "c.txt").exists()
        assert outcomes(editor.call("agent/revert")) == {}


def test_a_revert_is_taken_back_and_that_again(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO")),
        step("Done."),
        step("", write("c.txt", "new\n"), edit("a.txt", "TWO", "2")),
        step("Done."),
        client=EVENTS,
    )
    turns = [editor.ask_agent("One.")["turnId"], editor.ask_agent("Two.")["turnId"]]
    first = editor.call("agent/revert", {"turnId": turns[0]})
    assert outcomes(first) == {"a.txt": "restored", "c.txt": "deleted"}
    second = editor.call("agent/revert", {"turnId": first["revertId"]})
    assert outcomes(second) == {"a.txt": "restored", "c.txt": "created"}
    assert path.read_text() == LINES.replace("two", "2")
    assert (project.folder / "c.txt").read_text() == "new\n"
    third = editor.call("agent/revert", {"turnId": second["revertId"]})
    assert outcomes(third) == {"a.txt": "restored", "c.txt": "deleted"}
    editor.call("agent/revert", {"turnId": third["revertId"]})
    assert outcomes(editor.call("agent/revert")) == {"a.txt": "restored", "c.txt": "deleted"}
    assert path.read_text() == LINES.replace("two", "TWO")
    assert outcomes(editor.call("agent/revert")) == {"a.txt": "restored"}
    assert path.read_text() == LINES
    assert editor.call("agent/revert")["files"] == []


def test_the_turns_after_one_that_changed_nothing_go(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("", call("read", path="a.txt")),
        step("Done."),
        step("", edit("a.txt", "two", "TWO")),
        step("Done."),
    )
    first = editor.ask_agent("Read.")["turnId"]
    editor.ask_agent("Edit.")
    assert outcomes(editor.call("agent/revert", {"turnId": first})) == {"a.txt": "restored"}
    assert path.read_text() == LINES


def test_what_was_reverted_does_not_come_back_with_what_had_taken_it_out(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two\n", "two\nnew\n"), match="first"),
        step("Done.", match="first"),
        step("", call("read", path="a.txt"), write("a.txt", LINES), match="second"),
        step("Done.", match="second"),
    )
    first = editor.ask_agent("first")["turnId"]
    other = editor.call("agent/newSession")["sessionId"]
    second = editor.ask_agent("second", sessionId=other)["turnId"]
    assert outcomes(editor.call("agent/revert", {"turnId": first})) == {"a.txt": "unchanged"}
    editor.call("agent/revert", {"turnId": second})
    assert path.read_text() == LINES
    assert statuses(editor, status="applied") == []


def test_two_turns_ago_goes_while_typing_and_another_session_stay(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO"), match="first"),
        step("Done."),
        step("", edit("a.txt", "four", "FOUR"), match="second"),
        step("Done."),
        step("", edit("a.txt", "six", "SIX"), match="other"),
        step("Done."),
        client=EVENTS,
    )
    document = editor.open(path)
    first = editor.ask_agent("first")
    editor.type(document, 0, "typed\n")
    other = editor.call("agent/newSession")["sessionId"]
    editor.ask_agent("other", sessionId=other)
    editor.ask_agent("second")
    editor.type(document, 8, "more\n")
    only = editor.call("agent/revert", {"turnId": first["turnId"], "only": True})
    assert outcomes(only) == {"a.txt": "merged"}
    assert document.text.content == "typed\none\ntwo\nthree\nFOUR\nfive\nSIX\nseven\nmore\n"
    editor.call("agent/revert", {"turnId": only["revertId"]})
    both = editor.call("agent/revert", {"turnId": first["turnId"]})
    assert outcomes(both) == {"a.txt": "merged"}
    assert document.text.content == "typed\none\ntwo\nthree\nfour\nfive\nSIX\nseven\nmore\n"
    assert path.read_text() == LINES  # unsaved work stays unsaved
    assert statuses(editor, sessionId=other) == ["applied"]


def test_a_file_in_whose_lines_the_person_typed_is_named_and_the_rest_goes_on(
    project: Project,
) -> None:
    shown, closed = project.file("a.txt", LINES), project.file("b.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO"), edit("b.txt", "two", "TWO")),
        step("Done."),
        client=EVENTS,
    )
    document = editor.open(shown)
    editor.ask_agent("Go.")
    editor.type(document, 1, "x")  # joins the agent's word
    text = document.text.content
    result = editor.call("agent/revert")
    assert outcomes(result) == {"a.txt": "conflict", "b.txt": "restored"}
    assert (document.text.content, closed.read_text()) == (text, LINES)
    (conflict,) = (file for file in result["files"] if file["outcome"] == "conflict")
    assert conflict["reason"].endswith(
        "a.txt: line 2 was changed since; undo the rest hunk by hunk"
    )
    told = editor.notification("window/showMessage")["message"]
    assert told == "Not taken back: a.txt (line 2 was changed since; undo the rest hunk by hunk)"
    assert sorted(statuses(editor)) == ["applied", "kept", "rejected"]


def test_who_takes_a_turn_back_from_a_menu_is_told_in_which_files(project: Project) -> None:
    names = ("a.txt", "b.txt", "c.txt", "d.txt", "e.txt")
    for name in names:
        project.file(name, LINES)
    editor = project.editor(
        step("", *(edit(name, "two", "TWO") for name in names)), step("Done."), step("Nothing.")
    )
    editor.ask_agent("Go.")
    editor.command("revert")
    told = "Taken back in a.txt, b.txt, c.txt and 2 more files."
    assert editor.notification("window/showMessage")["message"] == told
    editor.command("revert")
    assert wait_until(lambda: len(editor.received("window/showMessage")) == 2)
    told = "There is nothing of the agent's left to take back."
    assert editor.received("window/showMessage")[-1]["message"] == told


def test_in_a_neovim_that_is_told_in_less_than_a_line(project: Project) -> None:
    project.file("a.txt", LINES)
    neovim = {"name": "Neovim", "version": "0.11.4"}
    editor = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."), clientInfo=neovim)
    editor.ask_agent("Go.")
    editor.command("revert")
    told = editor.notification("window/showMessage")
    assert (told["type"], told["message"]) == (1, "Taken back in 1 file.")


def test_a_session_at_work_is_not_taken_back(project: Project) -> None:
    project.file("a.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO"), bash("sleep 30")),
        client=EVENTS,
        options={"permissions": {"command": "allow"}},
    )
    editor.prompt("Go.")
    editor.event("editApplied")
    error = editor.failure("agent/revert")
    assert (error.code, error.data["kind"]) == (-32803, "busy")
    editor.call("agent/abort")
    assert outcomes(editor.call("agent/revert")) == {"a.txt": "restored"}


def test_unknown_turns_are_refused_and_turns_without_changes_are_not(project: Project) -> None:
    editor = project.editor(step("Nothing."))
    assert editor.call("agent/revert")["files"] == []
    turn = editor.ask_agent("Go.")
    result = editor.call("agent/revert", {"turnId": turn["turnId"]})
    assert result["files"] == []
    assert editor.call("agent/revert", {"turnId": result["revertId"]})["files"] == []
    for params in ({"turnId": "t-none"}, {"turnId": turn["turnId"], "sessionId": "s-none"}):
        error = editor.failure("agent/revert", params)
        assert error.code == -32803
    assert editor.failure("agent/revert", {"turnId": "t-none"}).data["kind"] == "unknownTurn"


def test_the_agent_is_told_at_its_next_call(project: Project) -> None:
    project.file("a.txt", LINES)
    project.file("b.txt", "b\n")
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO")),
        step("Done."),
        step("", call("read", path="b.txt")),
        step("Done."),
        client=EVENTS,
    )
    editor.ask_agent("Go.")
    editor.call("agent/revert")
    editor.ask_agent("Go on.")
    assert "-TWO" in editor.tool_texts()[-1]


def test_a_file_outside_the_folders_of_now_is_left_alone(project: Project) -> None:
    added = project.folder.parent / "added"
    added.mkdir()
    path = added / "x.txt"
    path.write_text(LINES)
    editor = project.editor(
        step("", edit(str(path), "two", "TWO")),
        step("Done."),
        client=EVENTS,
        folders=[project.folder, added],
    )
    editor.ask_agent("Go.")
    event = {"added": [], "removed": [{"uri": added.as_uri(), "name": "added"}]}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    (file,) = editor.call("agent/revert")["files"]
    assert (file["outcome"], path.read_text()) == ("conflict", LINES.replace("two", "TWO"))
    assert "outside the workspace" in file["reason"]


def restarted(project: Project, editor: Editor) -> Editor:
    """After an end in order."""
    assert editor.shut_down() == 0
    return project.editor(step("Done."), client=EVENTS)


def test_what_was_taken_back_stays_so_after_a_restart(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."), client=EVENTS)
    editor.ask_agent("Go.")
    assert outcomes(editor.call("agent/revert")) == {"a.txt": "restored"}
    assert statuses(editor) == ["rejected", "kept"]
    editor = restarted(project, editor)
    assert statuses(editor) == ["rejected", "kept"]
    assert path.read_text() == LINES


def test_what_was_brought_back_stays_so_after_a_restart(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO")),
        step("Done."),
        step("", edit("a.txt", "TWO", "2"), edit("a.txt", "six", "SIX")),
        step("Done."),
        client=EVENTS,
    )
    editor.ask_agent("One.")
    editor.ask_agent("Two.")
    first = editor.call("agent/revert")
    assert path.read_text() == LINES.replace("two", "TWO")
    was = statuses(editor)
    editor = restarted(project, editor)
    assert statuses(editor) == was
    editor.call("agent/revert", {"turnId": first["revertId"]})
    assert path.read_text() == LINES.replace("two", "2").replace("six", "SIX")
    was = statuses(editor)
    editor = restarted(project, editor)
    assert statuses(editor) == was


def test_what_was_thrown_away_with_a_document_is_not_taken_out_again(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two\n", "two\nnew\n")),
        step("Done."),
        step("", edit("a.txt", "three\n", "")),
        step("Done."),
        client=EVENTS,
        options={"edits": {"save": "never"}},
    )
    document = editor.open(path)
    editor.ask_agent("One.")
    editor.ask_agent("Two.")
    editor.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})
    assert statuses(editor) == ["rejected", "rejected"]
    assert outcomes(editor.call("agent/revert")) == {}
    assert path.read_text() == LINES


def test_it_waits_for_what_is_on_its_way_into_a_document_that_is_shown_again(
    project: Project,
) -> None:
    """It was closed with unsaved text, and its file changed since."""
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "three", "3")),
        step("Done."),
        step("", edit("a.txt", "six", "6")),
        step("Done."),
        client=EVENTS,
    )
    document = editor.open(path)
    editor.type(document, 0, "typed ")
    first = editor.ask_agent("One.")["turnId"]
    editor.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})
    editor.ask_agent("Two.")
    apply = editor.handlers["workspace/applyEdit"]

    def late(params: Json) -> Json:
        time.sleep(0.3)
        return apply(params)

    editor.handlers["workspace/applyEdit"] = late
    document = editor.open(path, document.text.content)
    assert outcomes(editor.call("agent/revert", {"turnId": first})) == {"a.txt": "restored"}
    assert document.text.content == f"typed {LINES}"
