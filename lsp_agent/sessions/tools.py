"""The file tools of a hosted agent: its calls answered from the editor, once they may be."""

import os
from base64 import b64encode
from collections.abc import Callable
from functools import partial

from lsp_agent.agents.tool_host import Block, ImageAnswer, ToolAnswer, ToolRequest
from lsp_agent.protocol.events import Notice
from lsp_agent.protocol.questions import Option
from lsp_agent.protocol.settings import Settings
from lsp_agent.sessions.consent import STOPPED, Consent, TurnView
from lsp_agent.sessions.diagnostics import NewProblems
from lsp_agent.sessions.permissions import Permissions
from lsp_agent.sessions.questions import Emitter
from lsp_agent.sessions.served import Served
from lsp_agent.sessions.services import Services
from lsp_agent.sessions.tool_texts import agents_words, placed_result, refused
from lsp_agent.text.lines import EMPTY, Text, split_lines
from lsp_agent.text.merge import merge3_fine
from lsp_agent.text.surrogates import made_of_shown, whole_text
from lsp_agent.wires import zot_tools
from lsp_agent.wires.wire import Answer, Answered, Dialog, ReadText, Refused, WriteText
from lsp_agent.wires.zot_tools import ToolFailure
from lsp_agent.workspace.file_host import Origin, Placed, View
from lsp_agent.workspace.files import FileProblem
from lsp_agent.workspace.line_ends import with_last_line_end_of
from lsp_agent.workspace.paths import SafePath
from lsp_agent.workspace.withheld import Withheld

_HOLDS_BACK = (
    "This editor says what you type only when you pause, so the agent's edits of open documents "
    "wait as proposals: apply them by code action. docs/protocol.md says how it can be helped."
)


class HostedTools:
    """Runs the calls of one session's agent; ``consent`` says which may be."""

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
        self.consent = Consent(services, session_id, cwd, turn, emit, settings, self._permissions)
        self.served = Served(services, session_id)
        self._problems = NewProblems(services.diagnostics, services.documents)
        self._told: set[str] = set()

    async def run(self, request: ToolRequest) -> ToolAnswer:
        if self._turn.stopped:
            return ToolAnswer(STOPPED, is_error=True)
        try:
            return await self._run(request)
        except ToolFailure as failure:
            changes = await self.served.changes(str(request.args.get("path")))
            return ToolAnswer(failure.text + changes, is_error=True)
        except FileProblem as problem:
            path = self._absolute(str(request.args.get("path")))
            return ToolAnswer(agents_words(request.tool, path, problem), is_error=True)
        finally:
            self._permissions.spend()

    async def _run(self, request: ToolRequest) -> ToolAnswer:
        await self._require(request)
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
            return Refused(STOPPED)
        tool = "read" if isinstance(request, ReadText) else "write"
        call = ToolRequest(tool, {"path": request.path}, request.tool_call_id)
        try:
            await self._require(call)
            if isinstance(request, WriteText):
                args = zot_tools.WriteArgs(request.path, request.text)
                told = placed_result(request.path, await self._put(args, call), "")
                notes = await self._notes(request.path) if request.reads_answer else ""
                return Answered(told + notes)
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
        first = max((request.line or 1) - 1, 0)
        last = None if request.limit is None else first + request.limit
        text = self.served.read(path.path, view.require_text(), first, last)
        return Answered("".join(text.lines[first:last]))

    async def dialog(self, request: Dialog) -> Answer:
        """The agent's own question; dismissed, or without a turn, it is refused."""
        if self._turn.stopped:
            return Refused(STOPPED)
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

    async def _require(self, request: ToolRequest) -> None:
        """Asks about a file call that the settings neither allow nor deny."""
        if self._permissions.judge(request).policy != "ask":
            return
        decision = await self.consent.decide(request)
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
        data = view.data
        if data is None:
            data = whole_text(view.require_text()).content.encode()
        shown = zot_tools.read_lines(args.path, data, args.offset, args.limit)
        if view.text is not None:
            self.served.read(path.path, view.text, *_lines_of(view.text, shown))
        if shown.text:
            return shown.text, None
        return zot_tools.NO_SUCH_LINES if data else zot_tools.EMPTY_FILE, None

    async def _write(self, args: zot_tools.WriteArgs, request: ToolRequest) -> str:
        placed = await self._put(args, request)
        return placed_result(args.path, placed, args.content) or zot_tools.EMPTY_FILE

    async def _put(self, args: zot_tools.WriteArgs, request: ToolRequest) -> Placed:
        path = self._confine(args.path, write=True)

        made: list[Text] = []

        def merged(now: Text, *, view: View) -> Text:
            wanted = zot_tools.with_line_ends_of(args.content, now)
            if view.open and self._services.editor.traits.keeps_last_line_end:
                known = self.served.knowledge(path.path)
                wanted = with_last_line_end_of((known and known.own) or now, wanted)
            made[:] = [wanted]
            return self._merged(args.path, path.path, wanted, now, dirty=view.dirty)

        def resolve(view: View) -> Text:
            now = view.require_text() if view.exists else EMPTY
            return made_of_shown(now, partial(merged, view=view))

        view = await self._services.host.view(path, self._session_id)
        hold = _shrinks(view.text or EMPTY, args.content, self._settings().edits.hold_shrink)
        placed = await self._place(path, request, resolve, hold=hold)
        if placed.status != "unknown":
            self.served.wrote(path.path, *made)
        return placed

    def _merged(self, given: str, path: str, wanted: Text, now: Text, *, dirty: bool) -> Text:
        """``now`` with what the agent's whole text ``wanted`` changes of what it knows."""
        knowledge = self.served.knowledge(path)
        base = knowledge.base_of(wanted) if knowledge else None
        if knowledge is None or base is None:
            if dirty:
                raise ToolFailure(
                    f"{given} has unsaved changes in the editor; read it before writing it"
                )
            return wanted
        if unseen := knowledge.dropped_unseen(wanted):
            raise ToolFailure(
                f"this would drop lines of {given} that you have not read; read it from line"
                f" {unseen.start + 1} to {unseen.stop} before writing it"
            )
        merge = merge3_fine(base, wanted, now)
        if not merge.clean:
            raise ToolFailure(f"{given} changed since you read it; read it again")
        return merge.text

    async def _edit(self, args: zot_tools.EditArgs, request: ToolRequest) -> str:
        path = self._confine(args.path, write=True)

        def resolve(view: View) -> Text:
            if not view.exists:
                raise ToolFailure(zot_tools.missing_open(self._absolute(args.path)))
            edited = partial(zot_tools.edit_text, args.path, edits=args.edits)
            return made_of_shown(view.require_text(), edited)

        placed = await self._place(path, request, resolve)
        change = placed.change
        if change is not None and placed.status != "unknown":
            self.served.edited(path.path, change.before or EMPTY, change.after or EMPTY)
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


def _lines_of(text: Text, shown: zot_tools.ShownLines) -> tuple[int, int]:
    """The lines of ``text`` that were shown, whose ends may be ``\\r`` alone too."""
    parts = text.content.split("\n")
    start = len(split_lines("".join(f"{part}\n" for part in parts[: shown.start])))
    size = len(split_lines("\n".join(parts[shown.start : shown.end])))
    return start, start + size


def _shrinks(now: Text, content: str, share: float) -> bool:
    """Whether a write drops more than this share of the lines; of 1, never."""
    left = len(split_lines(content))
    return share < 1 and len(now.lines) - left > share * len(now.lines)
