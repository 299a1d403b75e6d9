"""Params and results of the methods on edits, their review and revert (``methods.METHODS``)."""

from typing import Literal

from lsp_agent.protocol.edits import Edit, EditStatus, Position, Range
from lsp_agent.protocol.session_methods import SessionParams
from lsp_agent.protocol.wire_model import Model


class EditParams(Model, extra="forbid"):
    """``editId`` may be left out in the command's form where one edit is meant."""

    edit_id: str
    hunks: list[str] | None = None


class RejectEditParams(EditParams):
    reason: str | None = None


class ApplyEditResult(Model):
    applied: bool
    failure_reason: str | None = None
    edit: Edit


class EditResult(Model):
    edit: Edit


class EditTextResult(Model):
    """Whole texts, for a diff view."""

    before: str
    after: str


class EditsParams(Model, extra="forbid"):
    """All sessions' edits if no session is named. ``open``: those that wait for a decision, and of
    those that are in only the hunks that do; the places of others take longer to find."""

    session_id: str | None = None
    uri: str | None = None
    status: EditStatus | None = None
    open: bool = False


class EditsResult(Model):
    edits: list[Edit]


class ReviewAllParams(Model, extra="forbid"):
    """All that is open and fits what is named: everything if nothing is."""

    session_id: str | None = None
    turn_id: str | None = None
    uri: str | None = None


class UnappliedEdit(Model):
    """An edit that did not get in, and why."""

    edit_id: str
    failure_reason: str


class ApplyAllResult(EditsResult):
    """``failures`` are those of ``edits`` that did not get in."""

    failures: list[UnappliedEdit]


class NextChangeParams(Model):
    """From ``position`` in ``uri`` on; without it the file's first, without ``uri`` the one after
    the last that was asked for. ``previous`` goes the other way."""

    uri: str | None = None
    position: Position | None = None
    previous: bool = False


class NextChangeResult(Model):
    """Empty where nothing is open."""

    uri: str | None = None
    range: Range | None = None
    edit_id: str | None = None
    hunk_id: str | None = None


class PreviewEditResult(Model):
    """A unified diff. ``uri`` is the file that the command has shown it in."""

    text: str
    uri: str | None = None


class RevertParams(SessionParams, extra="forbid"):
    """The turn and the later ones of its session; with ``only`` that one alone. Without
    ``turnId`` the session's last turn of which anything is in; a ``revertId`` takes that revert
    back."""

    turn_id: str | None = None
    only: bool = False


class RevertedFile(Model):
    """``reason`` says why a file was left as it is (``conflict``), or what is to be known."""

    uri: str
    outcome: Literal["restored", "merged", "created", "deleted", "conflict", "unchanged"]
    reason: str | None = None


class RevertResult(Model):
    revert_id: str
    files: list[RevertedFile]
