"""Edits as clients see them: views of the ledger's changes."""

from typing import Literal

from lsp_agent.protocol.wire_model import Model

EditStatus = Literal[
    "proposed", "applied", "kept", "rejected", "superseded", "conflict", "lost", "unknown"
]


class Position(Model):
    """LSP's: 0-based line; ``character`` in units of the negotiated encoding."""

    line: int
    character: int


class Range(Model):
    start: Position
    end: Position


class Hunk(Model):
    """A run of changed lines; ``range`` is where it is in the document as it is now."""

    hunk_id: str
    status: EditStatus
    range: Range
    old_text: str
    new_text: str


class Edit(Model):
    """One change of one file by one tool call of an agent."""

    edit_id: str
    session_id: str
    turn_id: str | None = None
    tool_call_id: str | None = None
    uri: str
    status: EditStatus
    hunks: tuple[Hunk, ...] = ()


class EditSummary(Model):
    """An edit in a turn's result."""

    edit_id: str
    uri: str
    status: EditStatus
