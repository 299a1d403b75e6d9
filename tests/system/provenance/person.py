"""The person at an editor: buffers of their own, with the undo of an editor.

Undo and redo go back and forth by whole steps; each edit that the server sends is a step of its
own, as in Neovim and VS Code. What the buffers tell the server is computed here, in UTF-16.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from provenance.oracle import State

Json = dict[str, Any]


def offset_of(text: str, position: Json) -> int:
    """Where an LSP position is."""
    at = 0
    for _ in range(position["line"]):
        end = text.find("\n", at)
        if end < 0:
            return len(text)
        at = end + 1
    units = position["character"]
    while units > 0 and at < len(text) and text[at] != "\n":
        units -= 2 if ord(text[at]) > 0xFFFF else 1
        at += 1
    return at


def position_of(text: str, offset: int) -> Json:
    before = text[:offset]
    start = before.rfind("\n") + 1
    character = len(before[start:].encode("utf-16-le")) // 2
    return {"line": before.count("\n"), "character": character}


def edited(text: str, edits: list[Json]) -> str:
    """After LSP's text edits, all of which mean ``text`` itself."""
    spans = [
        (offset_of(text, edit["range"]["start"]), offset_of(text, edit["range"]["end"]), number)
        for number, edit in enumerate(edits)
    ]
    for start, end, number in sorted(spans, reverse=True):
        text = text[:start] + edits[number]["newText"] + text[end:]
    return text


def change(before: str, after: str) -> Json:
    """One content change, without what both begin and end with."""
    most = min(len(before), len(after))
    head = next((i for i in range(most) if before[i] != after[i]), most)
    most -= head
    tail = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    return {
        "range": {
            "start": position_of(before, head),
            "end": position_of(before, len(before) - tail),
        },
        "text": after[head : len(after) - tail],
    }


@dataclass
class Buffer:
    """An open document. ``disk`` is what the editor believes to be on disk."""

    uri: str
    path: Path
    state: State
    disk: str
    version: int = 1
    undone: list[State] = field(default_factory=list)
    done: list[State] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.state.text

    @property
    def dirty(self) -> bool:
        return self.text != self.disk

    def step(self, state: State) -> Json | None:
        """A step that can be undone; what to tell the server of it."""
        if state.text == self.text:
            self.state = state
            return None
        self.done.append(self.state)
        self.undone.clear()
        return self._becomes(state)

    def undo(self) -> Json | None:
        if not self.done:
            return None
        self.undone.append(self.state)
        return self._becomes(self.state.back_to(self.done.pop()))

    def redo(self) -> Json | None:
        if not self.undone:
            return None
        self.done.append(self.state)
        return self._becomes(self.state.back_to(self.undone.pop()))

    def _becomes(self, state: State) -> Json:
        told = change(self.text, state.text)
        self.state = state
        self.version += 1
        return {
            "textDocument": {"uri": self.uri, "version": self.version},
            "contentChanges": [told],
        }
