"""``agent/rewind`` and ``agent/fork``: on from an earlier prompt, here or in a new session."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.project import EVENTS, Editor, Project, edit, step, write
from support.raw_client import Json, wait_until

ACP_AGENT = str(Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py")
LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
#: What is answered by what is asked, in the order of the questions.
APPLE, BERRY, CHERRY = (
    step(f"{name} said.", match=rf"{name}\?\Z") for name in ("Apple", "Berry", "Cherry")
)


def asked(editor: Editor, *words: str, **params: Any) -> list[str]:
    """The ids of the turns."""
    return [editor.ask_agent(each, **params)["turnId"] for each in words]


def prompts(editor: Editor, session_id: str | None = None) -> list[str]:
    params = {"sessionId": session_id} if session_id else {}
    return [one["text"] for one in editor.call("agent/prompts", params)["prompts"]]


def texts(editor: Editor, session_id: str | None = None) -> list[str]:
    params = {"sessionId": session_id} if session_id else {}
    messages = editor.call("agent/messages", params)["messages"]
    said = ("".join(block.get("text", "") for block in one["content"]) for one in messages)
    return [each for each in said if each]


def told(project: Project) -> list[str]:
    """All that each embedded agent's conversation has, the latest last."""
    folder = project.home / "data" / "lsp-agent" / "conversations"
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    return [path.read_text() for path in files]


def outcomes(result: Json) -> dict[str, str]:
    files = result["reverted"]["files"]
    return {file["uri"].rsplit("/", 1)[1]: file["outcome"] for file in files}


def test_the_agent_is_told_what_was_before_the_prompt_and_nothing_of_what_came_after(
    project: Project,
) -> None:
    editor = project.editor(APPLE, BERRY, CHERRY, client=EVENTS)
    _, berry, _ = asked(editor, "Apple?", "Berry?", "Cherry?")
    went = editor.call("agent/rewind", {"turnId": berry})
    assert (went["turnId"], went["text"]) == (berry, "Berry?")
    assert "reverted" not in went
    assert texts(editor) == ["Apple?", "Apple said."]
    asked(editor, "And now, Cherry?")
    assert texts(editor) == ["Apple?", "Apple said.", "And now, Cherry?", "Cherry said."]
    last = told(project)[-1]
    assert "Apple?" in last
    assert "Apple said." in last
    assert "Berry" not in last
    assert "Cherry said." in last
    assert last.count("Cherry?") == 1


def test_clients_are_told_from_where_on_the_conversation_is_left(project: Project) -> None:
    editor = project.editor(APPLE, BERRY, client=EVENTS)
    _, berry = asked(editor, "Apple?", "Berry?")
    went = editor.call("agent/rewind")
    event = editor.event("rewound")
    assert event["fromTurnId"] == berry == went["turnId"]
    assert event["leftSessionId"] == went["leftSessionId"]
    assert "turnId" not in event


def test_the_prompts_are_listed_by_the_persons_words_without_what_went_along(
    project: Project,
) -> None:
    editor = project.editor(step("Seen."), APPLE, client=EVENTS)
    document = editor.open(project.file("a.txt", LINES))
    assert prompts(editor) == []
    first = editor.ask_agent("Look.", context=[{"uri": document.uri}])
    asked(editor, "Apple?")
    listed = editor.command("prompts", {"sessionId": first["sessionId"]})["prompts"]
    assert [one["text"] for one in listed] == ["Look.", "Apple?"]
    assert listed[0]["turnId"] == first["turnId"]
    assert listed[0]["time"] < listed[1]["time"]


def test_what_is_left_is_listed_and_can_be_taken_up_by_an_agent_that_remembers_it(
    project: Project,
) -> None:
    editor = project.editor(APPLE, BERRY, CHERRY, client=EVENTS)
    asked(editor, "Apple?", "Berry?")
    went = editor.call("agent/rewind")
    left = went["leftSessionId"]
    listed = {one["sessionId"]: one for one in editor.call("agent/sessions")["sessions"]}
    assert listed[left]["stored"]
    assert not listed[went["sessionId"]]["stored"]
    assert listed[left]["title"] == "Apple? (left)"
    assert prompts(editor, left) == ["Apple?", "Berry?"]
    editor.call("agent/resumeSession", {"sessionId": left})
    asked(editor, "Cherry?", sessionId=left)
    (whole,) = [each for each in told(project) if "Cherry" in each]
    assert "Berry said." in whole
    assert "[Note from the editor" not in whole
    assert texts(editor) == ["Apple?", "Apple said."]


def test_files_stay_unless_they_are_to_go_back_as_well(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."), client=EVENTS)
    asked(editor, "Shout.")
    editor.call("agent/rewind", {"files": "keep"})
    assert path.read_text() == LINES.replace("two", "TWO")


def test_files_go_back_to_the_prompt_and_what_the_person_did_since_stays(
    project: Project,
) -> None:
    shown, closed = project.file("a.txt", LINES), project.file("b.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "one", "ONE")),
        step("Done."),
        step("", edit("a.txt", "two", "TWO"), edit("b.txt", "two", "TWO")),
        step("Done."),
        step("", edit("a.txt", "TWO", "2"), write("c.txt", "new\n")),
        step("Done."),
        client=EVENTS,
    )
    document = editor.open(shown)
    _, second, _ = asked(editor, "1", "2", "3")
    editor.type(document, 6, "typed ")
    went = editor.call("agent/rewind", {"turnId": second, "files": "restore"})
    assert outcomes(went) == {"a.txt": "merged", "b.txt": "restored", "c.txt": "deleted"}
    assert document.text.content == LINES.replace("one", "ONE").replace("seven", "typed seven")
    assert closed.read_text() == LINES
    assert not (project.folder / "c.txt").exists()
    back = editor.call("agent/revert", {"turnId": went["reverted"]["revertId"]})
    assert {file["outcome"] for file in back["files"]} == {"restored", "created"}
    assert closed.read_text() == LINES.replace("two", "TWO")


def test_a_file_whose_lines_the_person_changed_since_is_a_conflict_of_its_own(
    project: Project,
) -> None:
    shown, closed = project.file("a.txt", LINES), project.file("b.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO"), edit("b.txt", "two", "TWO")),
        step("Done."),
        client=EVENTS,
    )
    document = editor.open(shown)
    asked(editor, "Shout.")
    editor.retype(document, LINES.replace("two", "mine"))
    went = editor.call("agent/rewind", {"files": "restore"})
    assert outcomes(went) == {"a.txt": "conflict", "b.txt": "restored"}
    assert document.text.content == LINES.replace("two", "mine")
    assert closed.read_text() == LINES
    assert texts(editor) == []


def test_twice_in_a_row_each_leaves_a_session_and_files_go_back_all_the_way(
    project: Project,
) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("Hm.", match="First"),
        step("", edit("a.txt", "two", "TWO"), match="Second"),
        step("Done."),
        step("Nothing.", match="Third"),
        client=EVENTS,
    )
    first, _ = asked(editor, "First", "Second")
    editor.call("agent/rewind")
    asked(editor, "Third")
    assert path.read_text() == LINES.replace("two", "TWO")
    went = editor.call("agent/rewind", {"turnId": first, "files": "restore"})
    assert outcomes(went) == {"a.txt": "restored"}
    assert path.read_text() == LINES
    assert prompts(editor) == []
    assert len(editor.call("agent/sessions")["sessions"]) == 3
    assert prompts(editor, went["leftSessionId"]) == ["First", "Third"]


def test_the_next_prompt_of_an_empty_conversation_gives_the_session_its_title(
    project: Project,
) -> None:
    editor = project.editor(APPLE, BERRY, client=EVENTS)
    asked(editor, "Apple?")
    session_id = editor.call("agent/rewind")["sessionId"]
    asked(editor, "Berry?")
    listed = {one["sessionId"]: one["title"] for one in editor.call("agent/sessions")["sessions"]}
    assert listed[session_id] == "Berry?"


def test_a_restart_takes_the_shorter_conversation_up(project: Project) -> None:
    editor = project.editor(APPLE, BERRY, client=EVENTS)
    asked(editor, "Apple?", "Berry?")
    session_id = editor.call("agent/rewind")["sessionId"]
    editor.call("agent/models")  # a new agent runs, and was told nothing yet
    assert editor.shut_down() == 0
    again = project.editor(CHERRY, client=EVENTS)
    again.call("agent/resumeSession", {"sessionId": session_id})
    assert texts(again, session_id) == ["Apple?", "Apple said."]
    asked(again, "Cherry?", sessionId=session_id)
    last = told(project)[-1]
    assert "Apple said." in last
    assert "Berry" not in last


def test_after_a_restart_one_can_go_back_as_before(project: Project) -> None:
    editor = project.editor(APPLE, BERRY, client=EVENTS)
    asked(editor, "Apple?", "Berry?")
    session_id = editor.call("agent/sessions")["sessions"][0]["sessionId"]
    assert editor.shut_down() == 0
    again = project.editor(CHERRY, client=EVENTS)
    again.call("agent/resumeSession", {"sessionId": session_id})
    went = again.call("agent/rewind", {"sessionId": session_id})
    assert went["text"] == "Berry?"
    asked(again, "Cherry?", sessionId=session_id)
    assert "Berry" not in told(project)[-1]


def test_while_a_turn_runs_it_is_refused_and_nothing_is_left(project: Project) -> None:
    editor = project.editor(APPLE, step("word " * 400, pace_ms=20), client=EVENTS)
    apple = asked(editor, "Apple?")
    running = editor.prompt("Go on?")
    assert wait_until(lambda: len(editor.events("turnStarted")) == 2, 20)
    error = editor.failure("agent/rewind", {"turnId": apple[0]})
    assert error.data["kind"] == "busy"
    editor.call("agent/abort")
    assert editor.result(running)["stopReason"] == "aborted"
    assert len(editor.call("agent/sessions")["sessions"]) == 1
    assert editor.call("agent/rewind")["text"] == "Go on?"


def test_a_request_that_is_cancelled_is_done_whole_or_not_at_all(project: Project) -> None:
    editor = project.editor(APPLE, BERRY, CHERRY, client=EVENTS)
    asked(editor, "Apple?", "Berry?")
    number = editor.request("agent/rewind", {})
    editor.notify("$/cancelRequest", {"id": number})
    was_done = prompts(editor) == ["Apple?"]
    asked(editor, "Cherry?")
    assert bool(editor.events("rewound")) is was_done
    last = told(project)[-1]
    assert "Cherry?" in last
    assert ("Berry" in last) is not was_done


def test_an_unknown_turn_is_refused_and_all_stays(project: Project) -> None:
    editor = project.editor(APPLE, BERRY, client=EVENTS)
    asked(editor, "Apple?")
    for method in ("agent/rewind", "agent/fork"):
        error = editor.failure(method, {"turnId": "t-000000000000"})
        assert error.data["kind"] == "unknownTurn"
    assert editor.failure("agent/rewind", {"turn": "x"}).code == -32602
    assert len(editor.call("agent/sessions")["sessions"]) == 1
    assert asked(editor, "Berry?")
    assert "[Note from the editor" not in told(project)[-1]


def test_what_was_cleared_cannot_be_gone_back_to(project: Project) -> None:
    editor = project.editor(APPLE, client=EVENTS)
    (apple,) = asked(editor, "Apple?")
    editor.call("agent/clear")
    error = editor.failure("agent/rewind", {"turnId": apple})
    assert error.data["kind"] == "conflict"


def test_what_failed_in_what_is_left_is_not_tried_again(project: Project) -> None:
    editor = project.editor(APPLE, step("", error="overloaded"), client=EVENTS)
    asked(editor, "Apple?")
    assert editor.ask_agent("Berry?")["stopReason"] == "error"
    editor.call("agent/rewind")
    assert editor.failure("agent/retry").data["kind"] == "conflict"


def test_a_fork_goes_on_from_a_prompt_and_the_first_session_stays_as_it_was(
    project: Project,
) -> None:
    editor = project.editor(APPLE, BERRY, CHERRY, client=EVENTS)
    _, berry = asked(editor, "Apple?", "Berry?")
    fork = editor.command("fork", {"turnId": berry})
    assert fork["text"] == "Berry?"
    new = fork["sessionId"]
    assert texts(editor, new) == ["Apple?", "Apple said."]
    asked(editor, "Cherry?", sessionId=new)
    assert "Apple said." in told(project)[-1]
    assert "Berry" not in told(project)[-1]
    assert prompts(editor) == ["Apple?", "Berry?"]
    asked(editor, "Cherry?")
    (first,) = [each for each in told(project) if "Berry said." in each]
    assert "Cherry said." in first
    assert "[Note from the editor" not in first
    titles = {one["sessionId"]: one["title"] for one in editor.call("agent/sessions")["sessions"]}
    assert titles[new] == "Apple? (fork)"


def test_a_fork_without_a_turn_goes_on_from_the_end(project: Project) -> None:
    editor = project.editor(APPLE, BERRY, client=EVENTS)
    asked(editor, "Apple?")
    fork = editor.call("agent/fork")
    assert "text" not in fork
    asked(editor, "Berry?", sessionId=fork["sessionId"])
    assert "Apple said." in told(project)[-1]
    assert editor.shut_down() == 0
    again = project.editor(CHERRY, client=EVENTS)
    again.call("agent/resumeSession", {"sessionId": fork["sessionId"]})
    assert prompts(again, fork["sessionId"]) == ["Apple?", "Berry?"]


def test_a_stored_session_is_forked_while_it_stays_closed(project: Project) -> None:
    editor = project.editor(APPLE, client=EVENTS)
    asked(editor, "Apple?")
    (old,) = editor.call("agent/sessions")["sessions"]
    editor.shut_down()
    again = project.editor(BERRY, client=EVENTS)
    fork = again.call("agent/fork", {"sessionId": old["sessionId"]})
    asked(again, "Berry?", sessionId=fork["sessionId"])
    assert "Apple said." in told(project)[-1]
    stored = {one["sessionId"]: one["stored"] for one in again.call("agent/sessions")["sessions"]}
    assert stored == {old["sessionId"]: True, fork["sessionId"]: False}


def test_files_go_back_in_a_fork_too_also_what_the_first_session_changed(
    project: Project,
) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."), client=EVENTS)
    (turn,) = asked(editor, "Shout.")
    new = editor.call("agent/fork")["sessionId"]
    went = editor.call("agent/rewind", {"sessionId": new, "turnId": turn, "files": "restore"})
    assert outcomes(went) == {"a.txt": "restored"}
    assert path.read_text() == LINES


@pytest.mark.parametrize("method", ["agent/rewind", "agent/fork"])
def test_a_fork_whose_agent_is_gone_is_refused_and_nothing_is_left(
    project: Project, method: str
) -> None:
    editor = project.editor(APPLE, client=EVENTS)
    asked(editor, "Apple?")
    (old,) = editor.call("agent/sessions")["sessions"]
    editor.shut_down()
    again = project.editor(options={"agent": "other", "agents": {"other": project.agent()}})
    error = again.failure(method, {"sessionId": old["sessionId"]})
    kinds = {"agent/rewind": "unknownSession", "agent/fork": "agentNotFound"}
    assert error.data["kind"] == kinds[method]
    assert len(again.call("agent/sessions")["sessions"]) == 1


def test_an_agent_of_the_agent_client_protocol_goes_back_as_well(project: Project) -> None:
    command = [sys.executable, ACP_AGENT, json.dumps({})]
    editor = project.editor(agent={"wire": "acp", "command": command}, client=EVENTS)
    asked(editor, "Apple?", "Berry?")
    went = editor.call("agent/rewind")
    assert went["text"] == "Berry?"
    asked(editor, "Cherry?")
    assert prompts(editor) == ["Apple?", "Cherry?"]
    notices = [one for one in editor.events("notice") if "does not remember" in one["message"]]
    assert len(notices) == 1
