"""The tools of a hosted agent: its file calls answered from the editor, its commands gated."""

import os
from collections.abc import Callable
from typing import Protocol

import anyio

from lsp_agent.agents.tool_host import Allow, Block, Gate, ToolAnswer, ToolRequest, Verdict
from lsp_agent.protocol.questions import Option
from lsp_agent.protocol.settings import Settings
from lsp_agent.sessions.permissions import Permissions, subject
from lsp_agent.sessions.questions import Emitter
from lsp_agent.sessions.served import Served
from lsp_agent.sessions.services import Services
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.merge import merge3
from lsp_agent.wires import zot_tools
from lsp_agent.wires.zot_messages import tool_kind
from lsp_agent.wires.zot_tools import ToolFailure
from lsp_agent.workspace.documents import OpenDocument
from lsp_agent.workspace.file_host import Origin, Placed, View
from lsp_agent.workspace.files import FileProblem
from lsp_agent.workspace.paths import SafePath

#: The agent waits 60 s for a file tool's answer; the question must be over before.
_CONSENT_SECONDS = 50.0
_STOPPED = "Not run: the user stopped this turn."


class TurnView(Protocol):
    """What the tools need to know of the running turn."""

    @property
    def turn_id(self) -> str | None: ...
    @property
    def stopped(self) -> bool: ...
    @property
    def hosts_files(self) -> bool: ...


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
        self.served = Served(services.host)

    async def intercept(self, request: ToolRequest) -> Verdict:
        """A file call of a hosted agent comes to ``run``, which has the time to ask; any other
        call is decided here."""
        if self._turn.stopped:
            return Block(_STOPPED)
        judgement = self._permissions.judge(request)
        kind = tool_kind(request.tool)
        match judgement.policy:
            case "deny":
                return Block(judgement.reason)
            case "ask" if self._turn.hosts_files and kind in ("read", "edit"):
                return Allow()
            case "ask":
                return Gate()
            case "allow":
                return Allow(self._unsaved_note() if kind == "command" else None)

    async def decide(self, request: ToolRequest) -> Allow | Block:
        """Asks the person. A command sees the disk, so the one question also offers to save."""
        is_command = tool_kind(request.tool) == "command"
        if self._permissions.judge(request).policy == "allow":  # granted meanwhile
            return Allow(self._unsaved_note() if is_command else None)
        answer = await self._asked(request, self._unsaved() if is_command else [])
        if self._turn.stopped:
            return Block(_STOPPED)
        match answer:
            case "allowAndSave" | "allow" | "allowSession":
                self._permissions.grant(request, session=answer == "allowSession")
                if answer == "allowAndSave":
                    await self._save_all()
                return Allow(self._unsaved_note() if is_command else None)
            case "deny":
                return Block(f"Not run: the user declined this {_what(request)}.")
            case _:
                return Block("Not run: the question whether to allow it was not answered.")

    async def _asked(self, request: ToolRequest, unsaved: list[OpenDocument]) -> str | None:
        what = subject(request)
        return await self._services.questions.ask(
            self._emit,
            session_id=self._session_id,
            turn_id=self._turn.turn_id,
            tool_call_id=request.tool_call_id,
            kind="permission",
            title=f"{request.tool}: {_one_line(what)}",
            detail=_detail(what, [self._shown(document) for document in unsaved]),
            options=_options(request.tool, can_save=bool(unsaved) and self._can_save),
        )

    async def run(self, request: ToolRequest) -> ToolAnswer:
        if self._turn.stopped:
            return ToolAnswer(_STOPPED, is_error=True)
        try:
            text = await self._run(request)
        except ToolFailure as failure:
            return ToolAnswer(failure.text, is_error=True)
        except FileProblem as problem:
            path = self._absolute(str(request.args.get("path")))
            return ToolAnswer(_agents_words(request.tool, path, problem), is_error=True)
        return ToolAnswer(text)

    async def _run(self, request: ToolRequest) -> str:
        await self._consent(request)
        match request.tool:
            case "read":
                result = await self._read(zot_tools.parse_read(request.args))
            case "write":
                result = await self._write(zot_tools.parse_write(request.args), request)
            case "edit":
                result = await self._edit(zot_tools.parse_edit(request.args), request)
            case tool:
                raise ToolFailure(zot_tools.unknown_tool(tool))
        return result + await self.served.changes(str(request.args.get("path")))

    async def _consent(self, request: ToolRequest) -> None:
        """Asks about a file call that the settings neither allow nor deny."""
        if self._permissions.judge(request).policy != "ask":
            return
        decision: Allow | Block = Block("Not done: nobody allowed it in time; ask the user.")
        with anyio.move_on_after(_CONSENT_SECONDS):
            decision = await self.decide(request)
        if isinstance(decision, Block):
            raise ToolFailure(decision.reason)

    async def _read(self, args: zot_tools.ReadArgs) -> str:
        path = self._confine(args.path, write=False)
        view = await self._services.host.view(path, self._session_id)
        if not view.exists:
            raise ToolFailure(zot_tools.missing_stat(self._absolute(args.path)))
        if view.text is not None:
            self.served.put(path.path, view.text)
        data = view.data if view.data is not None else view.require_text().content.encode()
        shown = zot_tools.read_text(args.path, data, args.offset, args.limit)
        if shown:
            return shown
        return zot_tools.NO_SUCH_LINES if data else zot_tools.EMPTY_FILE

    async def _write(self, args: zot_tools.WriteArgs, request: ToolRequest) -> str:
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

        placed = await self._place(path, request, resolve)
        return _placed_result(args.path, placed, args.content) or zot_tools.EMPTY_FILE

    async def _edit(self, args: zot_tools.EditArgs, request: ToolRequest) -> str:
        path = self._confine(args.path, write=True)

        def resolve(view: View) -> Text:
            if not view.exists:
                raise ToolFailure(zot_tools.missing_open(self._absolute(args.path)))
            return zot_tools.edit_text(args.path, view.require_text(), args.edits)

        placed = await self._place(path, request, resolve)
        diff = zot_tools.edit_result(placed.before or EMPTY, placed.now or EMPTY)
        return _placed_result(args.path, placed, diff) or zot_tools.NO_CHANGE

    async def _place(
        self, path: SafePath, request: ToolRequest, resolve: Callable[[View], Text]
    ) -> Placed:
        settings = self._settings().edits
        origin = Origin(
            self._session_id,
            self._turn.turn_id,
            request.tool_call_id,
            f"agent: {request.tool} {path.given}",
        )
        placed = await self._services.host.replace(
            path,
            origin,
            resolve,
            review=settings.review,
            save=settings.save,
            still_wanted=lambda: not self._turn.stopped,
        )
        if placed.status == "conflict":
            raise ToolFailure(f"{path.given} changed since you read it; read it again")
        if placed.now is not None:
            self.served.put(path.path, placed.now)
        return placed

    def _confine(self, path: str, *, write: bool) -> SafePath:
        return self._permissions.confine(path, write=write)

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._cwd, path))  # noqa: PTH118 - lexical, as zot does

    # -- what a command sees of the editor

    @property
    def _can_save(self) -> bool:
        return self._services.editor.traits.can_save

    def _unsaved(self) -> list[OpenDocument]:
        return [
            document
            for document in self._services.documents.all()
            if document.path and document.dirty and document.path.startswith(self._cwd + "/")
        ]

    def _shown(self, document: OpenDocument) -> str:
        return (document.path or document.uri).removeprefix(self._cwd + "/")

    def _unsaved_note(self) -> str | None:
        names = [self._shown(document) for document in self._unsaved()]
        if not names:
            return None
        return f"[unsaved in the editor, so not seen by this command: {', '.join(names)}]"

    async def _save_all(self) -> None:
        for document in self._unsaved():
            await self._services.editor.save(document.uri)


def _agents_words(tool: str, path: str, problem: FileProblem) -> str:
    """What the agent's own tool would say where a folder is in the way, or a file in a folder's."""
    match tool, problem.kind:
        case "read", "directory":
            return zot_tools.is_directory(path)
        case "edit", "directory":
            return zot_tools.read_directory(path)
        case "write", "directory":
            return zot_tools.open_directory(path)
        case "read", "notDirectory":
            return zot_tools.not_a_directory("stat", path)
        case "edit", "notDirectory":
            return zot_tools.not_a_directory("open", path)
        case "write", "notDirectory":
            return zot_tools.not_a_directory("mkdir", os.path.dirname(path))  # noqa: PTH120
        case _:
            return str(problem)


def _what(request: ToolRequest) -> str:
    return "command" if tool_kind(request.tool) == "command" else "call"


def _one_line(subject: str, limit: int = 120) -> str:
    first, _, rest = subject.strip().partition("\n")
    return first[:limit] + ("…" if rest or len(first) > limit else "")


def _detail(subject: str, unsaved: list[str]) -> str:
    if not unsaved:
        return subject
    return f"{subject}\n\nUnsaved in the editor, so not seen by it: {', '.join(unsaved)}"


def _options(tool: str, *, can_save: bool) -> list[Option]:
    what = "every command" if tool_kind(tool) == "command" else f"every {tool}"
    save = [Option(option_id="allowAndSave", name="Allow, saving files first", kind="allowOnce")]
    return [
        *(save if can_save else []),
        Option(
            option_id="allow",
            name="Allow without saving" if can_save else "Allow",
            kind="allowOnce",
        ),
        Option(option_id="allowSession", name=f"Allow {what} in this session", kind="allowSession"),
        Option(option_id="deny", name="Deny", kind="deny"),
    ]


def _placed_result(path: str, placed: Placed, text: str) -> str:
    match placed.status:
        case "proposed":
            return (
                f"Proposed, not yet reviewed by the user: {path} will change when accepted.\n{text}"
            )
        case "unknown":
            return (
                f"The editor has not confirmed the change of {path} yet; read it again first.\n"
                f"{text}"
            )
        case _:
            return text
