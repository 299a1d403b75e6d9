"""The custom methods: one table of names, params and results.

The handlers, the commands (``workspace/executeCommand`` twins) and ``docs/protocol.md`` are made
from :data:`METHODS`. ``initialize`` is answered before this module is imported, so the names stand
once more in ``server/capabilities.py``; a test compares. Optional params may be left out or null.
Those by which much is meant when they are left out forbid unknown keys: a misspelt one would be
as good as none.
"""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, JsonValue

from lsp_agent.protocol.edits import Edit, EditStatus, EditSummary, Position, Range
from lsp_agent.protocol.model import Model
from lsp_agent.protocol.questions import Question

PROTOCOL_VERSION = 1


class Empty(Model):
    """No fields."""


class SessionParams(Model):
    """Without ``sessionId``: the default session."""

    session_id: str | None = None


class ContextItem(Model):
    """A document, or a range of it, whose text is sent along with the prompt."""

    uri: str
    range: Range | None = None


class ImageInput(Model):
    """``data`` is base64."""

    mime_type: str
    data: str


class PromptParams(SessionParams):
    text: str
    context: tuple[ContextItem, ...] = ()
    images: tuple[ImageInput, ...] = ()
    when_busy: Literal["queue", "steer", "reject"] = "queue"
    work_done_token: str | int | None = None


class PromptStarted(Model):
    """What ``lspAgent.prompt`` answers at once."""

    session_id: str
    turn_id: str


class PromptResult(Model):
    """At the turn's end; ``text`` is the last step's."""

    session_id: str
    turn_id: str
    stop_reason: Literal["endTurn", "maxTokens", "maxSteps", "refusal", "aborted", "error"]
    text: str
    error: str | None = None
    usage: dict[str, JsonValue] | None = None
    edits: tuple[EditSummary, ...] = ()


class AbortParams(SessionParams, extra="forbid"):
    """With the ``turnId`` of a queued turn, only that one is dropped."""

    turn_id: str | None = None


class AbortResult(Model):
    aborted: bool


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
    """All sessions' edits if no session is named."""

    session_id: str | None = None
    uri: str | None = None
    status: EditStatus | None = None


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


class OptionValue(Model):
    value: str
    name: str
    description: str | None = None


class Option(Model):
    """What the agent is set to, such as its mode or how much it thinks; ``value`` is one of
    ``values``."""

    id: str
    name: str
    description: str | None = None
    value: str
    values: list[OptionValue]


class OptionsResult(Model):
    """All options as they are now."""

    options: list[Option]


class SetOptionParams(SessionParams):
    id: str
    value: str


class StateResult(Model):
    """``usage`` is the session's so far; ``capabilities`` has one boolean a feature. ``config`` is
    the agent's own configuration, where it tells it, with "…" for each secret."""

    session_id: str
    agent: str
    wire: str
    model: str | None = None
    provider: str | None = None
    cwd: str
    busy: bool
    turn_id: str | None = None
    queued: list[str]
    message_count: int
    usage: dict[str, JsonValue]
    hosting: Literal["starting", "hosted", "mirror"]
    capabilities: dict[str, bool]
    options: list[Option]
    questions: list[Question]
    agents: list[str]
    config: dict[str, JsonValue] | None = None


class MessagesResult(Model):
    messages: list[dict[str, JsonValue]]


class LastAnswerResult(Model):
    """All that the agent said in that turn. ``uri`` is the file that the command has shown it
    in."""

    session_id: str
    turn_id: str
    text: str
    uri: str | None = None


class ModelInfo(Model):
    id: str
    provider: str
    context_window: int | None = None
    max_output: int | None = None
    reasoning: bool | None = None


class ModelsResult(Model):
    models: list[ModelInfo]
    current: str | None = None


class SetModelParams(SessionParams):
    model: str = Field(min_length=1)


class CompactResult(Model):
    summary: str


class SessionInfo(Model):
    """``stored``: it is not open here, and can be resumed unless another server has it open
    (``elsewhere``). Times are seconds since 1970."""

    session_id: str
    agent: str
    cwd: str
    status: Literal["starting", "idle", "running", "closing", "closed", "failed", "elsewhere"]
    title: str | None = None
    model: str | None = None
    stored: bool
    created: float
    updated: float


class SessionsResult(Model):
    sessions: list[SessionInfo]


class AgentSession(Model):
    """``ref`` is for ``agent/newSession``; ``updated`` in seconds since 1970."""

    ref: str
    title: str | None = None
    updated: float | None = None


class AgentSessionsResult(Model):
    sessions: list[AgentSession]


class NewSessionParams(Model):
    """``agent`` is a name of the settings; ``cwd`` a folder of the workspace (path or URI). With
    ``ref`` it goes on with one of the agent's own sessions (``agent/agentSessions``)."""

    agent: str | None = None
    cwd: str | None = None
    model: str | None = None
    ref: str | None = None


class SessionResult(Model):
    session_id: str


class StoredSessionParams(Model):
    session_id: str


class RenameSessionParams(StoredSessionParams):
    title: str = Field(min_length=1, max_length=200)


class ExportResult(Model):
    markdown: str


class CommandInfo(Model):
    name: str
    description: str | None = None


class CommandsResult(Model):
    commands: list[CommandInfo]


class RunCommandParams(SessionParams):
    name: str
    args: str | None = None


class RunCommandResult(Model):
    """What is to be done with ``text``: prompt with it, insert it at the cursor, show it, or
    nothing. The command's form has done so as far as it can: it prompts (``turnId``) and shows."""

    action: Literal["prompt", "insert", "display", "noop"]
    text: str | None = None
    turn_id: str | None = None


class AnswerParams(Model):
    """Without ids: the one open question, or the server asks which."""

    question_id: str | None = None
    option_id: str | None = None


class AnswerResult(Model):
    answered: bool


class ShowQuestionParams(Model):
    """Without an id: the one open question."""

    question_id: str | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A custom request ``agent/<name>`` and its command ``lspAgent.<name>``."""

    name: str
    params: type[Model]
    result: type[Model]
    summary: str
    command_result: type[Any] | None = None  # where the command answers something else

    @property
    def method(self) -> str:
        return f"agent/{self.name}"

    @property
    def command(self) -> str:
        return f"lspAgent.{self.name}"


METHODS: tuple[Method, ...] = (
    Method("prompt", PromptParams, PromptResult, "Runs one turn.", PromptStarted),
    Method("abort", AbortParams, AbortResult, "Ends the running turn and drops the queue."),
    Method("applyEdit", EditParams, ApplyEditResult, "Puts a proposed edit into the workspace."),
    Method("rejectEdit", RejectEditParams, EditResult, "Drops a proposal, or takes an edit out."),
    Method("keepEdit", EditParams, EditResult, "Ends the review of an applied edit."),
    Method("editText", EditParams, EditTextResult, "The whole texts before and after an edit."),
    Method("edits", EditsParams, EditsResult, "The agents' edits, with their hunks."),
    Method("keepAll", ReviewAllParams, EditsResult, "Ends the review of all applied edits."),
    Method("undoAll", ReviewAllParams, EditsResult, "Takes all open hunks out, drops proposals."),
    Method("applyAll", ReviewAllParams, ApplyAllResult, "Puts all proposals into the workspace."),
    Method("nextChange", NextChangeParams, NextChangeResult, "Shows the next open hunk."),
    Method("previewEdit", EditParams, PreviewEditResult, "An edit as a unified diff."),
    Method("revert", RevertParams, RevertResult, "Takes a turn back."),
    Method("state", SessionParams, StateResult, "What a session is and does."),
    Method("messages", SessionParams, MessagesResult, "A session's transcript."),
    Method("lastAnswer", SessionParams, LastAnswerResult, "What the agent said last."),
    Method("models", SessionParams, ModelsResult, "The models of a session's agent."),
    Method("setModel", SetModelParams, StateResult, "Switches the model."),
    Method("options", SessionParams, OptionsResult, "What the agent can be set to."),
    Method("setOption", SetOptionParams, OptionsResult, "Sets an option of the agent's."),
    Method("compact", SessionParams, CompactResult, "Summarises the transcript."),
    Method("clear", SessionParams, Empty, "Drops the transcript."),
    Method("sessions", Empty, SessionsResult, "The sessions, the newest first."),
    Method(
        "agentSessions",
        SessionParams,
        AgentSessionsResult,
        "The sessions that the agent itself keeps of the folder.",
    ),
    Method("newSession", NewSessionParams, SessionResult, "Opens a session."),
    Method("closeSession", SessionParams, Empty, "Ends a session and its agent."),
    Method("resumeSession", StoredSessionParams, SessionResult, "Takes up a stored session."),
    Method("renameSession", RenameSessionParams, Empty, "Gives a session another title."),
    Method("exportSession", StoredSessionParams, ExportResult, "A session as Markdown."),
    Method("deleteSession", StoredSessionParams, Empty, "Ends a session and forgets it."),
    Method("commands", SessionParams, CommandsResult, "The agent's slash commands."),
    Method("runCommand", RunCommandParams, RunCommandResult, "Runs a slash command."),
)

#: Only a command: answers an open question in editors that cannot show one.
ANSWER_COMMAND = "lspAgent.answer"

#: Only a command: shows an open question whole, where a menu would cut it.
SHOW_QUESTION_COMMAND = "lspAgent.showQuestion"

#: Server to client, for clients that advertise the name of the last part (CONTRACT §4).
EVENT_NOTIFICATION = "agent/event"
ASK_REQUEST = "agent/ask"
SYNC_REQUEST = "agent/sync"
SAVE_REQUEST = "agent/saveDocument"
RELOAD_REQUEST = "agent/reloadDocument"
DIAGNOSTICS_REQUEST = "agent/diagnostics"


class AskAnswer(Model):
    option_id: str | None = None


class DocumentParams(Model):
    uri: str


class SaveAnswer(Model):
    saved: bool


class ReloadAnswer(Model):
    reloaded: bool


class DiagnosticsParams(Model):
    """Of these documents; of all if ``uris`` is left out."""

    uris: list[str] | None = None


class Diagnostic(Model):
    """LSP's own, as the editor has it; what is not named here is not looked at. ``severity``
    counts from 1, an error, to 4, a hint."""

    range: Range
    severity: int | None = None
    code: str | int | None = None
    source: str | None = None
    message: str


class FileDiagnostics(Model):
    uri: str
    diagnostics: list[Diagnostic]


class DiagnosticsAnswer(Model):
    """Each document that was asked for; of all documents those that have any."""

    files: list[FileDiagnostics]
