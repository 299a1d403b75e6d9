"""Whether a call of an agent's may be: as the settings and earlier answers say, or a person."""

from collections.abc import Callable
from typing import Protocol

import anyio

from lsp_agent.agents.tool_host import Allow, Block, Gate, ToolRequest, Verdict
from lsp_agent.protocol.events import Notice
from lsp_agent.protocol.questions import Option
from lsp_agent.protocol.settings import Settings
from lsp_agent.sessions.late_answers import LateAnswers
from lsp_agent.sessions.permissions import Judgement, Permissions
from lsp_agent.sessions.questions import Emitter
from lsp_agent.sessions.services import Services
from lsp_agent.sessions.unwritten import Unwritten
from lsp_agent.wires.tool_kinds import tool_kind

#: The agent waits 60 s for a file tool's answer and 4 s for whether another call may run; only a
#: command's gate has all the time. The question stays open for the next call alike.
_CONSENT_SECONDS = 50.0
_VERDICT_SECONDS = 3.0
_NOT_YET = (
    "Not run yet: the user is still being asked whether it may. Make the same call once more to"
    " wait for the answer, or go on without it."
)
STOPPED = "Not run: the user stopped this turn."


class TurnView(Protocol):
    """What the tools need to know of the running turn."""

    @property
    def turn_id(self) -> str | None: ...
    @property
    def stopped(self) -> bool: ...
    @property
    def hosts_files(self) -> bool: ...
    def still_wanted(self) -> Callable[[], bool]: ...


class Consent:
    """What is decided of one session's calls, before they run."""

    def __init__(
        self,
        services: Services,
        session_id: str,
        cwd: str,
        turn: TurnView,
        emit: Emitter,
        settings: Callable[[], Settings],
        permissions: Permissions,
    ) -> None:
        self._questions = services.questions
        self._session_id = session_id
        self._turn = turn
        self._emit = emit
        self._settings = settings
        self._permissions = permissions
        self._unwritten = Unwritten(services, session_id, cwd)
        self._late_answers = LateAnswers(services, self._asked)

    async def intercept(self, request: ToolRequest) -> Verdict:
        """A file call of a hosted agent comes to ``run``, which has the time to ask; any other
        call is decided here."""
        if self._turn.stopped:
            return Block(STOPPED)
        judgement = self._judge(request)
        kind = tool_kind(request.tool)
        match judgement.policy:
            case "deny":
                return Block(judgement.reason)
            case "ask" if self._turn.hosts_files and kind in ("read", "edit"):
                return Allow()
            case "ask":
                return Gate()
            case "allow":
                return self._allowed(request, unread=judgement.by_pattern)

    def _judge(self, request: ToolRequest) -> Judgement:
        """As the settings and grants say. What an agent writes to disk itself cannot be a
        proposal: with review before, the person is asked before each such call."""
        judgement = self._permissions.judge(request)
        held = (
            judgement.policy == "allow"
            and tool_kind(request.tool) == "edit"
            and not self._turn.hosts_files
            and self._settings().edits.review == "before"
            and not self._permissions.granted(request)
        )
        return Judgement("ask") if held else judgement

    async def decide(
        self, request: ToolRequest, *, patient: bool = False, brief: bool = False
    ) -> Allow | Block:
        """Asks the person. A command sees the disk, so the one question also offers to save.
        ``patient``: the agent waits for any call's answer as it does for a command's; ``brief``:
        it waits for a command's only as it does for a file call's."""
        if self._turn.stopped:
            return Block(STOPPED)
        judgement = self._judge(request)
        if judgement.policy == "allow":  # granted meanwhile
            return self._allowed(request, unread=judgement.by_pattern)
        if judgement.policy == "deny":  # the settings may change at any time
            return Block(judgement.reason)
        kind = tool_kind(request.tool)
        if (kind == "command" and not brief) or patient:
            return await self._follow(request, await self._asked(request))
        hosted = self._turn.hosts_files and kind in ("read", "edit")
        with anyio.move_on_after(_CONSENT_SECONDS if hosted or brief else _VERDICT_SECONDS):
            answer = await self._late_answers.wait(self._turn.turn_id, request)
            return await self._follow(request, answer)
        return Block(_NOT_YET)

    async def _follow(self, request: ToolRequest, answer: str | None) -> Allow | Block:
        if self._turn.stopped:
            return Block(STOPPED)
        if answer is None:
            return Block("Not run: the question whether to allow it was not answered.")
        if answer == "deny":
            return Block(f"Not run: the user declined this {_what(request)}.")
        judgement = self._permissions.judge(request)
        if judgement.policy == "deny":
            return Block(judgement.reason)
        if answer == "allowAndApply":
            await self._unwritten.apply()
        if answer in ("allowAndApply", "allowAndSave"):
            await self._unwritten.save()
        return self._allowed(request)

    def _grant(self, request: ToolRequest, answer: str, pattern: str | None) -> None:
        """Remembers the answer, and says what later calls are not asked for because of it."""
        granted = None
        if answer == "allowSession":
            granted = f"every {_what(request, request.tool)}"
        elif answer == "allowPattern":
            granted = f"command: {pattern}"
        self._permissions.grant(
            request,
            session=answer == "allowSession",
            pattern=pattern if answer == "allowPattern" else None,
        )
        if granted is not None:
            told = Notice("info", f"Allowed for this session: {granted}", "lsp-agent")
            self._emit(told, self._turn.turn_id)

    async def _asked(self, request: ToolRequest) -> str | None:
        """The person's answer, remembered where later calls are not to be asked for."""
        if self._turn.stopped:  # a question is closed with its turn
            return None
        pattern = self._permissions.offer(request)
        what = self._permissions.subject(request)
        is_command = tool_kind(request.tool) == "command"
        answer = await self._questions.ask(
            self._emit,
            session_id=self._session_id,
            turn_id=self._turn.turn_id,
            tool_call_id=request.tool_call_id,
            kind="permission",
            title=f"{request.tool}: {_one_line(what)}",
            detail=what + (self._unwritten.detail() if is_command else ""),
            options=_options(
                request,
                pattern,
                can_save=is_command and self._unwritten.can_save,
                can_apply=is_command and bool(self._unwritten.proposals()),
            ),
        )
        if answer not in (None, "deny") and not self._turn.stopped:
            self._grant(request, answer, pattern)
        if not self._turn.hosts_files:
            self._permissions.spend()
        return answer

    def _allowed(self, request: ToolRequest, *, unread: bool = False) -> Allow:
        is_command = tool_kind(request.tool) == "command"
        return Allow(self._unwritten.note() if is_command else None, unread)


def _what(request: ToolRequest, other: str = "call") -> str:
    return "command" if tool_kind(request.tool) == "command" else other


def _one_line(subject: str, limit: int = 120) -> str:
    first, _, rest = subject.strip().partition("\n")
    return first[:limit] + ("…" if rest or len(first) > limit else "")


def _options(
    request: ToolRequest, pattern: str | None, *, can_save: bool, can_apply: bool
) -> list[Option]:
    every = f"Allow every {_what(request, request.tool)} in this session"
    first = "Allow, applying proposals first" if can_apply else "Allow, saving files first"
    plain = "Allow as it is on disk" if can_save or can_apply else "Allow"
    options = [
        Option(option_id="allow", name=plain, kind="allowOnce"),
        Option(option_id="allowSession", name=every, kind="allowSession"),
        Option(option_id="deny", name="Deny", kind="deny"),
    ]
    if pattern is not None:
        name = f"Allow `{pattern}` in this session"
        options.insert(1, Option(option_id="allowPattern", name=name, kind="allowPattern"))
    if can_save or can_apply:
        option_id = "allowAndApply" if can_apply else "allowAndSave"
        options.insert(0, Option(option_id=option_id, name=first, kind="allowOnce"))
    return options
