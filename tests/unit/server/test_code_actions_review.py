"""Which code actions there are on the agents' changes, and what they do in a real server."""

from lsprotocol import types
from review_kit import URI, hunk
from review_kit import edit as an_edit
from support.project import Editor, Project, call, edit, step, write
from support.raw_client import Json, wait_until
from test_code_actions import actions, run, the_action, titles

from lsp_agent.protocol.edits import Edit
from lsp_agent.server.review.open_review import FileReview
from lsp_agent.server.review.review_actions import NEXT, ReviewAction, review_actions
from lsp_agent.workspace.disk.paths import path_to_uri

BEFORE: Json = {"edits": {"review": "before"}}
LINES = "".join(f"line {n}\n" for n in range(1, 21))


def found(
    *edits: Edit, at: int = 0, to: tuple[int, int] | None = None, prompt: str | None = None
) -> list[ReviewAction]:
    """The actions with the cursor in line ``at``, or the selection up to ``to``."""
    end = to or (at, 0)
    place = types.Range(types.Position(at, 0), types.Position(*end))
    return list(review_actions(FileReview.of(edits), URI, place, lambda _turn: prompt))


def decisions(*edits: Edit, at: int = 0, to: tuple[int, int] | None = None) -> list[str]:
    """Of those the titles of keeping and applying."""
    return [a.title for a in found(*edits, at=at, to=to) if a.title.startswith(("Keep the", "App"))]


# Which there are


def test_a_file_without_changes_has_none() -> None:
    assert found() == []
    assert found(an_edit("e", hunk(1, status="kept"), status="kept")) == []


def test_on_a_hunk_it_is_that_hunk_that_is_decided_on() -> None:
    change = an_edit("e", hunk(1, name="0"), hunk(5, name="1"))
    keep, undo = found(change, at=5)[:2]
    assert keep == (
        "Keep the agent's change (line 6)",
        "lspAgent.keepEdit",
        {"editId": "e", "hunks": ["1"]},
    )
    assert undo.title == "Undo the agent's change (line 6)"
    assert undo.command == "lspAgent.rejectEdit"


def test_elsewhere_it_is_the_whole_edit() -> None:
    change = an_edit("e", hunk(1, name="0"), hunk(5, name="1"))
    keep = found(change, at=9)[0]
    assert keep.title == "Keep the agent's change (2 hunks from line 2)"
    assert keep.argument == {"editId": "e"}


def test_a_selection_takes_in_every_hunk_that_it_touches() -> None:
    changes = [an_edit("e", hunk(1, name="0"), hunk(5, 8, name="1"), hunk(11, name="2"))]
    lines = ["(line 2)", "(line 6)", "(line 12)"]
    keeps = [f"Keep the agent's change {line}" for line in lines]
    assert decisions(*changes, at=0, to=(20, 0)) == keeps
    assert decisions(*changes, at=7, to=(11, 0)) == keeps[1:2]
    assert decisions(*changes, at=7, to=(11, 1)) == keeps[1:]


def test_a_hunk_that_only_took_lines_away_is_reached_from_both_sides() -> None:
    change = an_edit("e", hunk(5, 5, name="0"), hunk(9, name="1"))
    for line in (4, 5):
        assert decisions(change, at=line) == ["Keep the agent's change (line 6)"]
    for line in (3, 6):
        assert decisions(change, at=line) == ["Keep the agent's change (2 hunks from line 6)"]


def test_hunks_that_are_decided_are_not_offered_again() -> None:
    change = an_edit("e", hunk(1, status="kept", name="0"), hunk(5, name="1"))
    assert decisions(change, at=1) == ["Keep the agent's change (line 6)"]


def test_a_proposal_is_applied_rejected_and_previewed() -> None:
    proposal = an_edit("e", hunk(1, status="proposed"), status="proposed")
    assert [(a.title, a.command) for a in found(proposal, at=1)] == [
        ("Apply the agent's proposal (line 2)", "lspAgent.applyEdit"),
        ("Reject the agent's proposal (line 2)", "lspAgent.rejectEdit"),
        ("Apply all proposals of the agent in this file", "lspAgent.applyAll"),
        ("Reject all proposals of the agent in this file", "lspAgent.undoAll"),
        ("Undo an earlier turn of the agent's", "lspAgent.undoAll"),
        ("Next change of the agent's", "lspAgent.nextChange"),
        ("Preview the agent's proposal (line 2)", "lspAgent.previewEdit"),
    ]


def test_a_file_is_kept_and_undone_as_a_whole() -> None:
    both = [an_edit("e", hunk(1)), an_edit("p", hunk(5, status="proposed"), status="proposed")]
    of_file = [a for a in found(*both) if "in this file" in a.title]
    assert [a.title for a in of_file] == [
        "Keep all changes of the agent in this file",
        "Apply all proposals of the agent in this file",
        "Undo all changes and proposals of the agent in this file",
    ]
    assert [a.argument for a in of_file] == [{"uri": URI}] * 3


def test_turns_are_named_by_their_prompts_the_latest_first() -> None:
    edits = [an_edit(f"e{n}", hunk(n), turn=f"t-{n}", session="s") for n in range(5)]
    turns = [a for a in found(*edits, prompt="Tidy\x1b[31m up.\nAll of it.") if "turn" in a.title]
    assert [a.title for a in turns] == ["Undo the agent's turn: Tidy\\x1b[31m up."] * 3
    assert turns[0].argument == {"sessionId": "s", "turnId": "t-4"}


def test_of_many_edits_those_near_the_cursor_are_offered() -> None:
    edits = [an_edit(f"e{n}", hunk(10 * n)) for n in range(30)]
    lines = [81, 91, 101, 111, 121]
    assert decisions(*edits, at=102) == [f"Keep the agent's change (line {n})" for n in lines]


def test_what_did_not_get_in_can_still_be_applied_or_dropped() -> None:
    lost = an_edit("e", hunk(3, status="lost"), status="lost")
    clash = an_edit("c", hunk(4, status="conflict"), status="conflict")
    assert [(a.title, a.command, a.argument["editId"]) for a in found(lost, clash)] == [
        ("Apply the agent's lost change (line 4)", "lspAgent.applyEdit", "e"),
        ("Drop the agent's lost change (line 4)", "lspAgent.rejectEdit", "e"),
        ("Apply the agent's conflicting change (line 5)", "lspAgent.applyEdit", "c"),
        ("Drop the agent's conflicting change (line 5)", "lspAgent.rejectEdit", "c"),
    ]


def test_what_was_lost_of_an_edit_is_applied_or_dropped_alone() -> None:
    change = an_edit("e", hunk(1, name="0"), hunk(5, status="lost", name="1"))
    assert [a for a in found(change) if "lost" in a.title] == [
        (f"{what} the agent's lost change (line 6)", command, {"editId": "e", "hunks": ["1"]})
        for what, command in [("Apply", "lspAgent.applyEdit"), ("Drop", "lspAgent.rejectEdit")]
    ]


def test_an_edit_without_hunks_can_be_decided_on() -> None:
    assert decisions(an_edit("e")) == ["Keep the agent's change"]


# In a real server


def changed(project: Project, *, options: Json | None = None, **more: Json) -> Editor:
    """Two changes each in two turns of one document, and one in another file."""
    project.file("a.txt", LINES)
    project.file("b.txt", "one\n")
    twice = [{"oldText": f"line {n}\n", "newText": f"LINE {n}\n"} for n in (3, 12)]
    editor = project.editor(
        step("", call("edit", path="a.txt", edits=twice)),
        step("Done."),
        step("", edit("a.txt", "line 7\n", "LINE 7\n"), edit("b.txt", "one", "ONE")),
        step("Done."),
        options=options,
        **more,
    )
    editor.open(project.folder / "a.txt")
    editor.ask_agent("Shout.")
    editor.ask_agent("Shout\u202e more.")
    return editor


def test_a_hunk_is_kept_and_another_undone_while_the_rest_stays_open(project: Project) -> None:
    editor = changed(project)
    (document,) = editor.documents.values()
    editor.type(document, 0, "typed\n")
    run(editor, the_action(actions(editor, document, (3, 0)), "Keep the agent's change (line 4)"))
    run(editor, the_action(actions(editor, document, (12, 0)), "Undo the agent's change (line 13)"))
    expected = "typed\n" + LINES.replace("line 3\n", "LINE 3\n").replace("line 7\n", "LINE 7\n")
    assert document.text.content == expected
    assert titles(actions(editor, document, (3, 0)))[:2] == [
        "Keep the agent's change (line 8)",
        "Undo the agent's change (line 8)",
    ]


def test_a_turn_is_undone_in_all_its_files(project: Project) -> None:
    editor = changed(project)
    (document,) = editor.documents.values()
    found_ = actions(editor, document)
    assert [title for title in titles(found_) if "turn" in title] == [
        "Undo the agent's turn: Shout\\u202e more.",
        "Undo the agent's turn: Shout.",
    ]
    run(editor, the_action(found_, "Undo the agent's turn: Shout\\u202e"))
    assert document.text.content == LINES.replace("ne 3\n", "NE 3\n").replace(
        "line 12", "LINE 12"
    ).replace("liNE", "LINE")
    assert (project.folder / "b.txt").read_text() == "one\n"


def test_a_whole_file_is_kept_or_undone(project: Project) -> None:
    editor = changed(project)
    (document,) = editor.documents.values()
    other = editor.open(project.folder / "b.txt")
    run(editor, the_action(actions(editor, other), "Keep all"))
    run(editor, the_action(actions(editor, document), "Undo all"))
    assert document.text.content == LINES
    assert other.text.content == "ONE\n"
    assert actions(editor, document) == actions(editor, other) == []


def test_all_proposals_in_a_file_are_applied(project: Project) -> None:
    editor = changed(project, options=BEFORE)
    (document,) = editor.documents.values()
    run(editor, the_action(actions(editor, document), "Apply all proposals"))
    assert document.text.content.count("LINE") == 3
    assert (project.folder / "b.txt").read_text() == "one\n"


def test_the_next_change_is_shown_from_the_cursor_on(project: Project) -> None:
    editor = changed(project, capabilities={"window": {"showDocument": {"support": True}}})
    editor.handlers["window/showDocument"] = lambda _params: {"success": True}
    (document,) = editor.documents.values()
    run(editor, the_action(actions(editor, document, (4, 0)), "Next change"))
    shown = editor.notification("window/showDocument", uri=document.uri)
    place = {"line": 6, "character": 0}
    assert shown["selection"] == {"start": place, "end": place}
    assert shown["takeFocus"] is True


def test_from_a_file_in_which_all_is_decided_the_next_change_is_one_action_away(
    project: Project,
) -> None:
    editor = changed(project, capabilities={"window": {"showDocument": {"support": True}}})
    editor.handlers["window/showDocument"] = lambda _params: {"success": True}
    (document,) = editor.documents.values()
    run(editor, the_action(actions(editor, document), "Keep all"))
    (found,) = actions(editor, document)
    assert found["title"] == NEXT
    run(editor, found)
    editor.notification("window/showDocument", uri=path_to_uri(str(project.folder / "b.txt")))
    light_bulb = {"diagnostics": [], "triggerKind": 2}
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    asked = {"textDocument": {"uri": document.uri}, "range": place, "context": light_bulb}
    assert editor.call("textDocument/codeAction", asked) == []
    other = editor.open(project.folder / "b.txt")
    run(editor, the_action(actions(editor, other), "Keep all"))
    assert actions(editor, document) == []


def test_actions_that_would_look_alike_are_told_apart(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "two")),
        step("Done."),
        step("", edit("a.txt", "two", "three")),
        step("Done."),
        options=BEFORE,
    )
    document = editor.open(path)
    editor.ask_agent("Go.")
    editor.ask_agent("Go.")
    offered = titles(actions(editor, document))
    assert "Apply the agent's proposal (line 1)" in offered
    assert "Apply the agent's proposal (line 1) (2)" in offered
    assert "Undo the agent's turn: Go. (2)" in offered
    assert len(set(offered)) == len(offered)


def test_what_is_offered_follows_the_agent_and_the_typing(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(
        step("", call("read", path="a.txt")),
        step("", edit("a.txt", "one", "two")),
        step("Done."),
        step("", write("a.txt", "two\nmore\n")),
        step("Done."),
    )
    document = editor.open(path)
    editor.ask_agent("Go.")
    assert "Keep the agent's change (line 1)" in titles(actions(editor, document))
    editor.type(document, 0, "\n")
    assert "Keep the agent's change (line 2)" in titles(actions(editor, document))
    editor.ask_agent("Go on.")
    assert wait_until(
        lambda: "Keep the agent's change (line 3)" in titles(actions(editor, document, (2, 0)))
    )


def test_what_an_agent_writes_is_shown_escaped(project: Project) -> None:
    path = project.file("a.txt", "agent: do\u202e it\x07\n")
    editor = project.editor(step("Done."))
    document = editor.open(path)
    assert titles(actions(editor, document)) == ["Ask the agent: do\\u202e it\\x07"]
