"""What happens to a document in the middle of an edit: review, closing, opening, a second agent."""

import threading
from pathlib import Path

import pytest
from rounds import text_of
from support.project import call, edit, step, write
from support.raw_client import Json
from support.scripted_editor import POINTS, POLICIES, Point
from typing_client import Shown, TypingClient, TypingProject

CHECKS, NOTHING = POLICIES[0], POLICIES[8]
TEXT = "one\r\ntwo 😀\r\nthree\r\n"


def keys_at(client: TypingClient, *points: Point) -> list[str]:
    """Types a key before "two" at these points of every edit; the keys."""
    typed: list[str] = []

    def keys(shown: Shown, point: Point, send: int) -> None:
        if point in points and send == 1:
            typed.append(f"«{len(typed)}»")
            client.press(shown, shown.text.find("t"), typed[-1])

    client.keys = keys
    return typed


def statuses(client: TypingClient) -> list[str]:
    return [each["status"] for each in client.call("agent/edits")["edits"]]


def read(client: TypingClient) -> str:
    client.flush_all()
    turn = client.ask_agent("Read.")["turnId"]
    (event,) = client.events("toolResult", turnId=turn)
    return event["content"][0]["text"]


@pytest.mark.parametrize("point", [point for point in POINTS if point != "before retry"])
def test_an_accepted_proposal_is_in_beside_what_is_typed(
    project: TypingProject, point: Point
) -> None:
    path = project.file("a.txt", TEXT)
    steps = [step("", edit("a.txt", "one", "ONE")), step(), step("", call("read", path="a.txt"))]
    client = project.client(CHECKS, "utf-16", *steps, step(), edits={"review": "before"})
    shown = client.show(path)
    typed = keys_at(client, point)
    (proposed,) = client.ask_agent("Go.")["edits"]
    assert (proposed["status"], shown.text, typed) == ("proposed", TEXT, [])
    if point == "before send":
        client.press(shown, 5, "«0»")
        typed.append("«0»")
    answer = client.call("agent/applyEdit", {"editId": proposed["editId"]})
    assert (answer["applied"], answer["edit"]["status"]) == (True, "applied")
    assert shown.text.count("ONE") == 1
    assert [shown.text.count(key) for key in typed] == [1]
    assert read(client) == shown.text


@pytest.mark.parametrize("policy", [CHECKS, NOTHING], ids=lambda policy: policy.name)
def test_an_edit_without_review_is_kept_beside_what_is_typed(
    project: TypingProject, policy: object
) -> None:
    assert policy in POLICIES
    path = project.file("a.txt", TEXT)
    steps = [step("", edit("a.txt", "one", "ONE")), step(), step("", call("read", path="a.txt"))]
    client = project.client(policy, "utf-8", *steps, step(), edits={"review": "off"})  # type: ignore[arg-type]
    shown = client.show(path)
    typed = keys_at(client, "before apply", "same didChange", "unanswered")
    (kept,) = client.ask_agent("Go.")["edits"]
    assert (kept["status"], statuses(client)) == ("kept", ["kept"])
    assert shown.text.count("ONE") == 1
    assert typed
    assert {shown.text.count(key) for key in typed} == {1}
    assert read(client) == shown.text


def test_a_whole_text_does_not_take_out_what_was_typed_since_it_was_read(
    project: TypingProject,
) -> None:
    path = project.file("a.txt", TEXT)
    whole = TEXT.replace("one", "ONE").replace("\r\n", "\n")
    client = project.client(
        NOTHING,
        "utf-32",
        step("", call("read", path="a.txt")),
        step(),
        step("", write("a.txt", whole)),
        step(),
    )
    shown = client.show(path)
    client.ask_agent("Read.")
    client.press(shown, len(TEXT), "typed before\r\n")
    typed = keys_at(client, "before apply", "same didChange", "unanswered")
    (applied,) = client.ask_agent("Write.")["edits"]
    assert applied["status"] == "applied"
    bare = shown.text
    for key in typed:
        assert bare.count(key) == 1
        bare = bare.replace(key, "")
    assert bare == TEXT.replace("one", "ONE") + "typed before\r\n"


def test_a_whole_text_for_lines_that_were_typed_in_is_refused(project: TypingProject) -> None:
    path = project.file("a.txt", TEXT)
    client = project.client(
        CHECKS,
        "utf-16",
        step("", call("read", path="a.txt")),
        step(),
        step("", write("a.txt", TEXT.replace("one", "ONE"))),
        step(),
    )
    shown = client.show(path)
    client.ask_agent("Read.")
    client.press(shown, 1, "typed")
    assert client.ask_agent("Write.")["edits"] == []
    assert client.tool_texts()[-1].startswith("a.txt changed since you read it")
    assert shown.text == TEXT.replace("one", "otypedne")


def test_a_new_file_that_is_opened_and_typed_in_takes_the_next_edit(
    project: TypingProject,
) -> None:
    steps = [
        step("", write("new.txt", "one\ntwo\n")),
        step(),
        step("", edit("new.txt", "one", "ONE")),
        step(),
        step("", call("read", path="new.txt")),
        step(),
    ]
    client = project.client(CHECKS, "utf-16", *steps)
    (made,) = client.ask_agent("Make it.")["edits"]
    path: Path = project.folder / "new.txt"
    assert (made["status"], path.read_text()) == ("applied", "one\ntwo\n")
    shown = client.show(path)
    client.press(shown, 4, "typed ")
    (edited,) = client.ask_agent("Edit it.")["edits"]
    assert (edited["status"], shown.text) == ("applied", "ONE\ntyped two\n")
    assert path.read_text() == "one\ntwo\n"
    assert read(client) == shown.text


def test_a_file_that_the_editor_is_writing_is_not_what_a_command_made_of_it(
    project: TypingProject,
) -> None:
    path = project.file("a.txt", TEXT)
    client = project.client(NOTHING, "utf-16", step("", call("bash", command="make it")), step())
    shown = client.show(path)
    client.press(shown, 0, "typed ")
    client.flush_all()
    turn = client.prompt("Make it.")
    question = client.event("questionAsked")["question"]["questionId"]
    path.write_bytes(b"")  # most editors write into the emptied file
    client.command("answer", {"questionId": question, "optionId": "deny"})
    written = threading.Timer(0.4, client.save_by_hand, [shown])
    written.start()
    ended = client.result(turn)
    written.join()
    assert "Not run" in client.tool_texts()[-1]
    assert ended["edits"] == client.call("agent/edits")["edits"] == []
    assert shown.text == path.read_bytes().decode() == "typed " + TEXT


class Interrupted:
    """A document that is closed in the middle of its first edit, saved with what was typed."""

    def __init__(self, project: TypingProject, *, applied: bool, reopened: bool) -> None:
        self.path = project.file("a.txt", TEXT)
        steps = [step("", edit("a.txt", "one", "ONE")), step()]
        steps += [step("", call("read", path="a.txt")), step()]
        self.client = project.client(CHECKS, "utf-16", *steps)
        shown = self.client.show(self.path)
        self.again: Shown | None = None

        def keys(_: Shown, point: Point, send: int) -> None:
            if shown.open and point == ("same didChange" if applied else "before apply"):
                self.client.press(shown, shown.text.find("two"), "typed ")
                self.client.save_by_hand(shown)
                self.client.hide(shown)
                if reopened:
                    self.again = self.client.show(self.path)

        self.client.keys = keys
        (self.edit,) = self.client.ask_agent("Go.")["edits"]


AFTER = TEXT.replace("one", "ONE").replace("two", "typed two")


@pytest.mark.parametrize("applied", [False, True])
def test_an_edit_of_a_document_that_is_closed_meanwhile_is_in_once(
    project: TypingProject, applied: bool
) -> None:
    cut = Interrupted(project, applied=applied, reopened=False)
    assert (cut.edit["status"], cut.path.read_bytes().decode()) == ("applied", AFTER)
    assert read(cut.client) == AFTER


@pytest.mark.parametrize("applied", [False, True])
def test_an_edit_of_a_document_that_is_reopened_meanwhile_is_in_once(
    project: TypingProject, applied: bool
) -> None:
    cut = Interrupted(project, applied=applied, reopened=True)
    assert cut.again is not None
    assert (cut.edit["status"], cut.again.text) == ("applied", AFTER)
    assert read(cut.client) == AFTER


def test_two_sessions_edit_one_document_beside_a_typist(project: TypingProject) -> None:
    count = 10
    text = text_of("CRLF", 4 * count + 2)
    path = project.file("doc.txt", text)

    def steps(session: int) -> list[Json]:
        return [
            step("", edit("doc.txt", f"target{4 * n + 2 * session} ", f"AGENT{session}.{n}~ "))
            for n in range(count)
        ]

    second = project.agent(*steps(1), step("Done."))
    client = project.client(
        NOTHING,
        "utf-16",
        agents={"scripted": project.agent(*steps(0), step("Done.")), "second": second},
    )
    shown = client.show(path)
    sessions = [
        client.call("agent/newSession", {"agent": name})["sessionId"]
        for name in ("scripted", "second")
    ]
    over = threading.Event()
    keys: list[str] = []

    def type_on() -> None:
        while not over.wait(0.05):
            keys.append(f"«{len(keys)}😀»")
            with client.lock:
                client.press(shown, shown.text.index(f"l{len(keys) % 40} "), keys[-1])

    typist = threading.Thread(target=type_on)
    typist.start()
    try:
        prompts = [client.prompt("Go.", sessionId=session) for session in sessions]
        results = [client.result(prompt, 60) for prompt in prompts]
    finally:
        over.set()
        typist.join()
    for session, result in enumerate(results):
        assert [each["status"] for each in result["edits"]] == ["applied"] * count
        assert {shown.text.count(f"AGENT{session}.{n}~") for n in range(count)} == {1}
    assert keys
    assert {shown.text.count(key) for key in keys} == {1}
