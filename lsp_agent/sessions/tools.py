"""The tools of a hosted agent: its file calls answered from the editor, its commands gated."""

import os
from collections.abc import Callable, Mapping
from typing import Protocol

from lsp_agent.agents.tool_host import Allow, Block, Gate, ToolAnswer, ToolRequest, Verdict
from lsp_agent.protocol.events import ToolKind
from lsp_agent.protocol.questions import Option
from lsp_agent.protocol.settings import Settings
from lsp_agent.sessions.permissions import Grants, decide
from lsp_agent.sessions.questions import Emitter
from lsp_agent.sessions.served import Served
from lsp_agent.sessions.services import Services
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.merge import merge3
from lsp_agent.wires import zot_tools
from lsp_agent.wires.zot_tools import ToolFailure
from lsp_agent.workspace.documents import OpenDocument
from lsp_agent.workspace.file_host import Origin, Placed, View
from lsp_agent.workspace.paths import OutsideWorkspace, SafePath

_KINDS: Mapping[str, ToolKind] = {
    "read": "read",
    "write": "edit",
    "edit": "edit",
    "bash": "command",
}
_STOPPED = "Not run: the user stopped this turn."


class TurnView(Protocol):
    """What the tools need to know of the running turn."""

    @property
    def turn_id(self) -> str | None: ...
    @property
    def stopped(self) -> bool: ...


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
        self._grants = Grants()
        self.served = Served(services.host)

    async def intercept(self, request: ToolRequest) -> Verdict:
        if self._turn.stopped:
            return Block(_STOPPED)
        kind = _KINDS.get(request.tool, "other")
        path = request.args.get("path")
        if kind in ("read", "edit") and isinstance(path, str) and path:
            try:
                self._confine(path, write=kind == "edit")
            except OutsideWorkspace as error:
                return Block(str(error))
        policy = decide(kind, _subject(request), self._settings().permissions, self._grants)
        match policy:
            case "deny":
                return Block(f'Not run: permissions.{kind} is "deny" in the user\'s settings.')
            case "ask":
                return Gate()
            case "allow":
                return Allow(self._unsaved_note() if kind == "command" else None)

    async def decide(self, request: ToolRequest) -> Allow | Block:
        """Asks the person. A command sees the disk, so the one question also offers to save."""
        kind = _KINDS.get(request.tool, "other")
        if kind in self._grants.kinds:
            return Allow(await self._saved())
        unsaved = self._unsaved() if kind == "command" else []
        answer = await self._services.questions.ask(
            self._emit,
            session_id=self._session_id,
            turn_id=self._turn.turn_id,
            tool_call_id=request.tool_call_id,
            kind="permission",
            title=f"{request.tool}: {_one_line(_subject(request))}",
            detail=_detail(_subject(request), [self._shown(doc) for doc in unsaved]),
            options=_options(kind, request.tool, can_save=bool(unsaved) and self._can_save),
        )
        if self._turn.stopped:
            return Block(_STOPPED)
        match answer:
            case "allowAndSave":
                return Allow(await self._saved(save=True))
            case "allow":
                return Allow(await self._saved())
            case "allowSession":
                self._grants.kinds.add(kind)
                return Allow(await self._saved())
            case "deny":
                return Block("Not run: the user declined this command.")
            case _:
                return Block("Not run: the question whether to allow it was not answered.")

    async def run(self, request: ToolRequest) -> ToolAnswer:
        if self._turn.stopped:
            return ToolAnswer(_STOPPED, is_error=True)
        try:
            text = await self._run(request)
        except ToolFailure as failure:
            return ToolAnswer(failure.text, is_error=True)
        return ToolAnswer(text)

    async def _run(self, request: ToolRequest) -> str:
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

    async def _read(self, args: zot_tools.ReadArgs) -> str:
        path = self._confine(args.path, write=False)
        view = await self._services.host.view(path, self._session_id)
        if not view.exists:
            raise ToolFailure(zot_tools.missing_stat(self._absolute(args.path)))
        if view.text is not None:
            self.served.put(path.path, view.text)
        data = view.data if view.data is not None else view.require_text().content.encode()
        return zot_tools.read_text(args.path, data, args.offset, args.limit) or (
            zot_tools.EMPTY_FILE
        )

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
        return self._services.confinement().confine(path, self._cwd, write=write)

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

    async def _saved(self, *, save: bool = False) -> str | None:
        if save:
            for document in self._unsaved():
                await self._services.editor.save(document.uri)
        return self._unsaved_note()


def _subject(request: ToolRequest) -> str:
    if request.tool == "bash":
        return str(request.args.get("command") or "")
    return f"{request.tool} {dict(request.args)}" if request.args else request.tool


def _one_line(subject: str, limit: int = 120) -> str:
    first, _, rest = subject.strip().partition("\n")
    return first[:limit] + ("…" if rest or len(first) > limit else "")


def _detail(subject: str, unsaved: list[str]) -> str:
    if not unsaved:
        return subject
    return f"{subject}\n\nUnsaved in the editor, so not seen by it: {', '.join(unsaved)}"


def _options(kind: ToolKind, tool: str, *, can_save: bool) -> list[Option]:
    what = "every command" if kind == "command" else f"every {tool}"
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
