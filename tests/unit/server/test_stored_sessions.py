"""Sessions outlive their server: stored, listed, taken up, renamed, exported, deleted."""

import json
import re
import shutil
import signal
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from support.project import EVENTS, Editor, Project, call, edit, step
from support.raw_client import Json, wait_until

FAILED = -32803
ACP_AGENT = str(Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py")


def sessions(editor: Editor) -> list[Json]:
    return editor.call("agent/sessions")["sessions"]


def folder(project: Project) -> Path:
    """Where the sessions lie."""
    (found,) = (project.home / "data" / "lsp-agent" / "workspaces").glob("*/sessions")
    return found


def texts(editor: Editor, session_id: str) -> list[tuple[str, str]]:
    """Of each message with text, who said what."""
    messages = editor.call("agent/messages", {"sessionId": session_id})["messages"]
    said = [
        (message["role"], "".join(block.get("text", "") for block in message["content"]))
        for message in messages
    ]
    return [(role, text) for role, text in said if text]


def ended(project: Project, *steps: Json, ask: str = "What is it?", **options: Any) -> str:
    """The id of a session of an earlier run."""
    editor = project.editor(*steps, **options)
    session_id = editor.ask_agent(ask)["sessionId"]
    assert editor.shut_down() == 0
    return session_id


def test_after_a_restart_the_default_is_a_new_session_and_the_old_one_is_listed(
    project: Project,
) -> None:
    old = ended(project, step("It is a shop."))
    editor = project.editor(step("Hello."))
    (listed,) = sessions(editor)
    assert listed["sessionId"] == old
    assert (listed["stored"], listed["status"], listed["agent"]) == (True, "closed", "scripted")
    assert (listed["title"], listed["cwd"]) == ("What is it?", str(project.folder))
    assert listed["created"] <= listed["updated"]
    new = editor.ask_agent("Hi.")["sessionId"]
    assert new != old
    assert [(one["sessionId"], one["stored"]) for one in sessions(editor)] == [
        (new, False),
        (old, True),
    ]


def test_an_agent_without_a_memory_is_told_in_short_and_the_person_is_told_so(
    project: Project,
) -> None:
    project.file("a.txt", "one\n")
    old = ended(
        project,
        step("I look.", call("read", path="a.txt")),
        step("It is one."),
        ask="What is a.txt?",
    )
    shutil.rmtree(project.home / "data" / "lsp-agent" / "conversations")
    # The first step is reached only by a prompt that has what was said before, and what is asked.
    editor = project.editor(
        step("I was told.", match=r"(?s)What is a\.txt\?.*read: a\.txt.*It is one\..*And b\?$"),
        step("Nobody told me."),
        client=EVENTS,
    )
    assert editor.call("agent/resumeSession", {"sessionId": old}) == {"sessionId": old}
    before = [("user", "What is a.txt?"), ("assistant", "I look."), ("assistant", "It is one.")]
    assert texts(editor, old) == before
    result = editor.ask_agent("And b?", sessionId=old)
    assert result["text"] == "I was told."
    notices = [e for e in editor.events("notice") if "does not remember" in e["message"]]
    assert len(notices) == 1
    assert editor.event("turnStarted")["prompt"] == "And b?"
    after = [*before, ("user", "And b?"), ("assistant", "I was told.")]
    assert texts(editor, old) == after
    again = editor.ask_agent("And c?", sessionId=old)
    assert again["stopReason"] == "endTurn"
    assert len([e for e in editor.events("notice") if "does not remember" in e["message"]]) == 1


def test_an_agent_that_takes_up_nothing_is_told_in_short_once_its_process_has_ended(
    project: Project,
) -> None:
    command = [sys.executable, ACP_AGENT, json.dumps({"forgets": True, "echoes": True})]
    editor = project.editor(agent={"wire": "acp", "command": command}, client=EVENTS)
    editor.ask_agent("The word is blue.")
    assert editor.failure("agent/prompt", {"text": "die"}).data["kind"] == "agentExited"
    told = editor.ask_agent("Which word?")["text"]
    assert re.search(r"(?s)Person: The word is blue\..*Person: die.*\nWhich word\?\Z", told)
    assert editor.ask_agent("And now?")["text"] == "And now?"
    (notice,) = editor.events("notice")
    assert notice["level"] == "info"
    assert "new process" in notice["message"]


def test_what_a_resumed_session_changed_before_is_still_its_own(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    old = ended(project, step("", edit("a.txt", "one", "two")), step("Done."))
    assert path.read_text() == "two\n"
    editor = project.editor(step("Hello."))
    editor.call("agent/resumeSession", {"sessionId": old})
    (listed,) = editor.call("agent/edits", {"sessionId": old})["edits"]
    assert listed["status"] == "applied"
    files = editor.call("agent/revert", {"sessionId": old})["files"]
    assert [one["outcome"] for one in files] == ["restored"]
    assert path.read_text() == "one\n"


def test_a_killed_server_loses_no_more_than_the_last_moment(project: Project) -> None:
    long = "".join(f"word{n} " for n in range(400))
    editor = project.editor(step("First."), step(long, pace_ms=10), client=EVENTS)
    session_id = editor.ask_agent("One?")["sessionId"]
    editor.prompt("Two?")
    assert wait_until(
        lambda: "word150 " in "".join(e["text"] for e in editor.events("textDelta")), 30
    )
    editor.process.send_signal(signal.SIGKILL)
    editor.process.wait()
    with (folder(project) / session_id / "messages.jsonl").open("ab") as file:
        file.write(b'{"message": {"role": "us')  # torn
    again = project.editor(step("Here again."))
    again.call("agent/resumeSession", {"sessionId": session_id})
    said = texts(again, session_id)
    assert said[:3] == [("user", "One?"), ("assistant", "First."), ("user", "Two?")]
    assert said[3][1].startswith("word0 word1 ")
    again.ask_agent("Three?", sessionId=session_id)
    assert texts(again, session_id)[4:] == [("user", "Three?"), ("assistant", "Here again.")]


def test_a_session_that_another_server_has_open_is_listed_and_left_alone(
    project: Project,
) -> None:
    first = project.editor(step("Mine."))
    theirs = first.ask_agent("Whose?")["sessionId"]
    second = project.editor(step("Also mine."))
    (listed,) = sessions(second)
    assert (listed["sessionId"], listed["status"]) == (theirs, "elsewhere")
    for method, params in [("resumeSession", {}), ("renameSession", {"title": "x"})]:
        error = second.failure(f"agent/{method}", {"sessionId": theirs} | params)
        assert (error.code, error.data["kind"]) == (FAILED, "conflict")
    assert second.failure("agent/deleteSession", {"sessionId": theirs}).data["kind"] == "conflict"
    assert second.ask_agent("Whose?")["text"] == "Also mine."
    assert wait_until(lambda: len(sessions(first)) == len(sessions(second)) == 2)
    assert first.shut_down() == 0
    assert second.call("agent/resumeSession", {"sessionId": theirs}) == {"sessionId": theirs}
    assert texts(second, theirs) == [("user", "Whose?"), ("assistant", "Mine.")]


def test_a_closed_session_can_be_taken_up_by_the_same_server(project: Project) -> None:
    editor = project.editor(step("Hello."), client=EVENTS)
    session_id = editor.ask_agent("Hi.")["sessionId"]
    editor.call("agent/closeSession", {"sessionId": session_id})
    (listed,) = sessions(editor)
    assert (listed["status"], listed["stored"]) == ("closed", True)
    editor.call("agent/resumeSession", {"sessionId": session_id})
    assert editor.ask_agent("Hi again.", sessionId=session_id)["text"] == "Hello."
    assert [one["stored"] for one in sessions(editor)] == [False]
    numbers = [event["seq"] for event in editor.events(sessionId=session_id)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_session_is_renamed_exported_and_deleted_open_or_not(project: Project) -> None:
    project.file("a.txt", "one\n")
    old = ended(project, step("", call("read", path="a.txt")), step("It is **one**."), ask="Old?")
    editor = project.editor(step("New."))
    new = editor.ask_agent("New?")["sessionId"]
    for session_id, title in [(old, "Older"), (new, "Newer")]:
        editor.call("agent/renameSession", {"sessionId": session_id, "title": title})
    assert [one["title"] for one in sessions(editor)] == ["Newer", "Older"]
    exported = editor.command("exportSession", {"sessionId": old})["markdown"]
    assert exported.startswith("# Older\n")
    for part in ("## You\n\nOld?", "## Agent", "**read** `a.txt`", "one", "It is **one**."):
        assert part in exported
    assert "# Newer" in editor.call("agent/exportSession", {"sessionId": new})["markdown"]
    for session_id in (old, new):
        assert editor.call("agent/deleteSession", {"sessionId": session_id}) == {}
        for method in ("resumeSession", "exportSession", "deleteSession"):
            error = editor.failure(f"agent/{method}", {"sessionId": session_id})
            assert error.data["kind"] == "unknownSession"
    assert sessions(editor) == []
    assert list(folder(project).iterdir()) == []


def test_what_is_asked_right_after_a_new_name_tells_that_name(project: Project) -> None:
    editor = project.editor(step("Hello."))
    session = {"sessionId": editor.ask_agent("Hi.")["sessionId"]}
    asked = [
        ("renameSession", session | {"title": "Renamed"}),
        ("exportSession", session),
        ("sessions", {}),
    ]
    numbers = [editor.new_id() for _ in asked]
    editor.send(
        *(
            {"id": number, "method": f"agent/{method}", "params": params}
            for number, (method, params) in zip(numbers, asked, strict=True)
        )
    )
    _, exported, listed = [editor.result(number) for number in numbers]
    assert exported["markdown"].startswith("# Renamed\n")
    assert [one["title"] for one in listed["sessions"]] == ["Renamed"]


@pytest.mark.parametrize("session_id", ["s-000000000000", "../x", "s-..", ""])
def test_what_is_no_stored_session_is_unknown(shared: Editor, session_id: str) -> None:
    error = shared.failure("agent/resumeSession", {"sessionId": session_id})
    assert (error.code, error.data["kind"]) == (FAILED, "unknownSession")


def test_a_forgotten_conversation_is_not_retold(project: Project) -> None:
    editor = project.editor(step("Secretly."))
    session_id = editor.ask_agent("How?")["sessionId"]
    editor.call("agent/clear", {"sessionId": session_id})
    editor.shut_down()
    again = project.editor(step("Told.", match="Secretly"), step("Not told.", match="Now"))
    again.call("agent/resumeSession", {"sessionId": session_id})
    assert texts(again, session_id) == []
    assert again.ask_agent("Now?", sessionId=session_id)["text"] == "Not told."


def test_what_is_stored_is_for_the_person_alone_and_has_no_environment(project: Project) -> None:
    agent = project.agent(step("Hello."), env={"SOME_API_KEY": "sk-nobodys-business"})
    session_id = ended(project, agent=agent)
    stored = folder(project)
    for path in [stored, *stored.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600)
    names = {path.name for path in (stored / session_id).iterdir()}
    assert names == {"about.json", "messages.jsonl"}
    assert "nobodys-business" not in (stored / session_id / "about.json").read_text()


def test_a_session_whose_agent_is_gone_from_the_settings_says_so_and_stays(
    project: Project,
) -> None:
    old = ended(project, step("Hello."))
    editor = project.editor(options={"agent": "other", "agents": {"other": project.agent()}})
    error = editor.failure("agent/resumeSession", {"sessionId": old})
    assert error.data["kind"] == "agentNotFound"
    assert "'scripted'" in error.message
    (listed,) = sessions(editor)
    assert (listed["sessionId"], listed["status"]) == (old, "closed")


def test_the_oldest_stored_form_is_still_read(project: Project) -> None:
    """Files of format 1, as the first version that stored sessions wrote them."""
    old = ended(project, step("Hello."))
    place = folder(project) / old
    about = json.loads((place / "about.json").read_text())
    written = {"format", "id", "folder", "agent", "title", "created", "updated"}
    (place / "about.json").write_text(json.dumps({key: about[key] for key in written}))
    (place / "messages.jsonl").write_text(
        '{"message": {"role": "user", "content": [{"type": "text", "text": "Hi."}]}}\n'
        '{"delta": "Hel"}\n{"delta": "lo."}\n{"later": "unknown"}\n'
    )
    editor = project.editor(step("Again."))
    editor.call("agent/resumeSession", {"sessionId": old})
    assert texts(editor, old) == [("user", "Hi."), ("assistant", "Hello.")]


def test_with_a_session_goes_what_the_embedded_agent_has_kept_of_it(project: Project) -> None:
    old = ended(project, step("Hello."))
    kept = project.home / "data" / "lsp-agent" / "conversations"
    assert len(list(kept.iterdir())) == 1
    editor = project.editor(step("Again."))
    editor.call("agent/deleteSession", {"sessionId": old})
    assert list(kept.iterdir()) == []
