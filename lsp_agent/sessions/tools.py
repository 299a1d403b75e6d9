"""The tools of a hosted agent: its file calls answered from the editor, its commands gated."""

import os
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from typing import Protocol

import anyio

from lsp_agent.agents.tool_host import (
    Allow,
    Block,
    Gate,
    ImageAnswer,
    ToolAnswer,
    ToolRequest,
    Verdict,
)
from lsp_agent.protocol.events import Notice
from lsp_agent.protocol.questions import Option
from lsp_agent.protocol.settings import Settings
from lsp_agent.sessions.diagnostics import NewProblems
from lsp_agent.sessions.late_answers import LateAnswers
from lsp_agent.sessions.permissions import Judgement, Permissions
from lsp_agent.sessions.questions import Emitter
from lsp_agent.sessions.served import Served
from lsp_agent.sessions.services import Services
from lsp_agent.sessions.tool_texts import agents_words, placed_result, refused
from lsp_agent.sessions.unwritten import Unwritten
from lsp_agent.text.lines import EMPTY, Text, split_lines
from lsp_agent.text.merge import merge3
from lsp_agent.wires import zot_tools
from lsp_agent.wires.wire import Answer, Answered, Dialog, ReadText, Refused, WriteText
from lsp_agent.wires.zot_messages import tool_kind
from lsp_agent.wires.zot_tools import ToolFailure
from lsp_agent.workspace.file_host import Origin, Placed, View
from lsp_agent.workspace.files import FileProblem
from lsp_agent.workspace.paths import SafePath
from lsp_agent.workspace.withheld import Withheld

#: The agent waits 60 s for a file tool's answer and 4 s for whether another call may run; only a
#: command's gate has all the time. The question stays open for the next call alike.
_CONSENT_SECONDS = 50.0
_VERDICT_SECONDS = 3.0
_NOT_YET = (
    "Not run yet: the user is still being asked whether it may. Make the same call once more to"
    " wait for the answer, or go on without it."
)
_HOLDS_BACK = (
    "This editor says what you type only when you pause, so the agent's edits of open documents "
    "wait as proposals: apply them by code action. docs/protocol.md says how it can be helped."
)
_STOPPED = "Not run: the user stopped this turn."


class TurnView(Protocol):
    """What the tools need to know of the running turn."""

    @property
    def turn_id(self) -> str | None: ...
    @property
    def stopped(self) -> bool: ...
    @property
    def hosts_files(self) -> bool: ...
    def still_wanted(self) -> Callable[[], bool]: ...


class HostedTools:
    """Implements ``ToolHost`` but for the bridge's coming and going."""

    def __init__(
        self,
        services: Services,
        session_id: str,
        cwd: str,
        turn: TurnView,
        emit: Emitter,
        settings: Callable[[], Settings],
    ) -> None:
        self._services = services
        self._session_id = session_id
        self._cwd = cwd
        self._turn = turn
        self._emit = emit
        self._settings = settings
        self._permissions = Permissions(cwd, lambda: settings().permissions, services.confinement)
        self._unwritten = Unwritten(services, session_id, cwd)
        self.served = Served(services, session_id)
        self._problems = NewProblems(services.diagnostics, services.documents)
        self._told: set[str] = set()
        self._late_answers = LateAnswers(services, self._asked)

    async def intercept(self, request: ToolRequest) -> Verdict:
        """A file call of a hosted agent comes to ``run``, which has the time to ask; any other
        call is decided here."""
        if self._turn.stopped:
            return Block(_STOPPED)
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
                return self._allowed(request)

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
            return Block(_STOPPED)
        judgement = self._judge(request)
        if judgement.policy == "allow":  # granted meanwhile
            return self._allowed(request)
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
            return Block(_STOPPED)
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
        answer = await self._services.questions.ask(
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

    def _allowed(self, request: ToolRequest) -> Allow:
        return Allow(self._unwritten.note() if tool_kind(request.tool) == "command" else None)

    async def run(self, request: ToolRequest) -> ToolAnswer:
        if self._turn.stopped:
            return ToolAnswer(_STOPPED, is_error=True)
        try:
            return await self._run(request)
        except ToolFailure as failure:
            return ToolAnswer(failure.text, is_error=True)
        except FileProblem as problem:
            path = self._absolute(str(request.args.get("path")))
            return ToolAnswer(agents_words(request.tool, path, problem), is_error=True)
        finally:
            self._permissions.spend()

    async def _run(self, request: ToolRequest) -> ToolAnswer:
        await self._consent(request)
        image = None
        match request.tool:
            case "read":
                result, image = await self._read(zot_tools.parse_read(request.args))
            case "write":
                result = await self._write(zot_tools.parse_write(request.args), request)
            case "edit":
                result = await self._edit(zot_tools.parse_edit(request.args), request)
            case tool:
                raise ToolFailure(zot_tools.unknown_tool(tool))
        notes = await self._notes(str(request.args.get("path")))
        return ToolAnswer(result + notes, image=image)

    async def _notes(self, path: str) -> str:
        """What the model is told beside the result of a call on ``path``."""
        changes = await self.served.changes(path)
        return changes + await self._problems.note(self._turn.still_wanted())

    async def text(self, request: ReadText | WriteText) -> Answer:
        """A whole text, read or written by an agent that does its edits itself.

        :raises LspAgentError: for what may not be touched or cannot be done
        """
        if self._turn.stopped:
            return Refused(_STOPPED)
        tool = "read" if isinstance(request, ReadText) else "write"
        call = ToolRequest(tool, {"path": request.path}, request.tool_call_id)
        try:
            await self._consent(call)
            if isinstance(request, WriteText):
                args = zot_tools.WriteArgs(request.path, request.text)
                told = placed_result(request.path, await self._put(args, call), "")
                return Answered(told + await self._notes(request.path))
            return await self._text_of(request)
        except ToolFailure as failure:
            return Refused(failure.text)
        finally:
            self._permissions.spend()

    async def _text_of(self, request: ReadText) -> Answer:
        path = self._confine(request.path, write=False)
        view = await self._services.host.view(path, self._session_id)
        if not view.exists:
            return Refused(f"{request.path}: no such file", missing=True)
        text = view.require_text()
        self.served.put(path.path, text)
        first = max((request.line or 1) - 1, 0)
        last = None if request.limit is None else first + request.limit
        return Answered("".join(text.lines[first:last]))

    async def dialog(self, request: Dialog) -> Answer:
        """The agent's own question; dismissed, or without a turn, it is refused."""
        if self._turn.stopped:
            return Refused(_STOPPED)
        answer = await self._services.questions.ask(
            self._emit,
            session_id=self._session_id,
            turn_id=self._turn.turn_id,
            kind="agent",
            title=request.title,
            detail=request.detail,
            options=[
                Option(option_id=option_id, name=name, kind="other")
                for option_id, name in request.options
            ],
        )
        return Refused("The person did not answer.") if answer is None else Answered(answer)

    async def _consent(self, request: ToolRequest) -> None:
        """Asks about a file call that the settings neither allow nor deny."""
        if self._permissions.judge(request).policy != "ask":
            return
        decision = await self.decide(request)
        if isinstance(decision, Block):
            raise ToolFailure(decision.reason)

    async def _read(self, args: zot_tools.ReadArgs) -> tuple[str, ImageAnswer | None]:
        path = self._confine(args.path, write=False)
        view = await self._services.host.view(path, self._session_id)
        if not view.exists:
            raise ToolFailure(zot_tools.missing_stat(self._absolute(args.path)))
        mime_type = zot_tools.image_type(args.path)
        if mime_type is not None and view.data is not None and view.text is None:
            return "", ImageAnswer(mime_type, b64encode(view.data).decode())
        if view.text is not None:
            self.served.put(path.path, view.text)
        data = view.data if view.data is not None else view.require_text().content.encode()
        shown = zot_tools.read_text(args.path, data, args.offset, args.limit)
        if not shown:
            shown = zot_tools.NO_SUCH_LINES if data else zot_tools.EMPTY_FILE
        return shown, None

    async def _write(self, args: zot_tools.WriteArgs, request: ToolRequest) -> str:
        placed = await self._put(args, request)
        return placed_result(args.path, placed, args.content) or zot_tools.EMPTY_FILE

    async def _put(self, args: zot_tools.WriteArgs, request: ToolRequest) -> Placed:
        path = self._confine(args.path, write=True)

        def resolve(view: View) -> Text:
            now = view.require_text() if view.exists else EMPTY
            wanted = zot_tools.with_line_ends_of(args.content, now)
            base = self.served.get(path.path)
            if base is None:
                if view.dirty:
                    raise ToolFailure(
                        f"{args.path} has unsaved changes in the editor; read it before writing it"
                    )
                return wanted
            merged = merge3(base, wanted, now)
            if not merged.clean:
                raise ToolFailure(f"{args.path} changed since you read it; read it again")
            return merged.text

        view = await self._services.host.view(path, self._session_id)
        hold = _shrinks(view.text or EMPTY, args.content, self._settings().edits.hold_shrink)
        return await self._place(path, request, resolve, hold=hold)

    async def _edit(self, args: zot_tools.EditArgs, request: ToolRequest) -> str:
        path = self._confine(args.path, write=True)

        def resolve(view: View) -> Text:
            if not view.exists:
                raise ToolFailure(zot_tools.missing_open(self._absolute(args.path)))
            return zot_tools.edit_text(args.path, view.require_text(), args.edits)

        placed = await self._place(path, request, resolve)
        change = placed.change
        diff = (
            zot_tools.edit_result(change.before or EMPTY, change.after or EMPTY) if change else ""
        )
        return placed_result(args.path, placed, diff) or zot_tools.NO_CHANGE

    async def _place(
        self,
        path: SafePath,
        request: ToolRequest,
        resolve: Callable[[View], Text],
        *,
        hold: bool = False,
    ) -> Placed:
        """``hold``: whatever the settings, it becomes a proposal. So does an edit of an open
        document where the editor could have typing that we cannot know of."""
        hold = hold or self._may_hide_typing(path)
        settings = self._settings().edits
        origin = Origin(
            self._session_id,
            self._turn.turn_id,
            request.tool_call_id,
            f"agent: {request.tool} {path.given}",
        )
        replace = partial(
            self._services.host.replace,
            path,
            origin,
            resolve,
            save=settings.save,
            still_wanted=self._turn.still_wanted(),
        )
        await self._problems.before_edit(path.path, self._turn.turn_id)
        try:
            placed = await replace(review="before" if hold else settings.review)
        except Withheld as withheld:
            self._tell_once(str(withheld))
            placed = await replace(review="before")
        if placed.refused:
            raise ToolFailure(refused(path.given, placed))
        if placed.status == "conflict":
            raise ToolFailure(f"{path.given} changed since you read it; read it again")
        if placed.status == "applied" and placed.change is not None:
            self._problems.edited(path.path)
        # What the agent knows is its own change; what was typed since, it is told of.
        shown = placed.change.after if placed.change else placed.now
        if shown is not None and placed.status != "unknown":
            self.served.put(path.path, shown)
        return placed

    def _may_hide_typing(self, path: SafePath) -> bool:
        if not self._services.editor.traits.holds_back:
            return False
        if self._services.documents.at(path.path) is None:
            return False
        self._tell_once(_HOLDS_BACK)
        return True

    def _tell_once(self, warning: str) -> None:
        if warning not in self._told:
            self._told.add(warning)
            self._emit(Notice("warning", warning, "lsp-agent"), self._turn.turn_id)

    def confined(self, path: str) -> str:
        """The real place of a path that may be written. :raises OutsideWorkspace:"""
        return self._confine(path, write=True).path

    def _confine(self, path: str, *, write: bool) -> SafePath:
        return self._permissions.confine(path, write=write)

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._cwd, path))  # noqa: PTH118 - lexical, as zot does


def _shrinks(now: Text, content: str, share: float) -> bool:
    """Whether a write drops more than this share of the lines; of 1, never."""
    left = len(split_lines(content))
    return share < 1 and len(now.lines) - left > share * len(now.lines)


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
