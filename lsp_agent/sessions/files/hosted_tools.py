"""The file tools of a hosted agent: its calls answered from the editor, once they may be."""

import os
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from lsp_agent.protocol.events import Notice
from lsp_agent.protocol.questions import Option
from lsp_agent.sessions.files.covering import Covering, covers_of
from lsp_agent.sessions.files.shown_to_agent import ShownToAgent
from lsp_agent.sessions.files.tool_texts import agents_words, placed_result, refused
from lsp_agent.sessions.permissions.consent import STOPPED, Consent
from lsp_agent.sessions.permissions.judge import Permissions
from lsp_agent.sessions.shared.confinement import Confinement
from lsp_agent.sessions.shared.diagnostics import NewProblems
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.text.lines import EMPTY, Text, split_lines
from lsp_agent.text.merge import merge3_fine
from lsp_agent.text.surrogates import made_of_shown, whole_text
from lsp_agent.toolset.arguments import (
    EditArgs,
    ReadArgs,
    ToolFailure,
    WriteArgs,
    parse_edit,
    parse_read,
    parse_write,
    unknown_tool,
)
from lsp_agent.toolset.calls import Block, ImageAnswer, ToolAnswer, ToolRequest
from lsp_agent.toolset.covering import has_private_key
from lsp_agent.toolset.diff_words import edit_result
from lsp_agent.toolset.editing import NO_CHANGE, edit_text, missing_open
from lsp_agent.toolset.kinds import tool_kind
from lsp_agent.toolset.reading import (
    EMPTY_FILE,
    NO_SUCH_LINES,
    ShownLines,
    image_type,
    missing_stat,
    read_lines,
)
from lsp_agent.toolset.writing import with_line_ends_of
from lsp_agent.wires.wire import Answer, Answered, Dialog, ReadText, Refused, WriteText
from lsp_agent.workspace.changing.file_host import Origin, Placed, View
from lsp_agent.workspace.disk.files import FileProblem
from lsp_agent.workspace.disk.paths import SafePath
from lsp_agent.workspace.placing.line_ends import with_last_line_end_of
from lsp_agent.workspace.placing.not_made import NotMade

_HOLDS_BACK = (
    "This editor may say too late what you type, so the agent's edits of open documents "
    "wait as proposals: apply them by code action. docs/protocol.md says how it can be helped."
)


class HostedTools:
    """Runs the calls of one session's agent; ``consent`` says which may be."""

    def __init__(
        self,
        services: Services,
        session: SessionView,
        surely_hosts_files: Callable[[], bool],
        runs_background: Callable[[], bool],
    ) -> None:
        self._services = services
        self._session = session
        self.permissions = Permissions(
            session.cwd, lambda: session.settings.permissions, services.confinement
        )
        self.consent = Consent(
            services, session, self.permissions, surely_hosts_files, runs_background
        )
        self.covering = Covering(services, session)
        self.served = ShownToAgent(services, session.id)
        self._problems = NewProblems(services.diagnostics, services.documents)
        self._told: set[str] = set()

    async def run(self, request: ToolRequest) -> ToolAnswer:
        answer = await self._answered(request)
        about = f"the result of {request.tool} {request.args.get('path')}"
        return replace(answer, text=await self.covering.covered(answer.text, about))

    async def _answered(self, request: ToolRequest) -> ToolAnswer:
        if self._session.stopped:
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
            self.permissions.spend()

    async def _run(self, request: ToolRequest) -> ToolAnswer:
        await self._require(request)
        request = await self._uncovered(request)
        image = None
        match request.tool:
            case "read":
                result, image = await self._read(parse_read(request.args))
            case "write":
                result = await self._write(parse_write(request.args), request)
            case "edit":
                result = await self._edit(parse_edit(request.args), request)
            case tool:
                raise ToolFailure(unknown_tool(tool))
        notes = await self._notes(str(request.args.get("path")))
        return ToolAnswer(result + notes, image=image)

    async def _uncovered(self, request: ToolRequest) -> ToolRequest:
        """With the secrets in what it writes, in the place of what the agent was shown of them."""
        if tool_kind(request.tool) != "edit" or not covers_of(request):
            return request
        path = self._confine(str(request.args.get("path")), write=True)
        view = await self._services.host.view(path, self._session.id)
        return await self.covering.uncovered(request, view.text.content if view.text else "")

    async def _notes(self, path: str) -> str:
        """What the model is told beside the result of a call on ``path``."""
        changes = await self.served.changes(path)
        return changes + await self._problems.note(self._session.still_wanted())

    async def text(self, request: ReadText | WriteText) -> Answer:
        """A whole text, read or written by an agent that does its edits itself.

        :raises LspAgentError: for what may not be touched or cannot be done
        """
        if self._session.stopped:
            return Refused(STOPPED)
        tool = "read" if isinstance(request, ReadText) else "write"
        call = ToolRequest(tool, {"path": request.path}, request.tool_call_id)
        try:
            await self._require(call)
            if isinstance(request, WriteText):
                whole = replace(call, args={"path": request.path, "content": request.text})
                args = parse_write((await self._uncovered(whole)).args)
                told = placed_result(request.path, await self._put(args, call), "")
                notes = await self._notes(request.path) if request.reads_answer else ""
                about = f"the result of write {request.path}"
                return Answered(await self.covering.covered(told + notes, about))
            return await self._text_of(request)
        except ToolFailure as failure:
            return Refused(failure.text)
        finally:
            self.permissions.spend()

    async def _text_of(self, request: ReadText) -> Answer:
        path = self._confine(request.path, write=False)
        view = await self._services.host.view(path, self._session.id)
        if not view.exists:
            return Refused(f"{request.path}: no such file", missing=True)
        first = max((request.line or 1) - 1, 0)
        last = None if request.limit is None else first + request.limit
        text = self.served.read(path.path, view.require_text(), first, last)
        shown = "".join(text.lines[first:last])
        about = f"the result of read {request.path}"
        if has_private_key(text.content):
            whole = await self.covering.covered(text.content, about)
            shown = "".join(split_lines(whole)[first:last])
        return Answered(await self.covering.covered(shown, about))

    async def dialog(self, request: Dialog) -> Answer:
        """The agent's own question; dismissed, or without a turn, it is refused."""
        if self._session.stopped:
            return Refused(STOPPED)
        answer = await self._services.questions.ask(
            self._session.emit,
            session_id=self._session.id,
            turn_id=self._session.turn_id,
            kind="agent",
            title=request.title,
            detail=request.detail,
            options=[
                Option(option_id=option_id, name=name, kind="other")
                for option_id, name in request.options
            ],
        )
        return (
            Refused("The person did not answer.") if answer is None else Answered(answer.option_id)
        )

    async def _require(self, request: ToolRequest) -> None:
        """Asks about a file call that the settings neither allow nor deny."""
        if self.permissions.judge(request).policy != "ask":
            return
        decision = await self.consent.decide(request)
        if isinstance(decision, Block):
            raise ToolFailure(decision.reason)

    async def _read(self, args: ReadArgs) -> tuple[str, ImageAnswer | None]:
        path = self._confine(args.path, write=False)
        view = await self._services.host.view(path, self._session.id)
        if not view.exists:
            raise ToolFailure(missing_stat(self._absolute(args.path)))
        mime_type = image_type(args.path)
        if mime_type is not None and view.data is not None and view.text is None:
            return "", ImageAnswer(mime_type, b64encode(view.data).decode())
        data = view.data
        if data is None:
            data = whole_text(view.require_text()).content.encode()
        text = data.decode(errors="surrogateescape")
        if has_private_key(text):
            text = await self.covering.covered(text, f"the result of read {args.path}")
            data = text.encode(errors="surrogateescape")
        shown = read_lines(args.path, data, args.offset, args.limit)
        if view.text is not None:
            self.served.read(path.path, view.text, *_lines_of(view.text, shown))
        if shown.text:
            return shown.text, None
        return NO_SUCH_LINES if data else EMPTY_FILE, None

    async def _write(self, args: WriteArgs, request: ToolRequest) -> str:
        placed = await self._put(args, request)
        return placed_result(args.path, placed, args.content) or EMPTY_FILE

    async def _put(self, args: WriteArgs, request: ToolRequest) -> Placed:
        path = self._confine(args.path, write=True)

        made: list[Text] = []

        def merged(now: Text, *, view: View) -> Text:
            wanted = with_line_ends_of(args.content, now)
            if view.open and self._services.editor.traits.keeps_last_line_end:
                known = self.served.knowledge(path.path)
                wanted = with_last_line_end_of((known and known.own) or now, wanted)
            made[:] = [wanted]
            return self._merged(args.path, path.path, wanted, now, dirty=view.dirty)

        def resolve(view: View) -> Text:
            now = view.require_text() if view.exists else EMPTY
            return made_of_shown(now, partial(merged, view=view))

        view = await self._services.host.view(path, self._session.id)
        hold = _shrinks(view.text or EMPTY, args.content, self._session.settings.edits.hold_shrink)
        with self.served.changing(path.path):
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

    async def _edit(self, args: EditArgs, request: ToolRequest) -> str:
        path = self._confine(args.path, write=True)

        def resolve(view: View) -> Text:
            if not view.exists:
                raise ToolFailure(missing_open(self._absolute(args.path)))
            edited = partial(edit_text, args.path, edits=args.edits)
            return made_of_shown(view.require_text(), edited)

        with self.served.changing(path.path):
            placed = await self._place(path, request, resolve)
            change = placed.change
            if change is not None and placed.status != "unknown":
                self.served.edited(path.path, change.before or EMPTY, change.after or EMPTY)
        diff = edit_result(change.before or EMPTY, change.after or EMPTY) if change else ""
        return placed_result(args.path, placed, diff) or NO_CHANGE

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
        settings, confinement = self._session.settings.edits, self._session.confinement
        origin = Origin(
            self._session.id,
            self._session.turn_id,
            request.tool_call_id,
            f"agent: {request.tool} {path.given}",
        )
        put = partial(
            self._services.host.replace,
            path,
            origin,
            self._within(confinement, path, resolve),
            save=settings.save,
            still_wanted=self._session.still_wanted(),
        )
        await self._problems.before_edit(path.path, self._session.turn_id)
        try:
            placed = await put(review="before" if hold else settings.review)
        except NotMade as withheld:
            self._tell_once(str(withheld))
            placed = await put(review="before")
        if placed.refused:
            raise ToolFailure(refused(path.given, placed))
        if placed.status == "conflict":
            raise ToolFailure(f"{path.given} changed since you read it; read it again")
        change = placed.change
        if confinement is not None and change is not None:
            confinement.changed(path.path, change.before or EMPTY, change.after or EMPTY)
        if placed.status == "applied" and change is not None:
            self._problems.edited(path.path)
        return placed

    @staticmethod
    def _within(
        confinement: Confinement | None, path: SafePath, resolve: Callable[[View], Text]
    ) -> Callable[[View], Text]:
        """``resolve``, refused where it goes beyond the lines that the prompt is confined to."""
        if confinement is None:
            return resolve

        def within(view: View) -> Text:
            after = resolve(view)
            why = confinement.refusal(path.path, path.given, view.text or EMPTY, after)
            if why is not None:
                raise ToolFailure(why)
            return after

        return within

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
            self._session.emit(Notice("warning", warning, "lsp-agent"), self._session.turn_id)

    def confined(self, path: str) -> str:
        """The real place of a path that may be written. :raises OutsideWorkspace:"""
        return self._confine(path, write=True).path

    def _confine(self, path: str, *, write: bool) -> SafePath:
        return self.permissions.confine(path, write=write)

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._session.cwd, path))  # noqa: PTH118 - lexical, as zot does


def _lines_of(text: Text, shown: ShownLines) -> tuple[int, int]:
    """The lines of ``text`` that were shown, whose ends may be ``\\r`` alone too."""
    parts = text.content.split("\n")
    start = len(split_lines("".join(f"{part}\n" for part in parts[: shown.start])))
    size = len(split_lines("\n".join(parts[shown.start : shown.end])))
    return start, start + size


def _shrinks(now: Text, content: str, share: float) -> bool:
    """Whether a write drops more than this share of the lines; of 1, never."""
    left = len(split_lines(content))
    return share < 1 and len(now.lines) - left > share * len(now.lines)
