"""A conversation as the extension keeps it, made from the server's events."""

from typing import Any

import pytest
from support.vscode_modules import returned

Json = dict[str, Any]

pytestmark = [pytest.mark.vscode]

TAKEN = """
const chat = transcript.newChat('s');
for (const event of argument) transcript.take(chat, { sessionId: 's', seq: 0, time: 0, ...event });
return chat.turns.map(({ id, state }) => [id, state]);
"""
JOINED = "return argument.reduce(drafts.joined)"


def turns(*events: Json) -> list[list[str]]:
    """Each with its state."""
    return returned(TAKEN, events, transcript="chat/transcript")


@pytest.mark.parametrize("later", ["editKept", "editRejected", "questionAnswered"])
def test_what_is_decided_of_a_turn_that_is_not_in_the_chat_begins_none(later: str) -> None:
    edit = {"editId": "e", "uri": "file:///a", "status": "kept"}
    told = {"type": later, "turnId": "old"}
    event = {**told, "edit": edit} if "edit" in later else {**told, "questionId": "q"}
    assert turns(event) == []
    begun = {"type": "turnStarted", "turnId": "new", "prompt": "Go"}
    ended = {"type": "turnEnded", "turnId": "new", "stopReason": "endTurn"}
    assert turns(begun, event, ended) == [["new", "ended"]]


def test_a_turn_that_ends_before_it_began_has_ended() -> None:
    told = {"type": "turnEnded", "turnId": "t", "stopReason": "error", "error": "no program"}
    assert turns(told) == [["t", "ended"]]


def test_prompts_that_did_not_go_out_are_put_together_in_order() -> None:
    file = {"uri": "file:///a", "label": "a"}
    image = {"label": "image 1", "mimeType": "image/png", "data": ""}
    drafts = [
        {"text": "One", "attachments": [file], "images": []},
        {"text": "Two", "attachments": [file], "images": [image]},
        {"text": "", "attachments": [], "images": []},
    ]
    told = returned(JOINED, drafts, drafts="chat/drafts")
    assert told == {"text": "One\n\nTwo", "attachments": [file], "images": [image]}


def test_a_prompt_made_from_a_document_is_shown_shortened() -> None:
    prompts = ["Fix it", "one\ntwo\nthree\nfour", "x" * 300]
    told = returned(
        "return argument.map(transcript.excerpt)", prompts, transcript="chat/transcript"
    )
    assert told == ["Fix it", "one\ntwo\nthree …", "x" * 200 + " …"]


def fitting(query: str, *files: str) -> list[str]:
    return returned(
        "return fitting.fitting(...argument, 20)", [files, query], fitting="chat/fitting"
    )


def test_a_file_is_found_by_a_name_with_blanks_and_by_letters_of_its_path() -> None:
    files = ("docs/my notes.txt", "docs/notes.txt", "src/closed.py")
    assert fitting("my no", *files) == ["docs/my notes.txt"]
    assert fitting("notes", *files) == ["docs/notes.txt", "docs/my notes.txt"]
    assert fitting("srcl", *files) == ["src/closed.py"]


def test_words_behind_a_name_are_not_taken_for_a_name() -> None:
    assert fitting("notes.txt and", "docs/notes.txt", "notes.txt and so on for a day") == [
        "notes.txt and so on for a day"
    ]
    assert fitting("a b", "an old book") == []


def test_folders_are_offered_behind_files() -> None:
    files = ("src/chat/view.ts", "src/chat.ts", "a.txt")
    assert fitting("chat", *files) == ["src/chat.ts", "src/chat/", "src/chat/view.ts"]
    assert fitting("src/c", *files) == ["src/chat/view.ts", "src/chat.ts", "src/chat/"]


@pytest.mark.parametrize(
    ("query", "glob"),
    [
        ("view", "**/*[vV][iI][eE][wW]*"),
        ("my a.b", "**/*[mM][yY] [aA].[bB]*"),
        ("a[1]{*", "**/*[aA]?1???*"),
        ("straße", "**/*[sS][tT][rR][aA]ß[eE]*"),
        ("src/a", None),
        ("", None),
    ],
)
def test_a_large_workspace_is_searched_by_name(query: str, glob: str | None) -> None:
    assert (
        returned("return fitting.globOf(argument) ?? null", query, fitting="chat/fitting") == glob
    )
