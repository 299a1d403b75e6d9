"""Keeping and undoing many hunks at once, and going from one change to the next."""

import pytest
from support.project import Document, Editor, Project, call, edit, step, write
from support.raw_client import Json

from lsp_agent.server.review.walk import following

SHOWS: Json = {"window": {"showDocument": {"support": True}}}
A, B = "a\nb\nc\nd\ne\n", "one\ntwo\n"


def changed(project: Project, **more: Json) -> tuple[Editor, Document]:
    """Lines 2 and 4 of a.txt in one turn, line 1 of b.txt in the next; a.txt is open."""
    path = project.file("a.txt", A)
    project.file("b.txt", B)
    twice = [{"oldText": old, "newText": old.upper()} for old in ("b\n", "d\n")]
    editor = project.editor(
        step("", call("edit", path="a.txt", edits=twice)),
        step("Done."),
        step("", edit("b.txt", "one", "ONE")),
        step("Done."),
        **more,
    )
    document = editor.open(path)
    editor.ask_agent("Go.")
    editor.ask_agent("Go on.")
    return editor, document


def statuses(answer: Json) -> dict[str, str]:
    return {item["uri"].rsplit("/", 1)[1]: item["status"] for item in answer["edits"]}


# keepAll, undoAll


def test_everything_is_kept_if_nothing_is_named(project: Project) -> None:
    editor, document = changed(project)
    assert statuses(editor.command("keepAll")) == {"a.txt": "kept", "b.txt": "kept"}
    assert editor.call("agent/undoAll")["edits"] == []
    assert document.text.content == A.replace("b", "B").replace("d", "D")


def test_a_file_is_decided_on_alone(project: Project) -> None:
    editor, document = changed(project)
    answer = editor.call("agent/undoAll", {"uri": document.uri})
    assert statuses(answer) == {"a.txt": "rejected"}
    assert document.text.content == A
    assert (project.folder / "b.txt").read_text() == "ONE\ntwo\n"
    error = editor.failure("agent/keepAll", {"uri": "untitled:1"})
    assert error.data == {"field": "uri"}


def test_the_command_alone_undoes_one_turn_after_the_other(project: Project) -> None:
    editor, document = changed(project)
    assert statuses(editor.command("undoAll")) == {"b.txt": "rejected"}
    assert document.text.content != A
    assert statuses(editor.command("undoAll")) == {"a.txt": "rejected"}
    assert document.text.content == A
    error = editor.failure("workspace/executeCommand", {"command": "lspAgent.undoAll"})
    assert error.data["kind"] == "unknownEdit"


def test_the_command_says_what_it_leaves(project: Project) -> None:
    editor, document = changed(project)
    editor.retype(document, document.text.content.replace("B", "Bmine"))
    answer = editor.command("undoAll", {"uri": document.uri})
    assert statuses(answer) == {"a.txt": "applied"}
    (said,) = [m["message"] for m in editor.received("window/showMessage")]
    assert said == "1 change stays: you have changed its lines in a.txt; keep or undo it by hand"


def test_undoing_all_as_a_request_undoes_all(project: Project) -> None:
    editor, document = changed(project)
    editor.type(document, 0, "typed\n")
    editor.call("agent/undoAll")
    assert document.text.content == f"typed\n{A}"
    assert (project.folder / "b.txt").read_text() == B


# Proposals


def proposed(project: Project, **more: Json) -> tuple[Editor, Document]:
    """As ``changed``, with nothing applied."""
    return changed(project, options={"edits": {"review": "before"}}, **more)


def test_the_proposals_of_a_file_are_applied_at_once(project: Project) -> None:
    editor, document = proposed(project)
    editor.type(document, 0, "typed\n")
    answer = editor.call("agent/applyAll", {"uri": document.uri})
    assert (statuses(answer), answer["failures"]) == ({"a.txt": "applied"}, [])
    assert document.text.content == "typed\na\nB\nc\nD\ne\n"
    assert (project.folder / "b.txt").read_text() == B


def test_the_proposals_of_a_turn_are_applied_or_rejected_at_once(project: Project) -> None:
    editor, document = proposed(project)
    first, second = editor.call("agent/edits")["edits"]
    answer = editor.call("agent/applyAll", {"turnId": second["turnId"]})
    assert statuses(answer) == {"b.txt": "applied"}
    answer = editor.call("agent/undoAll", {"turnId": first["turnId"]})
    assert statuses(answer) == {"a.txt": "rejected"}
    assert document.text.content == A
    assert (project.folder / "b.txt").read_text() == "ONE\ntwo\n"


def test_a_proposal_that_does_not_get_in_keeps_no_other_out(project: Project) -> None:
    editor, document = proposed(project)
    editor.type(document, 1, "mine ")
    stays, _ = editor.call("agent/edits")["edits"]
    answer = editor.command("applyAll")
    assert statuses(answer) == {"a.txt": "proposed", "b.txt": "applied"}
    (failure,) = answer["failures"]
    assert failure["editId"] == stays["editId"]
    assert "the same place" in failure["failureReason"]
    (said,) = [m["message"] for m in editor.received("window/showMessage")]
    assert said == "1 of 2 proposals not applied: a.txt: the text was changed in the same place"
    editor.command("applyEdit", {"editId": stays["editId"]})
    said = editor.received("window/showMessage")[1]["message"]
    assert said == "Not applied: a.txt: the text was changed in the same place"


def test_where_nothing_is_proposed_nothing_is_applied(project: Project) -> None:
    editor, document = changed(project)
    text = document.text.content
    assert editor.command("applyAll") == {"edits": [], "failures": []}
    assert document.text.content == text


# An empty file has no hunks.


@pytest.mark.parametrize("review", ["after", "before"])
@pytest.mark.parametrize("method", ["rejectEdit", "undoAll"])
def test_an_empty_file_of_the_agents_is_taken_back(
    project: Project, review: str, method: str
) -> None:
    editor = project.editor(
        step("", write("new.txt", "")), step("Done."), options={"edits": {"review": review}}
    )
    (made,) = editor.ask_agent("Go.")["edits"]
    assert (project.folder / "new.txt").exists() is (review == "after")
    editor.call(f"agent/{method}", {"editId": made["editId"]} if method == "rejectEdit" else {})
    (listed,) = editor.call("agent/edits")["edits"]
    assert listed["status"] == "rejected"
    assert not (project.folder / "new.txt").exists()


# nextChange


@pytest.mark.parametrize(
    ("start", "previous", "found"),
    [
        (None, False, ("a", 1, 0)),
        (None, True, ("b", 2, 0)),
        (("a", 0, 9), False, ("a", 1, 0)),
        (("a", 1, 0), False, ("a", 5, 0)),
        (("a", 7, 0), False, ("b", 2, 0)),
        (("b", 2, 0), False, ("a", 1, 0)),
        (("a", 5, 0), True, ("a", 1, 0)),
        (("a", 1, 0), True, ("b", 2, 0)),
        (("aa", 0, 0), True, ("a", 5, 0)),
    ],
)
def test_the_way_leads_through_all_files_and_round_again(
    start: tuple[str, int, int] | None, previous: bool, found: tuple[str, int, int]
) -> None:
    places = [("a", 1, 0), ("a", 5, 0), ("b", 2, 0)]
    assert following(places, start, previous=previous) == found
    assert following([], start, previous=previous) is None


def place(answer: Json) -> tuple[str, int]:
    return answer["uri"].rsplit("/", 1)[1], answer["range"]["start"]["line"]


def test_the_command_alone_goes_on_from_where_it_was(project: Project) -> None:
    editor, _ = changed(project, capabilities=SHOWS)
    editor.handlers["window/showDocument"] = lambda _params: {"success": True}
    ways = [place(editor.command("nextChange")) for _ in range(4)]
    assert ways == [("a.txt", 1), ("a.txt", 3), ("b.txt", 0), ("a.txt", 1)]
    assert place(editor.command("nextChange", {"previous": True})) == ("b.txt", 0)
    shown = editor.received("window/showDocument")
    assert [params["uri"].rsplit("/", 1)[1] for params in shown[:3]] == ["a.txt", "a.txt", "b.txt"]


def test_it_is_found_from_a_place_and_from_a_file(project: Project) -> None:
    editor, document = changed(project)
    editor.type(document, 0, "typed\n")

    def found(**params: object) -> tuple[str, int]:
        return place(editor.call("agent/nextChange", {"uri": document.uri} | params))

    assert found() == ("a.txt", 2)
    assert found(previous=True) == ("a.txt", 4)
    assert found(position={"line": 2, "character": 0}) == ("a.txt", 4)
    assert found(position={"line": 4, "character": 0}) == ("b.txt", 0)
    assert found(position={"line": 4, "character": 0}, previous=True) == ("a.txt", 2)


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize(
    ("left", "shown"),
    [("c\nd\ne\n", 0), ("a\nb\nc\n", 2), ("a\nb\nc", 2), ("", 0)],
    ids=["the first lines", "the last lines", "the last line's end", "all lines"],
)
def test_a_deletion_is_shown_at_a_line_that_is_there(
    project: Project, left: str, shown: int, is_open: bool
) -> None:
    path = project.file("a.txt", A)
    project.file("b.txt", B)
    editor = project.editor(
        step("", write("a.txt", left)),
        step("", edit("b.txt", "one\n", "")),
        step("Done."),
        capabilities=SHOWS,
    )
    editor.handlers["window/showDocument"] = lambda _params: {"success": True}
    if is_open:
        editor.open(path)
    editor.ask_agent("Go.")
    editor.command("nextChange", {"uri": path.as_uri()})
    at = editor.notification("window/showDocument")["selection"]["start"]
    assert at == {"line": shown, "character": 0}
    # And the way leads on from there.
    assert place(editor.command("nextChange", {"uri": path.as_uri(), "position": at})) == (
        "b.txt",
        0,
    )


def test_a_file_is_left_only_once_each_of_its_open_hunks_was_shown(project: Project) -> None:
    editor, document = changed(project)

    def after(line: int, previous: bool = False) -> tuple[str, int]:
        at = {"line": line, "character": 0}
        return place(
            editor.command(
                "nextChange", {"uri": document.uri, "position": at, "previous": previous}
            )
        )

    assert after(2) == ("a.txt", 3)  # begun between the two
    assert after(3) == ("a.txt", 1)
    assert after(3) == ("b.txt", 0)
    assert after(2, previous=True) == ("a.txt", 1)
    assert after(1, previous=True) == ("a.txt", 3)
    assert after(1, previous=True) == ("b.txt", 0)


def test_who_cannot_be_shown_it_is_told(project: Project) -> None:
    editor, document = changed(project)
    answer = editor.command("nextChange")
    assert answer["uri"] == document.uri
    assert answer["hunkId"] in {hunk["hunkId"] for hunk in the_edit(editor, answer)["hunks"]}
    message = editor.notification("window/showMessage")["message"]
    assert message == "The agent's next change: a.txt, line 2"


def the_edit(editor: Editor, answer: Json) -> Json:
    (found,) = [e for e in editor.call("agent/edits")["edits"] if e["editId"] == answer["editId"]]
    return found


def test_without_changes_there_is_no_next_one(project: Project) -> None:
    editor = project.editor(step("Never."))
    assert editor.call("agent/nextChange") == {}
    assert editor.command("keepAll") == {"edits": []}


@pytest.mark.parametrize(
    ("start", "previous", "found"),
    [
        (("a", 7, 0), False, ("a", 1, 0)),
        (("a", 5, 0), False, ("a", 1, 0)),
        (("a", 0, 0), True, ("a", 5, 0)),
        (("a", 1, 0), False, ("a", 5, 0)),
        (("b", 2, 0), False, ("a", 1, 0)),
    ],
)
def test_the_way_leads_to_what_was_not_shown_of_a_file_before_it_leaves_it(
    start: tuple[str, int, int], previous: bool, found: tuple[str, int, int]
) -> None:
    places = [("a", 1, 0), ("a", 5, 0), ("b", 2, 0)]
    assert following(places, start, previous=previous, unseen=places) == found
