"""What an agent, or any command, writes to disk reaches the documents that are open."""

import threading
import time
from collections.abc import Callable

import pytest
from support.project import ALLOWED, Document, Editor, Project, bash, call, edit, step, write
from support.raw_client import Json, RpcError, wait_until

TEXT = "one\ntwo\nthree\nfour\nfive\n"


def mirror(project: Project, *steps: Json, **options: object) -> Editor:
    agent = project.agent(*steps, step("Done."), hosting="mirror")
    return project.editor(agent=agent, client={"events": True}, options=ALLOWED | options)


def hosted(project: Project, *steps: Json, **options: object) -> Editor:
    return project.editor(*steps, step("Done."), client={"events": True}, options=ALLOWED | options)


def changes(editor: Editor) -> list[tuple[str, str]]:
    edits = editor.call("agent/edits")["edits"]
    return [(edit["uri"].rpartition("/")[2], edit["status"]) for edit in edits]


def notices(editor: Editor) -> str:
    return "\n".join(event["message"] for event in editor.events("notice", level="warning"))


Start = Callable[..., Editor]


@pytest.fixture(params=["mirror's edit", "mirror's command", "hosted command"])
def change(request: pytest.FixtureRequest, project: Project) -> Start:
    """An editor whose agent replaces ``old`` by ``new`` in a.txt on disk."""

    def start(old: str, new: str, **options: object) -> Editor:
        if request.param == "mirror's edit":
            return mirror(project, step("", edit("a.txt", old, new)), **options)
        run = mirror if request.param == "mirror's command" else hosted
        return run(project, step("", bash(f"sed -i s/{old}/{new}/ a.txt")), **options)

    return start


def test_a_clean_document_that_its_editor_does_not_reload_is_edited(
    project: Project, change: Start
) -> None:
    path = project.file("a.txt", TEXT)
    editor = change("two", "2")
    document = editor.open(path)
    result = editor.ask_agent("Go.")
    assert document.text.content == path.read_text() == TEXT.replace("two", "2")
    assert [edit["status"] for edit in result["edits"]] == ["applied"]
    assert changes(editor) == [("a.txt", "applied")]


def test_unsaved_text_elsewhere_in_the_document_stays(project: Project, change: Start) -> None:
    path = project.file("a.txt", TEXT)
    editor = change("two", "2")
    document = editor.open(path)
    editor.type(document, 4, "typed ")
    editor.ask_agent("Go.")
    assert document.text.content == "one\n2\nthree\nfour\ntyped five\n"
    assert path.read_text() == TEXT.replace("two", "2")
    assert changes(editor) == [("a.txt", "applied")]


def test_unsaved_text_in_the_same_line_stays_and_the_agents_is_proposed(
    project: Project, change: Start
) -> None:
    path = project.file("a.txt", TEXT)
    editor = change("two", "2")
    document = editor.open(path, TEXT.replace("two", "TWO"))
    editor.ask_agent("Go.")
    assert document.text.content == TEXT.replace("two", "TWO")
    assert path.read_text() == TEXT.replace("two", "2")
    assert changes(editor) == [("a.txt", "proposed")]
    assert "a.txt on disk where you have unsaved text" in notices(editor)
    (proposal,) = editor.call("agent/edits")["edits"]
    assert editor.call("agent/applyEdit", {"editId": proposal["editId"]})["applied"]
    assert document.text.content == TEXT.replace("two", "2")


def test_a_file_that_is_not_open_is_recorded(project: Project, change: Start) -> None:
    path = project.file("a.txt", TEXT)
    editor = change("two", "2")
    editor.ask_agent("Go.")
    (made,) = editor.call("agent/edits")["edits"]
    assert made["status"] == "applied"
    assert editor.call("agent/editText", {"editId": made["editId"]}) == {
        "before": TEXT,
        "after": TEXT.replace("two", "2"),
    }
    assert path.read_text() == TEXT.replace("two", "2")


def test_without_review_it_is_kept(project: Project, change: Start) -> None:
    path = project.file("a.txt", TEXT)
    editor = change("two", "2", edits={"review": "off"})
    document = editor.open(path)
    editor.ask_agent("Go.")
    assert document.text.content == TEXT.replace("two", "2")
    assert changes(editor) == [("a.txt", "kept")]


# Whole commands.


def test_a_formatter_over_many_files_reaches_the_open_and_the_known_ones(project: Project) -> None:
    paths = [project.file(f"f{i}.txt", TEXT) for i in range(40)]
    editor = hosted(
        project,
        step("", call("read", path="f10.txt"), call("read", path="f11.txt")),
        step("", bash("sed -i s/two/2/ *.txt")),
    )
    clean, apart = editor.open(paths[0]), editor.open(paths[1])
    clash = editor.open(paths[2], TEXT.replace("two", "TWO"))
    editor.type(apart, 4, "typed ")
    editor.ask_agent("Go.")
    assert clean.text.content == TEXT.replace("two", "2")
    assert apart.text.content == "one\n2\nthree\nfour\ntyped five\n"
    assert clash.text.content == TEXT.replace("two", "TWO")
    assert sorted(changes(editor)) == [
        ("f0.txt", "applied"),
        ("f1.txt", "applied"),
        ("f10.txt", "applied"),
        ("f11.txt", "applied"),
        ("f2.txt", "proposed"),
    ]


def test_what_a_command_names_is_recorded_though_nobody_has_read_it(project: Project) -> None:
    project.file("a.txt", TEXT)
    project.file("sub/b.txt", TEXT)
    editor = hosted(
        project,
        step("", bash("sed -i s/two/2/ a.txt; cd sub && rm b.txt; echo new > c.txt")),
    )
    editor.ask_agent("Go.")
    edits = {e["uri"].rpartition("/")[2]: e["editId"] for e in editor.call("agent/edits")["edits"]}
    texts = {name: editor.call("agent/editText", {"editId": i}) for name, i in edits.items()}
    assert texts == {
        "a.txt": {"before": TEXT, "after": TEXT.replace("two", "2")},
        "b.txt": {"before": TEXT, "after": ""},
        "c.txt": {"before": "", "after": "new\n"},
    }


def test_a_change_of_what_is_text_in_another_encoding_is_said(project: Project) -> None:
    path = project.file("menu.txt")
    path.write_bytes("café one\n".encode("latin-1"))
    line = "sed -i s/one/two/ menu.txt"
    editor = hosted(project, step("", bash(line)))
    assert editor.ask_agent("Go.")["edits"] == []
    assert path.read_bytes() == "café two\n".encode("latin-1")
    (said,) = editor.events("notice", level="info")
    assert said["message"] == (
        f"The agent's bash ({line}) changed menu.txt on disk: it is not valid UTF-8 (byte 3);"
        " this cannot be reviewed or undone."
    )


def test_what_a_command_has_left_at_work_is_seen_at_the_turns_end(project: Project) -> None:
    path = project.file("a.txt", TEXT)
    editor = mirror(
        project,
        step("", bash("sleep 0.1; sed -i s/two/2/ a.txt")),
        step("", bash("sleep 0.2")),
    )
    document = editor.open(path)
    result = editor.ask_agent("Go.")
    assert document.text.content == TEXT.replace("two", "2")
    assert [edit["status"] for edit in result["edits"]] == ["applied"]


def test_a_deleted_and_a_renamed_file_leave_their_documents_and_are_said(project: Project) -> None:
    deleted, renamed = project.file("a.txt", TEXT), project.file("b\u202e.txt", TEXT)
    editor = hosted(project, step("", bash("rm a.txt; mv b*.txt c.txt")))
    documents = [editor.open(deleted), editor.open(renamed)]
    editor.ask_agent("Go.")
    assert [document.text.content for document in documents] == [TEXT, TEXT]
    assert editor.received("workspace/applyEdit") == []
    assert "deleted a.txt on disk" in notices(editor)
    assert "renamed b\\u202e.txt to c.txt on disk" in notices(editor)
    assert sorted(changes(editor)) == [
        ("a.txt", "kept"),
        ("b%E2%80%AE.txt", "kept"),
        ("c.txt", "applied"),
    ]


def test_a_file_written_under_a_new_document_is_merged_with_it(project: Project) -> None:
    editor = hosted(project, step("", bash("echo made > new.txt")))
    document = editor.open(project.folder / "new.txt", "")
    editor.ask_agent("Go.")
    assert document.text.content == "made\n"
    assert changes(editor) == [("new.txt", "applied")]


def test_a_stopped_commands_change_is_proposed(project: Project) -> None:
    path = project.file("a.txt", TEXT)
    editor = hosted(project, step("", bash("sed -i s/two/2/ a.txt; sleep 60")))
    document = editor.open(path)
    prompt = editor.prompt("Go.")
    assert wait_until(lambda: path.read_text() != TEXT)
    editor.call("agent/abort")
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert wait_until(lambda: changes(editor) == [("a.txt", "proposed")])
    assert document.text.content == TEXT
    assert wait_until(lambda: "stopped" in notices(editor))


def test_the_editor_that_reloads_by_itself_is_sent_nothing(project: Project) -> None:
    path = project.file("a.txt", TEXT)
    editor = hosted(project, step("", bash("sed -i s/two/2/ a.txt")))
    document = editor.open(path)
    prompt = editor.prompt("Go.")
    assert wait_until(lambda: path.read_text() != TEXT)
    time.sleep(0.1)
    if document.version == 1:
        editor.open(path, version=2)
    editor.result(prompt)
    assert editor.received("workspace/applyEdit") == []
    assert changes(editor) == [("a.txt", "applied")]


def test_a_client_that_can_reload_is_asked_to(project: Project) -> None:
    path = project.file("a.txt", TEXT)
    agent = project.agent(step("", bash("sed -i s/two/2/ a.txt")), step("Done."))
    client: Json = {"events": True, "reload": True}
    editor = project.editor(agent=agent, client=client, options=ALLOWED)

    def reload(params: Json) -> Json:
        assert params == {"uri": path.as_uri()}
        editor.open(path, version=2)
        return {"reloaded": True}

    editor.handlers["agent/reloadDocument"] = reload
    editor.open(path)
    editor.ask_agent("Go.")
    assert editor.received("workspace/applyEdit") == []
    assert changes(editor) == [("a.txt", "applied")]


def test_typing_while_commands_rewrite_the_file_loses_nothing(project: Project) -> None:
    path = project.file("a.txt", TEXT)
    rounds = [("one", "1"), ("two", "2"), ("three", "3")]
    editor = hosted(project, *(step("", bash(f"sed -i s/{a}/{b}/ a.txt")) for a, b in rounds))
    document = editor.open(path)
    lock = threading.Lock()
    apply = editor.handlers["workspace/applyEdit"]

    def locked(params: Json) -> Json:
        with lock:
            return apply(params)

    editor.handlers["workspace/applyEdit"] = locked
    prompt = editor.prompt("Go.")
    typed = 0
    while not editor.events("turnEnded"):
        with lock:
            editor.type(document, len(document.text.lines) - 1, f"key {typed}\n")
        typed += 1
        time.sleep(0.06)
    editor.result(prompt)
    keys = "".join(f"key {i}\n" for i in range(typed))
    assert document.text.content == "1\n2\n3\nfour\n" + keys + "five\n"
    assert {status for _, status in changes(editor)} == {"applied"}


# Review before, and what lies outside.


def test_state_says_whether_review_before_can_hold(project: Project) -> None:
    project.file("a.txt", TEXT)
    editor = hosted(
        project, step("", bash("true")), step("Nothing."), step("", bash("sed -i s/two/2/ a.txt")),
        edits={"review": "before"},
    )  # fmt: skip
    assert editor.call("agent/state")["capabilities"]["reviewBefore"]
    editor.ask_agent("Go.")
    assert editor.call("agent/state")["capabilities"]["reviewBefore"]
    assert "review = before" not in notices(editor)
    editor.ask_agent("Go.")
    assert not editor.call("agent/state")["capabilities"]["reviewBefore"]
    assert notices(editor).count("`review = before` cannot hold") == 1


def test_with_review_before_a_mirror_agents_edits_are_asked_about(project: Project) -> None:
    path = project.file("a.txt", TEXT)
    steps = [step("", edit("a.txt", "one", "1")), step("", write("b.txt", "new\n"))]
    agent = project.agent(*steps, step("Done."), hosting="mirror")
    client: Json = {"events": True, "ask": True}
    editor = project.editor(agent=agent, client=client, options={"edits": {"review": "before"}})
    editor.answers = ["deny", "allow"]
    assert not editor.call("agent/state")["capabilities"]["reviewBefore"]
    editor.ask_agent("Go.")
    assert [question["title"] for question in editor.received("agent/ask")] == [
        "edit: a.txt",
        "write: b.txt",
    ]
    assert path.read_text() == TEXT
    assert (project.folder / "b.txt").read_text() == "new\n"
    assert "cannot hold for it" in notices(editor)
    assert changes(editor) == [("b.txt", "applied")]


def test_the_agent_is_not_told_of_its_own_writes(project: Project) -> None:
    project.file("a.txt", TEXT)
    editor = mirror(
        project, step("", call("read", path="a.txt")), step("", edit("a.txt", "two", "2"))
    )
    editor.ask_agent("Go.")
    assert "since you last saw it" not in "".join(editor.tool_texts())


def test_a_revert_takes_back_what_a_command_changed_made_deleted_and_renamed(
    project: Project,
) -> None:
    project.file("changed.txt", TEXT)
    project.file("deleted.txt", TEXT)
    project.file("old.txt", TEXT + "old\n")
    command = "sed -i s/two/2/ changed.txt; echo new > made.txt; rm deleted.txt; mv old.txt new.txt"
    editor = hosted(project, step("", bash(command)))
    editor.ask_agent("Go.")
    names = sorted(path.name for path in project.folder.iterdir())
    assert names == ["changed.txt", "made.txt", "new.txt"]
    editor.call("agent/revert", {})
    texts = {path.name: path.read_text() for path in project.folder.iterdir()}
    assert texts == {"changed.txt": TEXT, "deleted.txt": TEXT, "old.txt": TEXT + "old\n"}


def test_a_file_deleted_under_its_document_comes_back_by_a_revert(project: Project) -> None:
    path = project.file("a.txt", TEXT)
    editor = hosted(project, step("", bash("rm a.txt")))
    document = editor.open(path)
    editor.ask_agent("Go.")
    editor.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})
    editor.call("agent/revert", {})
    assert path.read_text() == TEXT


def test_unsaved_text_outlives_a_revert_of_what_was_merged(project: Project) -> None:
    path = project.file("a.txt", TEXT)
    editor = hosted(project, step("", bash("sed -i s/two/2/ a.txt")))
    document = editor.open(path)
    editor.type(document, 4, "typed ")
    editor.ask_agent("Go.")
    editor.call("agent/revert", {})
    assert document.text.content == "one\ntwo\nthree\nfour\ntyped five\n"


# One file in two documents.


def twice(project: Project, editor: Editor, *texts: str) -> tuple[Document, Document]:
    """a.txt and a symlink to it, open with these texts."""
    link = project.folder / "link.txt"
    link.symlink_to("a.txt")
    real = project.folder / "a.txt"
    return editor.open(real, texts[0]), editor.open(link, texts[1])


def test_a_file_that_is_open_twice_is_changed_in_both(project: Project, change: Start) -> None:
    project.file("a.txt", TEXT)
    editor = change("two", "2")
    documents = twice(project, editor, TEXT, TEXT)
    editor.ask_agent("Go.")
    after = TEXT.replace("two", "2")
    assert [document.text.content for document in documents] == [after, after]
    # Its name is the one opened last, if the first was known to be saved by then.
    assert changes(editor) in ([("link.txt", "applied")], [("a.txt", "applied")])


def test_a_file_that_is_open_twice_with_unsaved_text_is_changed_in_neither(
    project: Project,
) -> None:
    path = project.file("a.txt", TEXT)
    command = step("", bash("sed -i s/four/4/ a.txt"))
    editor = hosted(project, step("", edit("a.txt", "two", "2")), command)
    texts = [f"{TEXT}typed\n", f"typed\n{TEXT}"]
    documents = twice(project, editor, *texts)
    editor.ask_agent("Go.")
    assert [document.text.content for document in documents] == texts
    assert path.read_text() == TEXT.replace("four", "4")
    assert changes(editor) == [("a.txt", "proposed"), ("a.txt", "proposed")]
    assert notices(editor).count("link.txt), so edits are only proposed") == 2
    for proposal in editor.call("agent/edits")["edits"]:
        with pytest.raises(RpcError, match=r"more than once with unsaved text .*link.txt"):
            editor.call("agent/applyEdit", {"editId": proposal["editId"]})
    editor.notify("textDocument/didClose", {"textDocument": {"uri": documents[1].uri}})
    for proposal in editor.call("agent/edits")["edits"]:
        assert editor.call("agent/applyEdit", {"editId": proposal["editId"]})["applied"]
    after = texts[0].replace("two", "2").replace("four", "4")
    assert documents[0].text.content == after
