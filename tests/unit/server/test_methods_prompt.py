"""``agent/prompt``: what it answers, what it sends along, and what it refuses."""

import base64
from typing import Any

import pytest
from support.project import ALLOWED, EVENTS, Editor, Project, bash, edit, step, write
from support.raw_client import Json, wait_until

# The result


def test_a_prompt_resolves_at_the_turns_end_with_the_last_steps_text(project: Project) -> None:
    project.file("a.txt", "one\n")
    editor = project.editor(
        step("First words.", edit("a.txt", "one", "two"), write("b.txt", "new\n")),
        step("Last words."),
        client=EVENTS,
    )
    result = editor.ask_agent("Go.")
    assert result["stopReason"] == "endTurn"
    assert result["text"] == "Last words."
    assert "error" not in result
    assert result["usage"]["output"] > 0
    assert [(e["uri"].rsplit("/", 1)[1], e["status"]) for e in result["edits"]] == [
        ("a.txt", "applied"),
        ("b.txt", "applied"),
    ]
    assert (project.folder / "a.txt").read_text() == "two\n"
    assert (project.folder / "b.txt").read_text() == "new\n"
    ended = editor.events("turnEnded")
    assert [event["turnId"] for event in ended] == [result["turnId"]]
    assert {event["sessionId"] for event in editor.events()} == {result["sessionId"]}


def test_an_open_document_is_edited_in_the_editor(project: Project) -> None:
    path = project.file("a.txt", "one\nthree\n")
    editor = project.editor(step("", edit("a.txt", "three", "four")), step("Done."))
    document = editor.open(path)
    editor.type(document, 1, "two\n")
    assert editor.ask_agent("Go.")["edits"][0]["status"] == "applied"
    assert document.text.content == "one\ntwo\nfour\n"
    assert path.read_text() == "one\nthree\n"  # unsaved text stays unsaved
    (label,) = [params["label"] for params in editor.received("workspace/applyEdit")]
    assert label == "agent: edit a.txt"


def test_the_usage_of_a_turn_is_that_of_all_its_steps(project: Project) -> None:
    editor = project.editor(
        step("one two", bash("true")), step("three"), step("four five six"), options=ALLOWED
    )
    first = editor.ask_agent("a b")["usage"]
    second = editor.ask_agent("c")["usage"]
    assert first["output"] > 3
    assert first["input"] == 2
    assert second == {**second, "input": 1, "output": 3}
    assert editor.call("agent/state")["usage"]["output"] == first["output"] + second["output"]


def test_a_providers_failure_is_a_result_with_the_text_so_far(project: Project) -> None:
    editor = project.editor(step("So far.", error="overloaded"), step("Back again."))
    result = editor.ask_agent("Go.")
    assert result["stopReason"] == "error"
    assert "overloaded" in result["error"]
    assert result["text"] == "So far."
    assert editor.ask_agent("Again.")["text"] == "Back again."


def test_an_answer_cut_off_by_the_token_limit_says_so(project: Project) -> None:
    editor = project.editor(step("Cut", stop="length"))
    result = editor.ask_agent("Go.")
    assert (result["stopReason"], result["text"]) == ("maxTokens", "Cut")


def test_a_turn_that_reaches_the_limit_of_steps_says_so(project: Project) -> None:
    steps = [step(f"step {n}", bash("true")) for n in range(4)]
    agent = project.agent(*steps, arguments=["--max-steps", "2"])
    editor = project.editor(agent=agent, options=ALLOWED)
    result = editor.ask_agent("Go.")
    assert (result["stopReason"], result["text"]) == ("maxSteps", "step 1")


# What goes along


def sent_prompt(editor: Any) -> str:
    """What the agent was sent last, as its transcript has it."""
    messages = editor.call("agent/messages")["messages"]
    (last,) = [m for m in messages if m["role"] == "user"][-1:]
    return "".join(block["text"] for block in last["content"] if block["type"] == "text")


def test_context_is_an_excerpt_of_the_unsaved_text(project: Project) -> None:
    path = project.file("src/a.py", "on disk\n")
    editor = project.editor(step("Read."))
    document = editor.open(path)
    editor.type(document, 0, "typed = 1\n")
    editor.ask_agent("Explain.", context=[{"uri": document.uri}])
    prompt = sent_prompt(editor)
    assert prompt.startswith("Explain.")
    assert "src/a.py" in prompt
    assert "typed = 1\non disk\n" in prompt


@pytest.mark.parametrize(
    ("encoding", "start", "end"), [("utf-8", 5, 9), ("utf-16", 3, 5), ("utf-32", 2, 3)]
)
def test_a_range_of_the_context_is_in_the_negotiated_encoding(
    project: Project, encoding: str, start: int, end: int
) -> None:
    path = project.file("a.txt", "first\na😀𝄞z\nlast\n")
    general = {"general": {"positionEncodings": [encoding]}}
    editor = project.editor(step("Read."), capabilities=general)
    document = editor.open(path)
    range_ = {"start": {"line": 1, "character": start}, "end": {"line": 1, "character": end}}
    editor.ask_agent("Explain.", context=[{"uri": document.uri, "range": range_}])
    prompt = sent_prompt(editor)
    assert "\n𝄞\n" in prompt
    assert "😀" not in prompt
    assert "a.txt, lines 2-2" in prompt


def test_several_excerpts_go_in_their_order(project: Project) -> None:
    first, second = project.file("b.txt", "bbb\n"), project.file("a.txt", "aaa\n")
    editor = project.editor(step("Read."))
    uris = [editor.open(path).uri for path in (first, second)]
    editor.ask_agent("Explain.", context=[{"uri": uri} for uri in uris])
    prompt = sent_prompt(editor)
    assert prompt.index("bbb") < prompt.index("aaa")


def test_an_excerpt_is_of_the_text_when_the_prompt_was_sent(project: Project) -> None:
    editor = project.editor(step("Slow.", delay_ms=300), step("Read."))
    document = editor.open(project.file("a.txt", "old\n"))
    running = editor.prompt("First.")
    queued = editor.prompt("Second.", context=[{"uri": document.uri}])
    editor.type(document, 0, "typed later\n")
    editor.result(running)
    editor.result(queued)
    assert "old" in sent_prompt(editor)
    assert "typed later" not in sent_prompt(editor)


def test_images_reach_the_agent(project: Project) -> None:
    editor = project.editor(step("Seen."))
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
    editor.ask_agent("Look.", images=[{"mimeType": "image/png", "data": png}])
    messages = editor.call("agent/messages")["messages"]
    images = [block for block in messages[0]["content"] if block["type"] == "image"]
    assert [image["mimeType"] for image in images] == ["image/png"]


# While the agent is at work


def test_a_prompt_in_the_meantime_waits_for_its_turn(project: Project) -> None:
    editor = project.editor(step("First.", delay_ms=200), step("Second."), client=EVENTS)
    first, second = editor.prompt("One."), editor.prompt("Two.")
    editor.event("turnStarted", prompt="One.")
    state = editor.call("agent/state")
    assert state["busy"] is True
    assert len(state["queued"]) == 1
    assert [editor.result(answer)["text"] for answer in (first, second)] == ["First.", "Second."]
    starts = [event["prompt"] for event in editor.events("turnStarted")]
    assert starts == ["One.", "Two."]
    assert editor.events("queueChanged")[-1]["queued"] == []
    assert editor.call("agent/state")["busy"] is False


def test_a_prompt_that_would_not_wait_is_refused(project: Project) -> None:
    editor = project.editor(step("First.", delay_ms=300), step("Second."))
    first = editor.prompt("One.")
    error = editor.failure("agent/prompt", {"text": "Two.", "whenBusy": "reject"})
    assert (error.code, error.data["kind"]) == (-32803, "busy")
    assert editor.result(first)["text"] == "First."
    assert editor.ask_agent("Three.", whenBusy="reject")["text"] == "Second."  # idle: accepted


def test_what_is_said_while_the_agent_starts_or_idles_is_a_prompt(project: Project) -> None:
    editor = project.editor(step("First."), step("Second."), step("Third."))
    first = editor.prompt("One.")
    second = editor.request("agent/prompt", {"text": "Two.", "whenBusy": "steer"})
    turns = [editor.result(each) for each in (first, second)]
    assert [turn["text"] for turn in turns] == ["First.", "Second."]
    assert editor.ask_agent("Three.", whenBusy="steer")["text"] == "Third."


# Where it runs


def test_a_session_belongs_to_the_folder_of_the_first_context(project: Project) -> None:
    other = project.folder.with_name("bakery")
    other.mkdir()
    (other / "cake.txt").write_text("flour\n")
    agent = project.agent(step("", bash("pwd")), step("Done."))
    editor = project.editor(
        agent=agent, options=ALLOWED, client=EVENTS, folders=[project.folder, other]
    )
    document = editor.open(other / "cake.txt")
    there = editor.ask_agent("Where?", context=[{"uri": document.uri}])
    here = editor.ask_agent("Where?")
    assert there["sessionId"] != here["sessionId"]
    assert [
        str(folder) in text
        for folder, text in zip((other, project.folder), editor.tool_texts(), strict=True)
    ] == [True, True]
    again = editor.prompt("Again?", context=[{"uri": document.uri}])
    assert editor.result(again)["sessionId"] == there["sessionId"]
    sessions = {s["sessionId"]: s["cwd"] for s in editor.call("agent/sessions")["sessions"]}
    assert sessions == {there["sessionId"]: str(other), here["sessionId"]: str(project.folder)}


def test_without_a_folder_there_is_nothing_to_work_in(project: Project) -> None:
    editor = project.editor(step("Never."), folders=[])
    error = editor.failure("agent/prompt", {"text": "Go."})
    assert (error.code, error.data["kind"]) == (-32803, "noFolder")
    assert "folder" in error.message


def test_a_folder_that_is_opened_later_is_used(project: Project) -> None:
    editor = project.editor(step("Here."), folders=[])
    added = [{"uri": project.folder.as_uri(), "name": "shop"}]
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": added, "removed": []}})
    assert editor.ask_agent("Go.")["text"] == "Here."


def test_a_folder_that_is_removed_after_an_odd_one_came_is_not_worked_in(project: Project) -> None:
    editor = project.editor(step("Never."))
    odd = {"uri": 5, "name": "odd"}
    folder_change(editor, added=[odd])
    folder_change(editor, removed=[{"uri": project.folder.as_uri(), "name": "shop"}])
    assert editor.failure("agent/prompt", {"text": "Go."}).data["kind"] == "noFolder"
    assert wait_until(lambda: str(odd) in editor.stderr)


def test_a_folder_is_removed_though_what_is_added_with_it_is_no_list(project: Project) -> None:
    editor = project.editor(step("Never."))
    folder_change(editor, added=5, removed=[{"uri": project.folder.as_uri(), "name": "shop"}])
    assert editor.failure("agent/prompt", {"text": "Go."}).data["kind"] == "noFolder"


def folder_change(editor: Editor, **event: object) -> None:
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})


# Wrong params


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": " \n"}, "text"),
        ({}, "text"),
        ({"text": 5}, "text"),
        ({"text": "x", "whenBusy": "later"}, "whenBusy"),
        ({"text": "x", "context": [{}]}, "context.0.uri"),
        ({"text": "x", "context": [{"uri": "untitled:1"}]}, "context[0].uri"),
        ({"text": "x", "context": [{"uri": "file:///not/open.txt"}]}, "context[0].uri"),
        ({"text": "x", "images": [{"mimeType": "image/png"}]}, "images.0.data"),
    ],
)
def test_wrong_params_name_the_field(shared: Editor, params: Json, field: str) -> None:
    error = shared.failure("agent/prompt", params)
    assert error.code == -32602
    assert error.data == {"field": field}
    assert error.message.startswith(f"{field}: ")


def test_an_unknown_session_is_refused(shared: Editor) -> None:
    error = shared.failure("agent/prompt", {"text": "x", "sessionId": "s-none"})
    assert (error.code, error.data["kind"]) == (-32803, "unknownSession")
