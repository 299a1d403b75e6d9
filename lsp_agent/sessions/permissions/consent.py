"""Whether a call of an agent's may be: as the settings and earlier answers say, or a person."""

from collections.abc import Callable

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from lsp_agent.protocol.events import BackgroundCommand, Notice, ToolResult
from lsp_agent.protocol.questions import Answer, Option
from lsp_agent.protocol.settings.review import asks_first
from lsp_agent.sessions.permissions.decision_log import DecisionLog
from lsp_agent.sessions.permissions.granted_commands import GrantedCommands
from lsp_agent.sessions.permissions.holding import Holding
from lsp_agent.sessions.permissions.judge import Judgement, Permissions
from lsp_agent.sessions.permissions.late_answers import LateAnswers
from lsp_agent.sessions.permissions.unwritten import Unwritten
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.toolset.arguments import wants_background
from lsp_agent.toolset.calls import Allow, Block, Gate, Held, Outcome, ToolRequest, Verdict
from lsp_agent.toolset.kinds import tool_kind
from lsp_agent.user_data.command_log import DecidedBy

#: The agent waits 60 s for a file tool's answer and 4 s for whether another call may run; only a
#: command's gate has all the time. The question stays open for the next call alike.
_CONSENT_SECONDS = 50.0
_VERDICT_SECONDS = 3.0
_NOT_YET = (
    "Not run yet: the user is still being asked whether it may. Make the same call once more to"
    " wait for the answer, or go on without it."
)
#: In characters.
_LONGEST_REASON = 4000
_BETWEEN_TURNS = (
    "Not run: it has failed between turns, when the user is not asked. Start it once more to have"
    " them asked."
)
_BEHIND_A_PIPE = (
    "[This ran in a sandbox: {reason}. Its exit code is that of the last command behind a pipe, so"
    " the user is not asked. If the one before has failed, run it without the pipe to have them"
    " asked.]"
)
_UNANSWERED = "Not run: the question whether to allow it was not answered."
STOPPED = "Not run: the user stopped this turn."


class Consent:
    """What is decided of one session's calls, before they run. ``surely_hosts_files``: its file
    calls are known to come to us; ``runs_background``: its commands may go on beyond their calls.
    """

    def __init__(
        self,
        services: Services,
        session: SessionView,
        permissions: Permissions,
        surely_hosts_files: Callable[[], bool],
        runs_background: Callable[[], bool],
    ) -> None:
        self._questions = services.questions
        self._session = session
        self._permissions = permissions
        self._surely_hosts_files = surely_hosts_files
        self._runs_background = runs_background
        self._unwritten = Unwritten(services, session.id, session.cwd)
        self._late_answers = LateAnswers(services, self._asked)
        self._granted = GrantedCommands(services, session, permissions)
        #: One after the other, so that questions come in the order of the calls.
        self._looking = anyio.Lock()
        self._holding = Holding(session, services.confinement)
        self._log = DecisionLog(services, session, self._in_background)

    async def intercept(self, request: ToolRequest, *, can_hold: bool) -> Verdict:
        """A file call of a hosted agent comes to ``run``, which has the time to ask; any other
        call is decided here. ``can_hold``: who asks starts a command as a ``Held`` says; one of
        any other is asked about."""
        if self._session.stopped:
            return self._stopped(request)
        judgement = await self._judge(request)
        kind = tool_kind(request.tool)
        if self._session.stopped:
            return self._stopped(request)
        match judgement.policy:
            case "deny":
                return self._denied(request, judgement.reason, judgement.by)
            case "ask" if self._surely_hosts_files() and kind in ("read", "edit"):
                return Allow()
            case "ask":
                return Gate()
            case "sandbox":
                held = await self._held(request, judgement.store) if can_hold else None
                if self._session.stopped:
                    return self._stopped(request)
                if held is not None:
                    by = "keeping" if judgement.store else "sandbox"
                    self._log.decided(request, "allowed", by)
                return held or Gate()
            case "allow":
                return self._allowed(request, judgement.by, unread=judgement.by_pattern)

    def hosts_live_in(self, folder: str, tasks: TaskGroup) -> None:
        """What leads held commands to hosts has a socket in ``folder``, as long as ``tasks``."""
        self._holding.hosts.live_in(folder, tasks)

    async def _held(self, request: ToolRequest, store: str | None) -> Held | None:
        return await self._holding.held(self._unwritten.note(), request.tool_call_id, store)

    def returned(self, result: ToolResult) -> None:
        """A call has its result."""
        self._log.returned(result)

    def background(self, event: BackgroundCommand) -> None:
        """A command goes on beyond its call, or has ended."""
        self._log.background(event)

    async def _judge(self, request: ToolRequest) -> Judgement:
        """As the settings and grants say. What an agent writes to disk itself cannot be a
        proposal: with review before, the person is asked before each such call."""
        judgement = await self._judge_free(request)
        confinement = self._session.confinement
        if confinement is None:
            return judgement
        kind = tool_kind(request.tool)
        if kind == "command" and judgement.by != "reading":
            return Judgement("deny", confinement.no_command)
        if kind == "edit" and not self._surely_hosts_files():
            return Judgement("deny", confinement.no_own_edit)
        return judgement

    async def _judge_free(self, request: ToolRequest) -> Judgement:
        """As ``_judge``, of a turn that is not confined to lines."""
        if tool_kind(request.tool) == "command":
            async with self._looking:
                return await self._judge_command(request)
        judgement = self._permissions.judge(request)
        held = (
            judgement.policy == "allow"
            and tool_kind(request.tool) == "edit"
            and not self._surely_hosts_files()
            and asks_first(self._session.settings.edits.review)
            and not self._permissions.granted(request)
        )
        return Judgement("ask") if held else judgement

    async def _judge_command(self, request: ToolRequest) -> Judgement:
        judgement = await self._judged(request)
        if judgement.policy not in ("ask", "sandbox"):
            return judgement
        covered = await self._granted.covering(request)
        if covered is None:
            return judgement
        return Judgement("allow", by_pattern=covered.by_pattern, by=covered.by)

    async def _judged(self, request: ToolRequest) -> Judgement:
        """A command's words are looked up on the disk, as many files as they stand for."""
        if tool_kind(request.tool) != "command":
            return self._permissions.judge(request)
        return await anyio.to_thread.run_sync(self._permissions.judge, request)

    async def decide(
        self, request: ToolRequest, *, patient: bool = False, brief: bool = False
    ) -> Allow | Block:
        """Asks the person. A command sees the disk, so the one question also offers to save.
        ``patient``: the agent waits for any call's answer as it does for a command's; ``brief``:
        it waits for a command's only as it does for a file call's."""
        if self._session.stopped:
            return self._stopped(request)
        judgement = await self._judge(request)
        if self._session.stopped:
            return self._stopped(request)
        if judgement.policy == "allow":  # granted meanwhile
            return self._allowed(request, judgement.by, unread=judgement.by_pattern)
        if judgement.policy == "deny":  # the settings may change at any time
            return self._denied(request, judgement.reason, judgement.by)
        kind = tool_kind(request.tool)
        if (kind == "command" and not brief) or patient:
            try:
                answer = await self._asked(request)
            except anyio.get_cancelled_exc_class():
                self._log.decided(request, "denied", "stop")
                raise
            return await self._follow(request, answer)
        hosted = self._surely_hosts_files() and kind in ("read", "edit")
        with anyio.move_on_after(_CONSENT_SECONDS if hosted or brief else _VERDICT_SECONDS):
            answer = await self._late_answers.wait(self._session.turn_id, request)
            return await self._follow(request, answer)
        return Block(_NOT_YET)

    async def decide_again(self, request: ToolRequest, outcome: Outcome) -> Allow | Block:
        """Asks whether a held command, which has failed because of its sandbox, may run once more
        without it. Where a pipe hides whether it has, only the agent is told."""
        refused = await self._holding.refused(request, outcome)
        background = self._in_background(request)
        if self._session.stopped and not background:
            return Block(STOPPED if outcome.code else "")
        if refused is None:
            return Block("")
        reason, line = refused
        if outcome.code == 0:
            return Block(_BEHIND_A_PIPE.format(reason=reason))
        if self._session.stopped:  # it goes on between turns, where nobody is asked
            self._tell_of_failure(request, reason)
            verdict = self._denied(request, _BETWEEN_TURNS, "nobody")
        else:
            answer = await self._asked(request, held=f"{reason}: {line}")
            verdict = await self._follow(request, answer)
        if isinstance(verdict, Block):
            return Block(f"[Held in a sandbox: {reason}. Outside of it: {verdict.reason}]")
        return verdict

    def _in_background(self, request: ToolRequest) -> bool:
        is_command = tool_kind(request.tool) == "command"
        return is_command and self._runs_background() and wants_background(request.args)

    def _tell_of_failure(self, request: ToolRequest, reason: str) -> None:
        what = _one_line(self._permissions.subject(request))
        told = f"A command in the background was held in its sandbox and failed: {reason}: {what}"
        self._session.emit(Notice("warning", told, "lsp-agent"), None)

    async def _follow(self, request: ToolRequest, answer: Answer | None) -> Allow | Block:
        if self._session.stopped:
            return self._stopped(request)
        if answer is None:
            return self._denied(request, _UNANSWERED, "nobody")
        if answer.option_id == "deny":
            return self._denied(request, _declined(request, answer.reason), "person")
        judgement = await self._judged(request)
        if self._session.stopped:
            return self._stopped(request)
        if judgement.policy == "deny":
            return self._denied(request, judgement.reason, judgement.by)
        if answer.option_id == "allowAndApply":
            await self._unwritten.apply()
        if answer.option_id in ("allowAndApply", "allowAndSave"):
            await self._unwritten.save()
        return self._allowed(request, "person")

    async def _grant(self, request: ToolRequest, answer: str, pattern: str | None) -> None:
        """Remembers the answer, and says what later calls are not asked for because of it."""
        told = None
        match answer:
            case "allowSession":
                told = _info(f"Allowed for this session: every {_what(request, request.tool)}")
            case "allowPattern":
                told = _info(f"Allowed for this session: command: {pattern}")
            case "allowCommand":
                self._granted.allow_line(request)
                what = self._permissions.subject(request)
                told = _info(f"Allowed for this session: command: {what}")
            case "allowProject" | "allowAlways":
                told = await self._keep(request, pattern, everywhere=answer == "allowAlways")
            case _:
                pass
        self._permissions.grant(
            request,
            session=answer == "allowSession",
            pattern=pattern if answer == "allowPattern" else None,
        )
        if told is not None:
            self._session.emit(told, self._session.turn_id)

    async def _keep(self, request: ToolRequest, pattern: str | None, *, everywhere: bool) -> Notice:
        what = f"command: {pattern or self._permissions.subject(request)}"
        fault = await self._granted.keep(request, pattern, everywhere=everywhere)
        if fault is not None:
            told = f"Not kept, and allowed for this session only: {what}; {fault}"
            return Notice("warning", told, "lsp-agent")
        where = "always" if everywhere else f"always in {self._granted.project}"
        return _info(f"Allowed {where}: {what}")

    async def _asked(self, request: ToolRequest, held: str | None = None) -> Answer | None:
        """The person's answer, remembered where later calls are not to be asked for. ``held``:
        why the command has failed in a sandbox."""
        async with self._looking:
            pattern = await anyio.to_thread.run_sync(self._permissions.offer, request)
        if self._session.stopped:  # a question is closed with its turn
            return None
        what = self._permissions.subject(request)
        if pattern == what.strip():  # the very command, which is offered in any case
            pattern = None
        is_command = tool_kind(request.tool) == "command"
        title, detail = f"{request.tool}: {_one_line(what)}", what
        if self._in_background(request):
            title = f"In the background: {title}"
            detail += "\n\nIt runs in the background: it goes on beyond this turn."
        if held is not None:
            title = f"Without the sandbox? {title}"
            detail += f"\n\nIt has run in the sandbox, and failed: {_one_line(held)}"
        answer = await self._questions.ask(
            self._session.emit,
            session_id=self._session.id,
            turn_id=self._session.turn_id,
            tool_call_id=request.tool_call_id,
            kind="permission",
            title=title,
            detail=detail + (self._unwritten.detail() if is_command else ""),
            options=_options(
                request,
                pattern,
                can_save=is_command and self._unwritten.can_save,
                can_apply=is_command and bool(self._unwritten.proposals()),
            ),
        )
        if answer is not None and answer.option_id != "deny" and not self._session.stopped:
            await self._grant(request, answer.option_id, pattern)
        if not self._surely_hosts_files():
            self._permissions.spend()
        return answer

    def _allowed(self, request: ToolRequest, by: DecidedBy, *, unread: bool = False) -> Allow:
        self._log.decided(request, "allowed", by)
        is_command = tool_kind(request.tool) == "command"
        return Allow(self._unwritten.note() if is_command else None, unread)

    def _denied(self, request: ToolRequest, reason: str, by: DecidedBy) -> Block:
        self._log.decided(request, "denied", by)
        return Block(reason)

    def _stopped(self, request: ToolRequest) -> Block:
        return self._denied(request, STOPPED, "stop")


def _info(text: str) -> Notice:
    return Notice("info", text, "lsp-agent")


def _declined(request: ToolRequest, reason: str | None) -> str:
    said = (reason or "").strip()[:_LONGEST_REASON]
    declined = f"Not run: the user declined this {_what(request)}"
    return f"{declined} and says: {said}" if said else f"{declined}."


def _what(request: ToolRequest, other: str = "call") -> str:
    return "command" if tool_kind(request.tool) == "command" else other


def _one_line(subject: str, limit: int = 120) -> str:
    first, _, rest = subject.strip().partition("\n")
    return first[:limit] + ("…" if rest or len(first) > limit else "")


def _options(
    request: ToolRequest, pattern: str | None, *, can_save: bool, can_apply: bool
) -> list[Option]:
    """What may be allowed once, then the refusal, which is the second of every permission: an
    answer by number from habit never allows more than once."""
    every = f"Allow every {_what(request, request.tool)} in this session"
    plain = Option(option_id="allow", name="Allow", kind="allowOnce")
    deny = Option(option_id="deny", name="Deny", kind="deny")
    is_command = tool_kind(request.tool) == "command"
    wider = _wider(pattern, is_command=is_command, every=every) if request.named else []
    if not (can_save or can_apply):
        return [plain, deny, *wider]
    option_id = "allowAndApply" if can_apply else "allowAndSave"
    name = "Allow, applying proposals first" if can_apply else "Allow, saving files first"
    first = Option(option_id=option_id, name=name, kind="allowOnce")
    plain = Option(option_id="allow", name="Allow as it is on disk", kind="allowOnce")
    return [first, deny, plain, *wider]


def _wider(pattern: str | None, *, is_command: bool, every: str) -> list[Option]:
    """What spares later questions, from the narrowest."""
    session = Option(option_id="allowSession", name=every, kind="allowSession")
    if not is_command:
        return [session]
    what = f"`{pattern}`" if pattern else "this command"
    here, anywhere = f"Allow {what} always in this project", f"Allow {what} always"
    options = [
        Option(
            option_id="allowCommand",
            name="Allow this command in this session",
            kind="allowCommand",
        ),
        session,
        Option(option_id="allowProject", name=here, kind="allowProject"),
        Option(option_id="allowAlways", name=anywhere, kind="allowAlways"),
    ]
    if pattern is not None:
        name = f"Allow `{pattern}` in this session"
        options.insert(1, Option(option_id="allowPattern", name=name, kind="allowPattern"))
    return options
