"""Params and results of the methods on sessions, turns and agents (``methods.METHODS``)."""

from typing import Literal

from pydantic import Field, JsonValue

from lsp_agent.protocol.edits import EditSummary, Range
from lsp_agent.protocol.questions import Question
from lsp_agent.protocol.wire_model import Model


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


class PromptLine(Model):
    """A line of an open document in which ``text`` asks for something: ``agent: what to do``."""

    uri: str
    line: int = Field(ge=0)
    text: str


class PromptParams(SessionParams):
    """``range``: "confined", where the agent may change only the ranges of ``context``. ``from``:
    the line that the prompt was written in, which the command takes out once it is sent."""

    text: str
    context: tuple[ContextItem, ...] = ()
    range: Literal["free", "confined"] = "free"
    images: tuple[ImageInput, ...] = ()
    when_busy: Literal["queue", "steer", "reject"] = "queue"
    work_done_token: str | int | None = None
    from_: PromptLine | None = Field(default=None, alias="from")


class RetryParams(SessionParams):
    work_done_token: str | int | None = None


class PromptStarted(Model):
    """What ``lspAgent.prompt`` and ``lspAgent.retry`` answer at once."""

    session_id: str
    turn_id: str


class OpenChatParams(SessionParams):
    """``new``: of a new session, in the folder of the named one."""

    new: bool = False


class OpenChatResult(Model):
    """``uri`` is the document's, which is shown."""

    session_id: str
    uri: str


class SendChatParams(Model):
    """Without ``uri``: the one conversation that is open."""

    uri: str | None = None


class SendChatResult(Model):
    """``turnId`` is absent where a command was run that prompts nothing."""

    session_id: str
    turn_id: str | None = None


class ForkChatParams(Model, extra="forbid"):
    """``line`` is one of an earlier prompt's; with ``send`` that is sent at once, from the new
    document."""

    uri: str
    line: int = Field(ge=0)
    send: bool = False


class ForkChatResult(Model):
    """``uri`` is the new document's, which is shown. ``sessionId`` is absent where the first Send
    from it begins the session."""

    uri: str
    session_id: str | None = None
    turn_id: str | None = None


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


class OptionValue(Model):
    value: str
    name: str
    description: str | None = None


class AgentOption(Model):
    """What the agent is set to, such as its mode or how much it thinks; ``value`` is one of
    ``values``."""

    id: str
    name: str
    description: str | None = None
    value: str
    values: list[OptionValue]


class OptionsResult(Model):
    """All options as they are now."""

    options: list[AgentOption]


class SetOptionParams(SessionParams):
    id: str
    value: str


class Window(Model):
    """How much of its window the model's last call has filled, in tokens; ``size`` is absent where
    nobody tells it."""

    used: int
    size: int | None = None


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
    window: Window | None = None
    hosting: Literal["starting", "hosted", "mirror"]
    capabilities: dict[str, bool]
    options: list[AgentOption]
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


class AgentInfo(Model):
    """An agent that can be chosen. ``path`` is where its program lies, null where it is not here;
    then ``install`` is the line that brings it. ``usable``: it is here, and the embedded one has a
    model. ``installCommand`` and ``signInCommand`` can be run in a terminal as they are, since
    their program is here. ``setting`` chooses it in the person's settings, as its ``name`` does in
    ``agent/newSession``."""

    name: str
    title: str
    configured: bool
    chosen: bool
    hosting: Literal["hosted", "mirror", "atStart"]
    path: str | None = None
    own_path: str | None = None
    usable: bool
    install: str | None = None
    install_command: str | None = None
    sign_in: str | None = None
    sign_in_command: str | None = None
    setting: str


class ModelServerInfo(Model):
    """A server of models on this machine, and the settings (TOML) by which the embedded agent uses
    the first of them."""

    title: str
    address: str
    models: list[str]
    setting: str


class AgentsResult(Model):
    agents: list[AgentInfo]
    servers: list[ModelServerInfo]


class SetModelParams(SessionParams):
    model: str = Field(min_length=1)


class CompactParams(SessionParams):
    """``instructions``: what the summary is to keep, for agents that can be told."""

    instructions: str = ""


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


class BackgroundCommandInfo(Model):
    """``toolCallId`` is the call that began it, ``since`` seconds since the epoch, ``lines`` the
    last that it said. ``exitCode`` is -1 after a signal."""

    id: str
    tool_call_id: str
    command: str
    since: float
    state: Literal["running", "ended"]
    exit_code: int | None = None
    seconds: float | None = None
    lines: list[str]


class BackgroundCommandsResult(Model):
    """Those that run, and some that have ended."""

    commands: list[BackgroundCommandInfo]


class StopBackgroundCommandParams(SessionParams):
    """Without ``id``: all of the session's."""

    id: str | None = None


class StopBackgroundCommandResult(Model):
    """The ids of those that ran."""

    stopped: list[str]


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
    """Without ids: the one open question, or the server asks which. ``reason``, beside an option
    of kind ``deny``, is for the agent to read."""

    question_id: str | None = None
    option_id: str | None = None
    reason: str | None = None


class KeptPermission(Model):
    """A command that the person has allowed for good: a ``pattern``, as ``pytest*``, or a whole
    line. ``folder`` is the project's path; without one it is allowed everywhere. ``since`` in
    seconds since the epoch."""

    permission_id: str
    kind: Literal["pattern", "command"]
    command: str
    folder: str | None = None
    since: float


class PermissionsParams(Model, extra="forbid"):
    """``remove`` names those that are to be asked about again."""

    remove: tuple[str, ...] = ()


class PermissionsResult(Model):
    """What is left, of all projects, the oldest first."""

    permissions: tuple[KeptPermission, ...]


class AnswerResult(Model):
    answered: bool


class ShowQuestionParams(Model):
    """Without an id: the one open question."""

    question_id: str | None = None
