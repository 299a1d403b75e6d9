"""The custom methods: one table of names, params and results.

The handlers, the commands (``workspace/executeCommand`` twins) and ``docs/protocol.md`` are made
from :data:`METHODS`. ``initialize`` is answered before this module is imported, so the names stand
once more in ``server/client/capabilities.py``; a test compares. Optional params may be left out
or null.
Those by which much is meant when they are left out forbid unknown keys: a misspelt one would be
as good as none.
"""

from dataclasses import dataclass
from typing import Any

from lsp_agent.protocol.edit_methods import (
    ApplyAllResult,
    ApplyEditResult,
    EditParams,
    EditResult,
    EditsParams,
    EditsResult,
    EditTextResult,
    NextChangeParams,
    NextChangeResult,
    PreviewEditResult,
    RejectEditParams,
    RevertParams,
    RevertResult,
    ReviewAllParams,
)
from lsp_agent.protocol.rewind_methods import (
    ForkParams,
    ForkResult,
    PromptsResult,
    RewindParams,
    RewindResult,
)
from lsp_agent.protocol.session_methods import (
    AbortParams,
    AbortResult,
    AgentSessionsResult,
    AgentsResult,
    BackgroundCommandsResult,
    CommandsResult,
    CompactParams,
    CompactResult,
    Empty,
    ExportResult,
    ForkChatParams,
    ForkChatResult,
    LastAnswerResult,
    MessagesResult,
    ModelsResult,
    NewSessionParams,
    OpenChatParams,
    OpenChatResult,
    OptionsResult,
    PermissionsParams,
    PermissionsResult,
    PromptParams,
    PromptResult,
    PromptStarted,
    RenameSessionParams,
    RetryParams,
    RunCommandParams,
    RunCommandResult,
    SendChatParams,
    SendChatResult,
    SessionParams,
    SessionResult,
    SessionsResult,
    SetModelParams,
    SetOptionParams,
    StateResult,
    StopBackgroundCommandParams,
    StopBackgroundCommandResult,
    StoredSessionParams,
)
from lsp_agent.protocol.wire_model import Model

PROTOCOL_VERSION = 1


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
    Method("retry", RetryParams, PromptResult, "Runs the turn that failed again.", PromptStarted),
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
    Method("prompts", SessionParams, PromptsResult, "The prompts that one can go back to."),
    Method("rewind", RewindParams, RewindResult, "Goes back to before an earlier prompt."),
    Method("fork", ForkParams, ForkResult, "Opens a session from an earlier prompt on."),
    Method("state", SessionParams, StateResult, "What a session is and does."),
    Method("messages", SessionParams, MessagesResult, "A session's transcript."),
    Method("lastAnswer", SessionParams, LastAnswerResult, "What the agent said last."),
    Method("openChat", OpenChatParams, OpenChatResult, "Shows the conversation as a document."),
    Method("sendChat", SendChatParams, SendChatResult, "Sends the last section of a document."),
    Method("forkChat", ForkChatParams, ForkChatResult, "Goes on from an earlier prompt, beside."),
    Method("models", SessionParams, ModelsResult, "The models of a session's agent."),
    Method("agents", Empty, AgentsResult, "The agents that can be chosen here."),
    Method("setModel", SetModelParams, StateResult, "Switches the model."),
    Method("options", SessionParams, OptionsResult, "What the agent can be set to."),
    Method("setOption", SetOptionParams, OptionsResult, "Sets an option of the agent's."),
    Method("compact", CompactParams, CompactResult, "Summarises the transcript."),
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
    Method(
        "backgroundCommands",
        SessionParams,
        BackgroundCommandsResult,
        "The commands that the agent runs in the background.",
    ),
    Method(
        "stopBackgroundCommand",
        StopBackgroundCommandParams,
        StopBackgroundCommandResult,
        "Ends a background command, or all.",
    ),
    Method(
        "permissions",
        PermissionsParams,
        PermissionsResult,
        "The commands that are allowed for good; takes some back.",
    ),
)

#: Only a command: answers an open question in editors that cannot show one.
ANSWER_COMMAND = "lspAgent.answer"

#: Only a command: shows an open question whole, where a menu would cut it.
SHOW_QUESTION_COMMAND = "lspAgent.showQuestion"
