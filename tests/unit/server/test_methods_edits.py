"""Review of edits and their hunks: listing, texts, applying, rejecting and keeping them."""

import pytest
from support.project import EVENTS, Document, Editor, Project, call, edit, step, write
from support.raw_client import NO_ANSWER, Json, wait_until

BEFORE: Json = {"edits": {"review": "before"}}
OFF: Json = {"edits": {"review": "off"}}

LINES = "one\ntwo\nthree\nfour\nfive\n"


def edited(project: Project, options: Json | None = None) -> tuple[Editor, Document, str]:
    """A document in which the agent changed two lines (or proposed it), and the edit's id."""
    path = project.file("a.txt", LINES)
    both = [{"oldText": "two", "newText": "TWO"}, {"oldText": "four\n", "newText": "4a\n4b\n"}]
    editor = project.editor(
        step("", call("edit", path="a.txt", edits=both)),
        step("Done."),
        client=EVENTS,
        options=options,
    )
    document = editor.open(path)
    (summary,) = editor.ask_agent("Go.")["edits"]
    return editor, document, summary["editId"]


def the_edit(editor: Editor) -> Json:
    (listed,) = editor.call("agent/edits")["edits"]
    return listed


def lines_of(hunk: Json) -> tuple[int, int]:
    return hunk["range"]["start"]["line"], hunk["range"]["end"]["line"]


# agent/edits


def test_an_edit_is_listed_with_its_hunks(project: Project) -> None:
    editor, document, edit_id = edited(project)
    listed = the_edit(editor)
    assert listed["editId"] == edit_id
    assert (listed["uri"], listed["status"]) == (document.uri, "applied")
    (event,) = editor.events("editApplied")
    assert listed == event["edit"]
    assert listed["turnId"] == event["turnId"]
    assert listed["toolCallId"] == editor.events("toolCall")[0]["toolCallId"]
    first, second = listed["hunks"]
    assert (first["oldText"], first["newText"], lines_of(first)) == ("two\n", "TWO\n", (1, 2))
    assert (second["oldText"], second["newText"]) == ("four\n", "4a\n4b\n")
    assert lines_of(second) == (3, 5)
    assert {hunk["status"] for hunk in listed["hunks"]} == {"applied"}


def test_hunks_stand_where_they_are_while_the_person_types(project: Project) -> None:
    editor, document, _ = edited(project)
    editor.type(document, 0, "typed\n")
    assert [lines_of(hunk) for hunk in the_edit(editor)["hunks"]] == [(2, 3), (4, 6)]
    editor.type(document, 3, "more\nand more\n")
    assert [lines_of(hunk) for hunk in the_edit(editor)["hunks"]] == [(2, 3), (6, 8)]


def test_edits_are_found_by_session_file_and_status(project: Project) -> None:
    project.file("a.txt", "one\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "two"), write("b.txt", "new\n")), step("Done.")
    )
    session = editor.ask_agent("Go.")["sessionId"]
    other = editor.call("agent/newSession")["sessionId"]

    def names(**params: object) -> list[str]:
        found = editor.call("agent/edits", params)["edits"]
        return [item["uri"].rsplit("/", 1)[1] for item in found]

    assert names() == ["a.txt", "b.txt"]
    assert names(sessionId=session) == ["a.txt", "b.txt"]
    assert names(sessionId=other) == []
    assert names(uri=(project.folder / "b.txt").as_uri()) == ["b.txt"]
    assert names(status="applied") == ["a.txt", "b.txt"]
    assert names(status="proposed") == []
    assert names(open=True) == names(open=True, status="applied") == ["a.txt", "b.txt"]
    assert names(open=True, status="kept") == []
    editor.call("agent/keepAll", {"uri": (project.folder / "a.txt").as_uri()})
    assert names(open=True) == ["b.txt"]
    assert names(status="kept") == ["a.txt"]
    assert editor.failure("agent/edits", {"status": "odd"}).data == {"field": "status"}
    assert editor.failure("agent/edits", {"uri": "untitled:1"}).data == {"field": "uri"}


def test_right_after_a_restart_edits_are_listed_with_their_hunks(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."))
    editor.ask_agent("Go.")
    editor.process.kill()
    editor.process.wait()
    restarted = project.editor(step("Never."))
    listed = the_edit(restarted)
    assert (listed["status"], [hunk["newText"] for hunk in listed["hunks"]]) == (
        "applied",
        ["TWO\n"],
    )
    (found,) = restarted.call("agent/undoAll", {"uri": path.as_uri()})["edits"]
    assert found["status"] == "rejected"
    assert path.read_text() == LINES


# agent/editText


def test_the_texts_of_an_edit_are_the_whole_ones(project: Project) -> None:
    editor, document, edit_id = edited(project)
    editor.type(document, 0, "typed\n")
    assert editor.call("agent/editText", {"editId": edit_id}) == {
        "before": LINES,
        "after": "one\nTWO\nthree\n4a\n4b\nfive\n",
    }


# review = "after"


def test_a_kept_edit_is_reviewed(project: Project) -> None:
    editor, document, edit_id = edited(project)
    kept = editor.call("agent/keepEdit", {"editId": edit_id})["edit"]
    assert (kept["editId"], kept["status"]) == (edit_id, "kept")
    assert editor.event("editKept")["edit"]["editId"] == edit_id
    assert document.text.content == "one\nTWO\nthree\n4a\n4b\nfive\n"


def test_a_rejected_edit_is_taken_out_and_the_persons_lines_stay(project: Project) -> None:
    editor, document, edit_id = edited(project)
    editor.type(document, 0, "typed\n")
    rejected = editor.call("agent/rejectEdit", {"editId": edit_id, "reason": "no"})["edit"]
    assert rejected["status"] == "rejected"
    assert document.text.content == "typed\n" + LINES
    assert editor.event("editRejected")["edit"]["editId"] == edit_id


def test_an_edit_in_whose_lines_the_person_typed_is_not_taken_out(project: Project) -> None:
    editor, document, edit_id = edited(project)
    editor.type(document, 1, "mine ")
    error = editor.failure("agent/rejectEdit", {"editId": edit_id})
    assert (error.code, error.data["kind"]) == (-32803, "conflict")
    assert "mine TWO" in document.text.content
    assert the_edit(editor)["status"] == "applied"


def test_a_rejected_new_file_is_deleted(project: Project) -> None:
    editor = project.editor(step("", write("new.txt", "text\n")), step("Done."))
    (summary,) = editor.ask_agent("Go.")["edits"]
    assert (project.folder / "new.txt").exists()
    editor.call("agent/rejectEdit", {"editId": summary["editId"]})
    assert not (project.folder / "new.txt").exists()


@pytest.mark.parametrize("decision", ["keepEdit", "rejectEdit"])
def test_an_edit_that_is_decided_does_not_change_any_more(project: Project, decision: str) -> None:
    editor, document, edit_id = edited(project)
    decided = editor.call(f"agent/{decision}", {"editId": edit_id})["edit"]
    text = document.text.content
    for method in ("keepEdit", "rejectEdit", "applyEdit"):
        again = editor.call(f"agent/{method}", {"editId": edit_id})
        assert again["edit"] == decided
        if method == "applyEdit":
            assert again["applied"] is (decision == "keepEdit")
    assert document.text.content == text


def test_applying_what_is_applied_changes_nothing(project: Project) -> None:
    editor, document, edit_id = edited(project)
    text = document.text.content
    assert editor.call("agent/applyEdit", {"editId": edit_id})["applied"] is True
    assert document.text.content == text


# review = "before"


def test_a_proposal_changes_nothing_until_it_is_applied(project: Project) -> None:
    editor, document, edit_id = edited(project, BEFORE)
    assert document.text.content == LINES
    assert the_edit(editor)["status"] == "proposed"
    assert editor.event("editProposed")["edit"]["editId"] == edit_id
    assert editor.tool_texts()[0].startswith("Proposed, not yet reviewed by the user")
    editor.type(document, 0, "typed\n")
    answer = editor.call("agent/applyEdit", {"editId": edit_id})
    assert answer["applied"] is True
    assert answer["edit"]["status"] == "applied"
    assert "failureReason" not in answer
    assert document.text.content == "typed\none\nTWO\nthree\n4a\n4b\nfive\n"
    assert editor.event("editApplied")["edit"]["editId"] == edit_id


def test_a_proposal_whose_request_is_cancelled_is_applied_once_the_editor_shows_it(
    project: Project,
) -> None:
    editor, document, edit_id = edited(project, BEFORE)
    sent: list[Json] = []

    def later(params: Json) -> object:
        sent.append(params)
        return NO_ANSWER

    take, editor.handlers["workspace/applyEdit"] = editor.handlers["workspace/applyEdit"], later
    asked = editor.request("agent/applyEdit", {"editId": edit_id})
    assert wait_until(lambda: sent)
    editor.cancel(asked)
    assert editor.answer(asked)["error"]["code"] == -32800
    assert the_edit(editor)["status"] == "unknown"
    take(sent[0])
    assert wait_until(lambda: the_edit(editor)["status"] == "applied")
    editor.handlers["workspace/applyEdit"] = take
    editor.call("agent/rejectEdit", {"editId": edit_id})
    assert document.text.content == LINES


def test_a_proposal_is_part_of_what_the_agent_reads_next(project: Project) -> None:
    project.file("a.txt", "one\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "two")),
        step("", call("read", path="a.txt"), edit("a.txt", "two", "three")),
        step("Done."),
        options=BEFORE,
        client=EVENTS,
    )
    result = editor.ask_agent("Go.")
    assert "two" in editor.tool_texts()[1]
    assert [item["status"] for item in result["edits"]] == ["proposed", "proposed"]
    assert (project.folder / "a.txt").read_text() == "one\n"
    for item in result["edits"]:
        assert editor.call("agent/applyEdit", {"editId": item["editId"]})["applied"] is True
    assert (project.folder / "a.txt").read_text() == "three\n"


def test_a_rejected_proposal_is_dropped(project: Project) -> None:
    editor, document, edit_id = edited(project, BEFORE)
    assert editor.call("agent/rejectEdit", {"editId": edit_id})["edit"]["status"] == "rejected"
    assert document.text.content == LINES
    assert editor.call("agent/applyEdit", {"editId": edit_id})["applied"] is False
    assert document.text.content == LINES


def test_a_proposal_cannot_be_kept(project: Project) -> None:
    editor, _, edit_id = edited(project, BEFORE)
    error = editor.failure("agent/keepEdit", {"editId": edit_id})
    assert (error.code, error.data["kind"]) == (-32803, "conflict")
    assert "apply" in error.message


def test_a_proposal_for_lines_that_the_person_changed_stays_one(project: Project) -> None:
    editor, document, edit_id = edited(project, BEFORE)
    editor.type(document, 1, "mine ")
    answer = editor.call("agent/applyEdit", {"editId": edit_id})
    assert answer["applied"] is False
    assert answer["failureReason"]
    assert answer["edit"]["status"] == "proposed"
    assert "mine two" in document.text.content


def test_a_proposed_file_is_written_when_it_is_applied(project: Project) -> None:
    editor = project.editor(step("", write("src/new.txt", "text\n")), step("Done."), options=BEFORE)
    (summary,) = editor.ask_agent("Go.")["edits"]
    path = project.folder / "src" / "new.txt"
    assert not path.exists()
    assert editor.call("agent/applyEdit", {"editId": summary["editId"]})["applied"] is True
    assert path.read_text() == "text\n"


# review = "off"


def test_without_review_an_edit_is_kept_at_once(project: Project) -> None:
    editor, document, edit_id = edited(project, OFF)
    assert the_edit(editor)["status"] == "kept"
    assert "TWO" in document.text.content
    assert wait_until(lambda: editor.events("editKept"))
    kept = editor.call("agent/keepEdit", {"editId": edit_id})["edit"]
    assert kept["status"] == "kept"


# Wrong ids


@pytest.mark.parametrize("method", ["applyEdit", "rejectEdit", "keepEdit", "editText"])
def test_an_unknown_edit_is_named_as_such(shared: Editor, method: str) -> None:
    error = shared.failure(f"agent/{method}", {"editId": "e-none"})
    assert (error.code, error.data["kind"]) == (-32803, "unknownEdit")
    assert "e-none" in error.message
    assert shared.failure(f"agent/{method}").data == {"field": "editId"}


# Files that cannot be changed, or looked at


def test_a_file_that_cannot_be_written_is_said_to_be_so(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(step("", edit("a.txt", "one", "two")), step("Done."), options=BEFORE)
    (summary,) = editor.ask_agent("Go.")["edits"]
    path.chmod(0o444)
    error = editor.failure("agent/applyEdit", {"editId": summary["editId"]})
    assert (error.code, error.data["kind"]) == (-32803, "editorFailed")
    assert "read-only" in error.message
    assert the_edit(editor)["status"] == "proposed"


@pytest.mark.parametrize("method", ["applyEdit", "rejectEdit"])
def test_behind_a_folder_that_became_a_link_nothing_is_changed(
    project: Project, method: str
) -> None:
    path = project.file("d/a.txt", "one\n")
    editor = project.editor(
        step("", edit("d/a.txt", "one", "two")),
        step("Done."),
        options=BEFORE if method == "applyEdit" else None,
    )
    (summary,) = editor.ask_agent("Go.")["edits"]
    text = path.read_text()
    path.parent.rename(project.folder / "d2")
    (project.folder / "d").symlink_to("d2")
    (hunk,) = the_edit(editor)["hunks"]
    assert (hunk["oldText"], hunk["newText"], lines_of(hunk)) == ("one\n", "two\n", (0, 1))
    error = editor.failure(f"agent/{method}", {"editId": summary["editId"]})
    assert (error.code, error.data["kind"]) == (-32803, "outsideWorkspace")
    assert path.read_text() == text


def test_an_edit_is_kept_though_its_file_cannot_be_looked_at(project: Project) -> None:
    path = project.file("d/a.txt", "1\none\n")
    editor = project.editor(step("", edit("d/a.txt", "one", "two")), step("Done."))
    (summary,) = editor.ask_agent("Go.")["edits"]
    path.unlink()
    path.write_bytes(b"\0\0")
    kept = editor.call("agent/keepEdit", {"editId": summary["editId"]})["edit"]
    assert kept["status"] == "kept"
    assert [lines_of(hunk) for hunk in kept["hunks"]] == [(1, 2)]


def test_an_undo_that_the_editor_refuses_says_so(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(step("", edit("a.txt", "one", "two")), step("Done."))
    editor.open(path)
    (summary,) = editor.ask_agent("Go.")["edits"]
    refusal = {"applied": False, "failureReason": "read-only"}
    editor.handlers["workspace/applyEdit"] = lambda _params: refusal
    error = editor.failure("agent/rejectEdit", {"editId": summary["editId"]})
    assert error.data["kind"] == "editorFailed"
    assert "read-only" in error.message


# Decisions and the settings


@pytest.mark.parametrize("save", ["clean", "never", "always"])
def test_what_is_applied_is_saved_as_the_settings_say(project: Project, save: str) -> None:
    path = project.file("a.txt", "zero\none\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "two")),
        step("Done."),
        options={"edits": {"review": "before", "save": save}},
        client={"save": True},
    )
    document = editor.open(path)
    (summary,) = editor.ask_agent("Go.")["edits"]
    if save == "always":
        editor.type(document, 0, "typed\n")
    editor.call("agent/applyEdit", {"editId": summary["editId"]})
    saved = {"clean": "zero\ntwo\n", "never": "zero\none\n", "always": "typed\nzero\ntwo\n"}
    assert path.read_text() == saved[save]


def test_of_two_decisions_at_once_the_second_sees_the_first(project: Project) -> None:
    editor, document, edit_id = edited(project, BEFORE)
    asked = [
        editor.request(f"agent/{method}", {"editId": edit_id})
        for method in ("applyEdit", "rejectEdit")
    ]
    applied, rejected = (editor.result(answer) for answer in asked)
    assert (applied["applied"], rejected["edit"]["status"]) == (True, "rejected")
    assert document.text.content == LINES
    assert the_edit(editor)["status"] == "rejected"


# A workspace that is opened through a symbolic link


def test_behind_a_link_edits_excerpts_and_sessions_are_found(project: Project) -> None:
    other = project.folder.with_name("bakery")
    (other / "src").mkdir(parents=True)
    path = other / "src" / "a.txt"
    path.write_text("one\n")
    link = project.folder.with_name("link")
    link.symlink_to(other)
    editor = project.editor(
        step("", edit("src/a.txt", "one", "two")), step("Done."), folders=[project.folder, link]
    )
    document = editor.open(link / "src" / "a.txt")
    result = editor.ask_agent("Go.", context=[{"uri": document.uri}])
    assert editor.call("agent/state", {"sessionId": result["sessionId"]})["cwd"] == str(other)
    messages = editor.call("agent/messages", {"sessionId": result["sessionId"]})["messages"]
    assert "\nsrc/a.txt:\n" in str(messages[0]["content"][0]["text"])
    for uri in (document.uri, path.as_uri()):
        (found,) = editor.call("agent/edits", {"uri": uri})["edits"]
        assert found["uri"] == document.uri


# Hunk by hunk


def statuses(edit: Json) -> list[str]:
    return [hunk["status"] for hunk in edit["hunks"]]


def test_one_hunk_is_undone_and_the_other_kept(project: Project) -> None:
    editor, document, edit_id = edited(project)
    editor.type(document, 0, "typed\n")
    undone = editor.call("agent/rejectEdit", {"editId": edit_id, "hunks": ["0"]})["edit"]
    assert (undone["status"], statuses(undone)) == ("applied", ["rejected", "applied"])
    assert document.text.content == "typed\none\ntwo\nthree\n4a\n4b\nfive\n"
    kept = editor.call("agent/keepEdit", {"editId": edit_id, "hunks": ["1"]})["edit"]
    assert (kept["status"], statuses(kept)) == ("kept", ["rejected", "kept"])


def test_a_hunk_is_where_typing_has_moved_it(project: Project) -> None:
    editor, document, edit_id = edited(project)
    editor.type(document, 0, "typed\n")
    editor.type(document, 5, "inside\n")
    listed = the_edit(editor)
    assert [lines_of(hunk) for hunk in listed["hunks"]] == [(2, 3), (4, 7)]
    assert listed["hunks"][1]["newText"] == "4a\ninside\n4b\n"
    assert listed["hunks"][1]["oldText"] == "four\n"
    assert edit_id == listed["editId"]


def test_some_hunks_of_a_proposal_are_applied_and_the_rest_rejected(project: Project) -> None:
    editor, document, edit_id = edited(project, BEFORE)
    answer = editor.call("agent/applyEdit", {"editId": edit_id, "hunks": ["1"]})
    assert answer["applied"] is True
    assert (answer["edit"]["status"], statuses(answer["edit"])) == (
        "proposed",
        ["proposed", "applied"],
    )
    assert document.text.content == "one\ntwo\nthree\n4a\n4b\nfive\n"
    rest = editor.call("agent/rejectEdit", {"editId": edit_id, "hunks": ["0"]})["edit"]
    assert (rest["status"], statuses(rest)) == ("applied", ["rejected", "applied"])
    out = editor.call("agent/rejectEdit", {"editId": edit_id})["edit"]
    assert (out["status"], document.text.content) == ("rejected", LINES)


def test_a_hunk_that_is_decided_stays_so(project: Project) -> None:
    editor, document, edit_id = edited(project)
    editor.call("agent/keepEdit", {"editId": edit_id, "hunks": ["0"]})
    after = document.text.content
    again = editor.call("agent/rejectEdit", {"editId": edit_id, "hunks": ["0"]})["edit"]
    assert (statuses(again), document.text.content) == (["kept", "applied"], after)


def test_a_rejected_hunk_is_not_said_to_be_applied(project: Project) -> None:
    editor, document, edit_id = edited(project)
    editor.call("agent/rejectEdit", {"editId": edit_id, "hunks": ["0"]})
    without = document.text.content
    answer = editor.call("agent/applyEdit", {"editId": edit_id, "hunks": ["0"]})
    assert (answer["applied"], document.text.content) == (False, without)
    assert answer["failureReason"] == "A hunk is rejected; nothing of it is left to apply."


def test_what_the_person_undid_by_hand_is_rejected(project: Project) -> None:
    editor, document, edit_id = edited(project)
    editor.retype(document, LINES)
    assert the_edit(editor)["status"] == "rejected"
    assert edit_id == the_edit(editor)["editId"]


def test_a_later_edit_of_the_same_lines_takes_them_over(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two", "2")),
        step("", edit("a.txt", "2\n", "zwei\n")),
        step("Done."),
        client=EVENTS,
    )
    document = editor.open(path)
    first, second = editor.ask_agent("Go.")["edits"]
    listed = {e["editId"]: e for e in editor.call("agent/edits")["edits"]}
    assert listed[first["editId"]]["status"] == "superseded"
    assert listed[second["editId"]]["hunks"][0]["oldText"] == "two\n"
    editor.call("agent/rejectEdit", {"editId": second["editId"]})
    assert document.text.content == LINES


def test_an_unknown_hunk_is_named(project: Project) -> None:
    editor, _, edit_id = edited(project)
    error = editor.failure("agent/keepEdit", {"editId": edit_id, "hunks": ["7"]})
    assert error.data["kind"] == "unknownEdit"
    assert "'7'" in str(error)


def test_the_agent_hears_with_its_next_prompt_what_was_rejected_and_why(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO")), step("Done."), step("I see."), client=EVENTS
    )
    editor.open(path)
    (made,) = editor.ask_agent("Go.")["edits"]
    editor.call("agent/rejectEdit", {"editId": made["editId"], "reason": "keep it lower case"})
    editor.ask_agent("And now?")
    said = editor.call("agent/messages")["messages"][-2]
    assert said["role"] == "user"
    assert "rejected your change" in str(said["content"])
    assert "keep it lower case" in str(said["content"])


def test_the_agent_hears_with_its_next_tool_result_what_was_rejected(project: Project) -> None:
    path = project.file("a.txt", LINES)
    project.file("b.txt", "b\n")
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO")),
        step("", call("read", path="b.txt"), delay_ms=1500),
        step("Done."),
        client=EVENTS,
    )
    editor.open(path)
    request = editor.request("agent/prompt", {"text": "Go."})
    made = editor.event("editApplied")["edit"]
    editor.call("agent/rejectEdit", {"editId": made["editId"], "hunks": ["0"], "reason": "no"})
    editor.result(request)
    assert "rejected your change" in editor.tool_texts()[1]


@pytest.mark.parametrize(
    "method",
    [
        "abort",
        "edits",
        "applyEdit",
        "rejectEdit",
        "keepEdit",
        "keepAll",
        "undoAll",
        "applyAll",
        "revert",
        "editText",
        "previewEdit",
    ],
)
def test_a_misspelt_key_is_named_where_without_it_everything_is_meant(
    shared: Editor, method: str
) -> None:
    params = {"sessionID": "s-none"} | ({"editId": "e-none"} if "Edit" in method else {})
    params |= {"editId": "e-none"} if method == "editText" else {}
    error = shared.failure(f"agent/{method}", params)
    assert (error.code, error.data) == (-32602, {"field": "sessionID"})
    assert error.message.startswith("sessionID: ")
    command = {"command": f"lspAgent.{method}", "arguments": [params]}
    assert shared.failure("workspace/executeCommand", command).data == {"field": "sessionID"}
