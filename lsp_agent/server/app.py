"""The whole server: the face of one client joined to documents, ledger and sessions."""

import hashlib
import os
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import anyio.to_thread
from platformdirs import user_data_path

from lsp_agent.protocol.methods import ANSWER_COMMAND, METHODS
from lsp_agent.protocol.settings_files import user_settings_path
from lsp_agent.protocol.settings_sources import Problem
from lsp_agent.server import code_actions
from lsp_agent.server.ask_person import PersonAsker
from lsp_agent.server.barrier import RefreshBarrier
from lsp_agent.server.client_info import ClientInfo
from lsp_agent.server.context import Context
from lsp_agent.server.editor_port import EditorPort
from lsp_agent.server.events import EventStream
from lsp_agent.server.face import Face
from lsp_agent.server.live_settings import LiveSettings
from lsp_agent.server.methods import commands
from lsp_agent.server.progress import ProgressBoard
from lsp_agent.server.settings_pull import SettingsPull
from lsp_agent.server.turn_display import TurnDisplays
from lsp_agent.sessions.edits import Edits
from lsp_agent.sessions.questions import Questions
from lsp_agent.sessions.services import Services
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.sessions import Sessions
from lsp_agent.sessions.turn import Turn
from lsp_agent.workspace.documents import Documents
from lsp_agent.workspace.file_host import FileHost
from lsp_agent.workspace.ledger import Ledger
from lsp_agent.workspace.paths import Confinement, uri_to_path

Json = dict[str, Any]

_WARNING = 2
#: How long the sessions may take to end when the client goes.
_END_SECONDS = 4.0


class App:
    """Opened when the client has said what it is; fills the tables and hooks of its face."""

    def __init__(
        self,
        face: Face,
        client: ClientInfo,
        ledger: Ledger,
        temporary: TemporaryDirectory[str] | None = None,
    ) -> None:
        """``temporary`` is where ``ledger`` lies, if it is to go when the server ends."""
        self._face = face
        self._client = client
        self._folders = _by_path(face.folders)
        self._settings = LiveSettings(client.options, self._report)
        self._settings.follow(self._folders)
        self._pull = SettingsPull(face, client, self._settings, lambda: self._folders)
        self._data = _data_folder()
        self._ledger = ledger
        self._temporary = temporary
        tasks = face.tasks
        documents = Documents(client.encoding)
        barrier = RefreshBarrier.of(face, client, face.requests)
        editor = EditorPort(face, client, barrier, _lines_of(documents))
        host = FileHost(documents, editor, self._ledger)
        tasks.start_soon(host.put_right_late)
        edits = Edits(self._ledger, host, documents, self._settings.of)
        questions = Questions(tasks, PersonAsker(face, client))
        self._events = EventStream(face)
        if client.events:
            tasks.start_soon(self._events.run)
        board = ProgressBoard(face, client, tasks)
        displays = TurnDisplays(face, board, self._abort)
        services = Services(
            tasks=tasks,
            documents=documents,
            editor=editor,
            host=host,
            ledger=self._ledger,
            edits=edits,
            questions=questions,
            settings=self._settings.of,
            settings_ready=self._pull.current,
            folders=lambda: list(self._folders),
            confinement=self._confinement,
            drain=self._drain,
        )
        self._sessions = Sessions(services, self._opened)
        self._context = Context(
            client, documents, self._sessions, edits, questions, displays, self._settings
        )
        face.on_initialized = self._initialized
        face.on_folders = self._folders_changed
        face.on_shutdown = self._end
        face.on_end = self._end
        self._register(documents, board)

    @classmethod
    async def open(cls, face: Face, client: ClientInfo) -> "App":
        """With the workspace's ledger; without a usable data folder with one that lasts as long
        as the server does, which the person is told."""
        folder = _ledger_folder(_data_folder(), list(_by_path(face.folders)))
        temporary = None
        try:
            ledger = await anyio.to_thread.run_sync(Ledger, folder)
        except OSError as error:
            message = (
                f"{folder} cannot be used ({error.strerror}), so the review of the agent's edits"
                " is forgotten when the server ends. Make that folder writable, or set"
                " XDG_DATA_HOME to one that is, and restart the server."
            )
            face.notify("window/showMessage", {"type": _WARNING, "message": message})
            temporary = TemporaryDirectory(prefix="lsp-agent-ledger-")
            ledger = await anyio.to_thread.run_sync(Ledger, temporary.name)
        return cls(face, client, ledger, temporary)

    def _register(self, documents: Documents, board: ProgressBoard) -> None:
        face = self._face
        for method in METHODS:
            face.requests[method.method] = partial(commands.call, self._context, method)
            face.commands[method.command] = partial(commands.run, self._context, method)
        face.commands[ANSWER_COMMAND] = partial(commands.answer, self._context)
        face.feature("textDocument/codeAction", partial(code_actions.code_actions, self._context))
        face.notifications["textDocument/didOpen"] = lambda params: documents.open(
            params["textDocument"]["uri"],
            params["textDocument"]["version"],
            params["textDocument"]["text"],
        )
        face.notifications["textDocument/didChange"] = lambda params: documents.change(
            params["textDocument"]["uri"],
            params["textDocument"]["version"],
            params["contentChanges"],
        )
        face.notifications["textDocument/didClose"] = lambda params: documents.close(
            params["textDocument"]["uri"]
        )
        face.notifications["textDocument/didSave"] = lambda params: documents.save(
            params["textDocument"]["uri"]
        )
        face.notifications["textDocument/willSave"] = lambda _params: None
        face.notifications["window/workDoneProgress/cancel"] = board.cancelled
        face.notifications["workspace/didChangeConfiguration"] = self._configuration_changed

    # -- while it runs

    async def _initialized(self) -> None:
        self._pull.refresh(self._face.tasks)
        await self._pull.current()
        for folder in self._folders:
            self._settings.of(folder)  # so that what is wrong with them is said at once

    def _configuration_changed(self, _params: Json) -> None:
        self._pull.refresh(self._face.tasks)

    def _folders_changed(self) -> None:
        self._folders = _by_path(self._face.folders)
        self._settings.follow(self._folders)
        self._pull.refresh(self._face.tasks)

    def _confinement(self, anywhere: bool) -> Confinement:
        """An agent that could write the person's settings could free itself of them. A folder's
        own settings only narrow, and may be written."""
        settings = user_settings_path()
        # The file itself too: it may be a link to where the person keeps such files.
        private = [self._data, str(settings.parent), str(settings)]
        return Confinement([os.sep] if anywhere else list(self._folders), private)

    def _opened(self, session: Session) -> None:
        session.log.subscribe(self._context.displays.take)
        if self._client.events:
            session.log.subscribe(self._events.publish)

    async def _drain(self) -> None:
        """Holds an agent back while the client does not read."""
        await self._face.drain()
        await self._events.drain()

    def _abort(self, session: Session, turn: Turn) -> None:
        self._face.tasks.start_soon(session.abort, turn.id)

    def _report(self, problem: Problem) -> None:
        self._face.notify("window/showMessage", {"type": _WARNING, "message": str(problem)})

    async def _end(self) -> None:
        """Ends the sessions with all that they started; before the answer to ``shutdown``, and
        again when the client goes, which may come without one."""
        with anyio.move_on_after(_END_SECONDS, shield=True):
            await self._sessions.close_all()
        await anyio.to_thread.run_sync(self._ledger.close)
        if self._temporary is not None:
            await anyio.to_thread.run_sync(self._temporary.cleanup)


def _lines_of(documents: Documents) -> Any:
    def lines_of(uri: str) -> list[str] | None:
        document = documents.get(uri)
        return document.lines if document else None

    return lines_of


def _by_path(uris: tuple[str, ...]) -> dict[str, str]:
    """The folders in the client's order: by real path, the client's URI."""
    paths = ((uri, uri_to_path(uri)) for uri in uris)
    return {os.path.realpath(path): uri for uri, path in paths if path is not None}


def _data_folder() -> str:
    return str(user_data_path("lsp-agent", appauthor=False))


def _ledger_folder(data: str, folders: list[str]) -> str:
    """One a workspace: named by its first folder."""
    name = hashlib.sha256(os.fsencode(folders[0] if folders else "")).hexdigest()[:16]
    return os.path.join(data, "workspaces", name)  # noqa: PTH118
