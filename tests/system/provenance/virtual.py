"""The same desk without processes: the tools of hosted agents, the looks after those of mirror
agents, the review and the reverts in one process and in virtual time, so that a run takes
milliseconds and no wait costs any.

It stands in for ``desk.py`` and alone here imports lsp_agent. What it leaves out: the wires, the
server's own frames, the prompts' notes, and what a kill leaves behind.
"""

import asyncio
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
from support.scripted_editor import VirtualClock, _Selector
from support.storm_world import without_threads

from lsp_agent.protocol.edit_methods import EditParams, EditsParams, RejectEditParams, RevertParams
from lsp_agent.protocol.errors import LspAgentError, RequestFailed
from lsp_agent.protocol.events import StampedEvent, TurnEnded
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.server.client.editor_port import EditorPort
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.methods import edits as methods
from lsp_agent.sessions.files.calls_at_work import ToolCallSeen
from lsp_agent.sessions.files.hosted_tools import HostedTools
from lsp_agent.sessions.files.mirroring import Mirroring
from lsp_agent.sessions.reverts.reverts import Reverts
from lsp_agent.sessions.shared.covers import Covers
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.toolset.calls import ToolRequest
from lsp_agent.workspace.changing.file_host import FileHost
from lsp_agent.workspace.disk.paths import Confinement
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.ledger.saves import Saves
from lsp_agent.workspace.mirror.mirror import Mirror
from lsp_agent.workspace.recovery import Recovery
from lsp_agent.workspace.review.edits import Edits, Rejection
from provenance.desk import CAPABILITIES, EDITORS
from provenance.hub import Json, Refused
from provenance.puppet import on_disk

#: The wire's delay, one way, in seconds that nobody waits for.
TRAVEL = 0.001
METHODS: dict[str, tuple[type[Any], Callable[[Any, Any], Coroutine[Any, Any, Any]]]] = {
    "agent/edits": (EditsParams, methods.edits),
    "agent/keepEdit": (EditParams, methods.keep_edit),
    "agent/applyEdit": (EditParams, methods.apply_edit),
    "agent/rejectEdit": (RejectEditParams, methods.reject_edit),
    "agent/revert": (RevertParams, methods.revert),
}


class Connection:
    """To the editor: its answer comes after what it tells of its document."""

    behind = False

    def __init__(self, desk: "VirtualDesk") -> None:
        self._desk = desk

    def notify(self, method: str, params: object) -> None: ...

    async def drain(self) -> None: ...

    async def ask(self, method: str, params: object, timeout: float | None) -> Any:
        if method == "agent/sync":  # asked again and again, and nothing is ever held back
            return {}
        await anyio.sleep(TRAVEL)
        answer = self._desk.asked(method, cast(Json, params))
        await anyio.sleep(TRAVEL)
        return answer


class MirrorSession:
    """Of an agent that reads and writes the disk itself, and asks us before it does."""

    def __init__(self, services: Any, view: SessionView, tools: HostedTools, tasks: Any) -> None:
        self._view = view
        self._mirroring = Mirroring(services, view, tools.served, tools.confined)
        self._mirroring.live_in(tasks)

    async def call(self, tool: str, args: Json, call_id: str) -> tuple[str, bool]:
        if tool == "read":
            return on_disk(tool, args), False
        turn_id = self._view.turn_id
        seen = ToolCallSeen(tool, "edit", args, (args["path"],), call_id, turn_id)
        await self._mirroring.before(seen)
        await anyio.sleep(TRAVEL)
        try:
            result, is_error = on_disk(tool, args), False
        except (OSError, ValueError) as error:
            result, is_error = str(error), True
        await anyio.sleep(TRAVEL)
        self._mirroring.returned(call_id, is_error=is_error, asked=True)
        return result, is_error

    async def end_turn(self) -> None:
        await self._mirroring.settle()
        self._mirroring.turn_ended()


class Workshop:
    """What one server has, from its start to its end."""

    def __init__(self, desk: "VirtualDesk", tasks: Any) -> None:
        self.tools: dict[str, HostedTools] = {}
        self.mirrors: dict[str, MirrorSession] = {}
        self._tasks = tasks
        self.turns: dict[str, Turn | None] = {}
        self._sessions: dict[str, str] = {}
        self._folder = str(desk.folder)
        capabilities = CAPABILITIES | {"experimental": {"agent": EDITORS[desk.kind]}}
        client = ClientInfo.of({"capabilities": capabilities}, "utf-16")
        self.documents = Documents("utf-16", desk.clock)
        connection = cast(Any, Connection(desk))
        editor = EditorPort(connection, client, None, self._lines)
        self.ledger = Ledger(str(desk.base / "ledger"))
        reviews = Reviews(self.ledger)
        self.reviews = reviews
        host = FileHost(self.documents, editor, self.ledger, reviews)
        settings = Settings()
        edits = Edits(self.ledger, host, self.documents, reviews, lambda _: settings)
        edits.on_rejected(self._rejected)
        self.recovery = Recovery(self.ledger, reviews, self.documents, host, tasks, str)
        confinement = Confinement([str(desk.folder)])
        self._services = cast(
            Any,
            SimpleNamespace(
                tasks=tasks,
                documents=self.documents,
                editor=editor,
                host=host,
                ledger=self.ledger,
                reviews=reviews,
                saves=Saves(self.ledger, self.documents, tasks),
                edits=edits,
                questions=None,
                diagnostics=None,
                covers=Covers(list),
                mirror=Mirror(self.documents, editor, host, self.ledger, reviews),
                folders=lambda: [self._folder],
                settings=lambda _: settings,
                confinement=lambda _: confinement,
            ),
        )
        self.settings = settings
        nobody = SimpleNamespace(
            all=list, get=lambda _: None, to_stop=lambda *_: None, past_turns=desk.past_turns
        )
        self._reverts = Reverts(self._services, cast(Any, nobody), lambda _: None)
        self.context: Any = SimpleNamespace(
            edits=edits, reverts=self._reverts, recovery=self.recovery, sessions=nobody
        )
        self.host = host

    def session(self, seat: str, session_id: str) -> None:
        self._sessions[seat] = session_id
        view = SessionView(
            session_id,
            self._folder,
            lambda *_: None,
            lambda: self.settings,
            lambda: self.turns.get(seat),
            "a",
        )
        hosted = seat.startswith("hosted")
        tools = HostedTools(self._services, view, lambda: hosted, lambda: False)
        self.tools[seat] = tools
        if not hosted:
            self.mirrors[seat] = MirrorSession(self._services, view, tools, self._tasks)

    def ended(self, session_id: str, turn_id: str) -> None:
        self._reverts.turns.take(StampedEvent(session_id, turn_id, 0, 0.0, TurnEnded("endTurn")))

    def _lines(self, uri: str) -> Any:
        document = self.documents.get(uri)
        return document.text.lines if document else None

    def _rejected(self, rejection: Rejection) -> None:
        """As ``Sessions`` hands it on."""
        for seat, tools in self.tools.items():
            if self._sessions[seat] == rejection.change.session_id:
                tools.served.tell_rejected(rejection.change.path, rejection.reason)


class VirtualDesk:
    """Has what ``World`` asks of a ``Desk``; is its own server and its own hub."""

    MOST_RUNS = 25
    looks_within = 0.15

    def __init__(self, kind: str) -> None:
        self.kind = kind
        fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.base = Path(tempfile.mkdtemp(prefix="la-", dir=fast))
        self.folder = self.base / "work"
        self.folder.mkdir()
        self.clock = VirtualClock()
        self.loop = asyncio.SelectorEventLoop(_Selector(self.clock))
        self.loop.time = self.clock  # type: ignore[method-assign]
        self.failures: list[str] = []
        self.loop.set_exception_handler(lambda _, context: self.failures.append(str(context)))
        self.editor: Any = None
        self.server = self.hub = self
        self.sessions: dict[str, str] = {}
        #: By session, as the store keeps them.
        self._past: defaultdict[str, list[str]] = defaultdict(list)
        self._ids = 0
        self._shop: Workshop
        self.start()

    # -- the server

    def start(self) -> None:
        self.sessions.clear()
        started: asyncio.Future[Workshop] = self.loop.create_future()
        self._stop = asyncio.Event()
        self._main = self.loop.create_task(self._run(started))
        self.drive(asyncio.wait([started, self._main], return_when=asyncio.FIRST_COMPLETED))
        if self._main.done():
            self._main.result()  # says why it did not start
        self._shop = started.result()

    async def _run(self, started: "asyncio.Future[Workshop]") -> None:
        async with anyio.create_task_group() as tasks:
            shop = Workshop(self, tasks)
            await shop.reviews.book.restore()
            tasks.start_soon(shop.host.put_right_late)
            tasks.start_soon(shop.recovery.run)
            started.set_result(shop)
            await self._stop.wait()
            tasks.cancel_scope.cancel()

    def stop(self, *, kill: bool) -> None:
        """In order always: what a kill leaves behind, only a real process shows."""
        for mirror in self._shop.mirrors.values():
            self.drive(mirror.end_turn())
        self._stop.set()
        self.drive(self._main)
        self._shop.reviews.write_down()
        self._shop.ledger.close()

    def close(self) -> None:
        self.stop(kill=False)
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()
        shutil.rmtree(self.base, ignore_errors=True)

    def drive(self, awaitable: Any) -> Any:
        return self.loop.run_until_complete(awaitable)

    def rest(self, seconds: float) -> None:
        self.drive(asyncio.sleep(seconds))

    def barrier(self) -> None:
        self.rest(2 * TRAVEL)

    def asked(self, method: str, params: Json) -> Any:
        match method:
            case "workspace/applyEdit":
                return self.editor.take_edit(params)
            case "agent/saveDocument":
                return self.editor.asked_to_save(params)
            case "agent/reloadDocument":
                return self.editor.asked_to_reload(params)
            case _:
                return {}

    def notify(self, method: str, params: Json) -> None:
        self._soon(lambda: self._heard(method, params))

    def _heard(self, method: str, params: Json) -> None:
        shop, item = self._shop, params["textDocument"]
        match method:
            case "textDocument/didOpen":
                shop.documents.open(item["uri"], item["version"], item["text"])
                shop.recovery.opened(item["uri"])
            case "textDocument/didChange":
                shop.documents.change(item["uri"], item["version"], params["contentChanges"])
            case "textDocument/didClose":
                shop.documents.close(item["uri"])
            case "textDocument/didSave":
                shop.documents.save(item["uri"])
            case _:
                raise AssertionError(method)

    def _soon(self, work: Callable[[], None]) -> None:
        """What starts tasks does so in a task, as with a message that came."""
        if self.loop.is_running():
            work()
        else:
            self.drive(_done(work))

    def call(self, method: str, *params: Any) -> Any:
        """A request; or, as of a ``Desk``, a call of an agent's.

        :raises Refused:
        """
        if method not in METHODS:
            return {} if method.startswith("agent/") else self._agents_call(method, *params)
        shape, handler = METHODS[method]
        context = self._shop.context
        try:
            result = self.drive(handler(context, shape.model_validate(params[0])))
        except RequestFailed as failed:
            raise Refused({"message": str(failed), "data": {"kind": failed.kind}}) from failed
        except LspAgentError as failed:
            raise Refused({"message": str(failed), "code": 0}) from failed
        return result.model_dump(by_alias=True, mode="json")

    # -- the agents

    def session(self, seat: str) -> str:
        if seat not in self.sessions:
            self._ids += 1
            self.sessions[seat] = f"s{self._ids}"
            self._shop.session(seat, self.sessions[seat])
        return self.sessions[seat]

    def begin_turn(self, seat: str) -> tuple[str, str]:
        self._ids += 1
        turn = self._shop.turns[seat] = self.drive(_turn(f"t{self._ids}"))
        self._past[self.sessions[seat]].append(turn.id)
        return turn.id, ""

    def end_turn(self, seat: str, turn: str) -> None:
        if mirror := self._shop.mirrors.get(seat):
            self.drive(mirror.end_turn())
        self._shop.turns[seat] = None
        self._shop.ended(self.sessions[seat], turn)

    async def past_turns(self, session_id: str) -> list[str]:
        return self._past[session_id]

    def _agents_call(self, seat: str, tool: str, args: Json) -> tuple[str, bool]:
        self._ids += 1
        call_id = f"c{self._ids}"
        if mirror := self._shop.mirrors.get(seat):
            return self.drive(mirror.call(tool, args, call_id))
        request = ToolRequest(tool, args, call_id)
        answer = self.drive(self._shop.tools[seat].run(request))
        return answer.text, answer.is_error


async def _turn(turn_id: str) -> Turn:
    return Turn(turn_id, "", "")  # its scope needs a loop


async def _done(work: Callable[[], None]) -> None:
    work()


class VirtualDesks:
    """As ``Desks``; everything of a desk's is done without threads."""

    def __init__(self) -> None:
        self._desks: dict[str, tuple[VirtualDesk, int]] = {}

    def used(self, work: Callable[[Any], Any], *, kind: str, restarts: bool) -> Any:
        with without_threads():
            desk, runs = self._desks.pop(kind, (None, 0))
            if desk is not None and (restarts or runs >= VirtualDesk.MOST_RUNS):
                desk.close()
                desk, runs = None, 0
            desk = desk or VirtualDesk(kind)
            desk.sessions.clear()
            done = work(desk)
            if desk.failures:
                raise RuntimeError(desk.failures[0])
            if restarts:
                desk.close()
            else:
                self._desks[kind] = desk, runs + 1
            return done

    def close(self) -> None:
        with without_threads():
            for desk, _ in self._desks.values():
                desk.close()
        self._desks.clear()
