"""What the embedded agent does in these tests: it reads, edits, writes and runs a command."""

import json
from pathlib import Path
from typing import Any

from support.stage import Editor, Json, embedded

DISK = "first line\nsecond line\nthird line\n"
#: What the editor shows: a line of it is not saved.
SHOWN = "first line\nTYPED\nsecond line\nthird line\n"
EDITED = "first line\nTYPED\nsecond line\nEDITED\nthird line\n"
WRITTEN = "WRITTEN\n" * 3


class Project:
    """A folder with an open file, and the script of an agent that works on it."""

    def __init__(self, folder: Path, nap: str, *, seconds: str = "0.3", pace: int = 5) -> None:
        folder.mkdir()
        self.folder = folder
        self.document = folder / "open.txt"
        self.document.write_text(DISK, encoding="utf-8")
        self.script = folder.with_name(f"{folder.name}.json")
        stubborn = f"trap '' TERM; env -i setsid sleep {nap} >/dev/null 2>&1 & "
        edit = {"oldText": "second line\n", "newText": "second line\nEDITED\n"}
        steps: list[Json] = [
            {
                "match": "^work",
                "text": "I will look at the file first, then change it.",
                "pace_ms": pace,
                "calls": [call("read", path="open.txt")],
            },
            {
                "text": "Now the changes.",
                "pace_ms": pace,
                "calls": [
                    call("edit", path="open.txt", edits=[edit]),
                    call("write", path="new.txt", content=WRITTEN),
                    call("bash", command=f"{stubborn}echo started; sleep {seconds}; echo over"),
                ],
            },
            {"text": "It is all done now.", "pace_ms": pace},
            {"match": "^again", "calls": [call("read", path="open.txt")]},
            {"text": "It is as you see it."},
            {"match": "^edit", "calls": [call("edit", path="open.txt", edits=[edit])]},
            {"text": "It is changed."},
            {"match": "^write", "calls": [call("write", path="new.txt", content=WRITTEN)]},
            {"text": "It is written."},
            {
                "match": "^run",
                "calls": [call("bash", command=f"{stubborn}sleep 0.2; echo started; sleep {nap}")],
            },
            {"text": "It was run."},
            {"match": "^talk", "text": "word " * 2000, "pace_ms": 10},
        ]
        self.script.write_text(json.dumps({"steps": steps}), encoding="utf-8")

    def open(self, editor: Editor) -> str:
        return editor.open(self.document, SHOWN)

    @property
    def agent(self) -> Json:
        return embedded(self.script)

    @property
    def options(self) -> Json:
        return {"agent": "embedded", "agents": {"embedded": self.agent}}


def call(name: str, **args: Any) -> Json:
    return {"name": name, "args": args}


def check_document(editor: Editor, uri: str, session: str | None = None) -> str:
    """Nothing is lost or doubled, and the agent reads what the editor shows; that text."""
    editor.works(session, "again")
    text = editor.texts[uri]
    assert text in (SHOWN, EDITED)
    result = editor.events(type="toolResult")[-1]
    assert result["content"][0]["text"].strip() == text.strip(), result
    assert not result["isError"]
    return text
