"""The whole server: the face of one client joined to documents, ledger and sessions."""

import logging
import os
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from lsp_agent.protocol.client_requests import EVENT_NOTIFICATION
from lsp_agent.protocol.events import QuestionAnswered, QuestionAsked, StampedEvent
from lsp_agent.protocol.methods import ANSWER_COMMAND, METHODS, SHOW_QUESTION_COMMAND
from lsp_agent.protocol.settings.sources import Problem
from lsp_agent.server.chat.conversations import Conversations
from lsp_agent.server.chat.grammar import is_chat
from lsp_agent.server.chat.inlay_hints import InlayHints
from lsp_agent.server.chat.semantic_tokens import SemanticTokens
from lsp_agent.server.chat.waiting import waiting
from lsp_agent.server.client.barrier import RefreshBarrier
from lsp_agent.server.client.capabilities import TYPED_FOR_CHATS, registrations
from lsp_agent.server.client.client_connection import ClientConnection
from lsp_agent.server.client.diagnostics_port import DiagnosticsPort
from lsp_agent.server.client.editor_port import EditorPort
from lsp_agent.server.client.in_order import ChangesInOrder
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.client.live_settings import LiveSettings
from lsp_agent.server.client.settings_pull import SettingsPull
from lsp_agent.server.context import Context
from lsp_agent.server.methods import commands
from lsp_agent.server.questions.ask_person import PersonAsker
from lsp_agent.server.questions.meant import Shown
from lsp_agent.server.questions.whole_question import WholeQuestions
from lsp_agent.server.reserved import ReservedPlaces
from lsp_agent.server.review.review_ui import ReviewUi
from lsp_agent.server.rpc.dispatcher import NotificationHandler
from lsp_agent.server.rpc.errors import ClientRefused
from lsp_agent.server.turns.events import EventStream
from lsp_agent.server.turns.last_answers import LastAnswers
from lsp_agent.server.turns.progress import ProgressBoard
from lsp_agent.server.turns.turn_display import TurnDisplays
from lsp_agent.sessions.reverts.reverts import Reverts
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.sessions import Sessions
from lsp_agent.sessions.shared.covers import Covers
from lsp_agent.sessions.shared.questions import Questions
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.sessions.stored.store import SessionStore
from lsp_agent.text.plain import escaped_line, first_of
from lsp_agent.user_data.data_folder import data_folder, workspace_data
from lsp_agent.workspace.changing.file_host import FileHost
from lsp_agent.workspace.disk.paths import Confinement, Reserved, uri_to_path
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.other_servers import adopt
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.ledger.saves import Saves
from lsp_agent.workspace.mirror.mirror import Mirror
from lsp_agent.workspace.recovery import Recovery
from lsp_agent.workspace.review.edits import Edits

if TYPE_CHECKING:
    from lsprotocol import types

Json = dict[str, Any]

_WARNING = 2
#: How long the sessions may take to end when the client goes.
_END_SECONDS = 4.0
_ANSWER_SECONDS = 10.0

log = logging.getLogger(__name__)


class App:
    """Opened when the client has said what it is; fills the tables and hooks of its face."""

    def __init__(
        self,
        face: ClientConnection,
        client: ClientInfo,
        ledger: Ledger,
        reviews: Reviews,
        folder: str,
        temporary: TemporaryDirectory[str] | None = None,
        log_file: Path | None = None,
    ) -> None:
        """``folder`` is where the workspace's sessions lie, ``temporary`` the same one and that
        of ``ledger`` if it is to go when the server ends; ``log_file`` is what we log to."""
        self._face = face
        self._client = client
        self._folders = _by_path(face.folders)
        self._settings = LiveSettings(client.options, self._report)
        self._settings.follow(self._folders)
        self._pull = SettingsPull(face, client, self._settings, lambda: self._folders)
        self._reserved = ReservedPlaces(str(data_folder()), log_file, self._settings.of)
        self._ledger = ledger
        self._reviews = reviews
        self._temporary = temporary
        tasks = face.tasks
        documents = Documents(client.encoding)
        face.requests.update(SemanticTokens(documents, client.encoding).requests)
        barrier = RefreshBarrier.of(face, client, face.requests)
        editor = EditorPort(face, client, barrier, _lines_of(documents))
        host = FileHost(documents, editor, self._ledger, reviews)
        tasks.start_soon(host.put_right_late)
        edits = Edits(self._ledger, host, documents, reviews, self._settings.of)
        self._review = ReviewUi(
            face, client, tasks, documents, edits, self._settings.of, self._waiting
        )
        whole = WholeQuestions(face, self._review.shower, self._review.previews, tasks)
        shown = Shown()
        questions = Questions(tasks, PersonAsker(face, client, whole, shown))
        self._events = EventStream(face.outbox, partial(face.notification, EVENT_NOTIFICATION))
        board = ProgressBoard(face, client, tasks)
        displays = TurnDisplays(face, board, self._abort)
        covers = Covers(lambda: list(self._folders))
        services = Services(
            tasks=tasks,
            documents=documents,
            editor=editor,
            host=host,
            mirror=Mirror(documents, editor, host, self._ledger, reviews),
            ledger=self._ledger,
            reviews=reviews,
            saves=Saves(self._ledger, documents, tasks),
            edits=edits,
            questions=questions,
            diagnostics=DiagnosticsPort.of(face, client),
            covers=covers,
            settings=self._settings.of,
            settings_ready=self._pull.current,
            folders=lambda: list(self._folders),
            confinement=self._agents_confinement,
            drain=face.drain,
        )
        self._recovery = Recovery(ledger, reviews, documents, host, tasks, self._warn)
        store = SessionStore(os.path.join(folder, "sessions"), covers.kept)  # noqa: PTH118
        self._sessions = Sessions(services, self._opened, store)
        reverts = Reverts(services, self._sessions, displays.notice)
        tasks.start_soon(self._review.run)
        living, keeps_after = self._sessions.living, client.quirks.keeps_after
        chats = Conversations(face, host, documents, tasks, living, keeps_after)
        self._inlay_hints = InlayHints(face, client, documents, chats, questions)
        face.requests.update(self._inlay_hints.requests)
        tasks.start_soon(self._inlay_hints.run)
        self._context = Context(
            client=client,
            documents=documents,
            sessions=self._sessions,
            edits=edits,
            reverts=reverts,
            questions=questions,
            whole=whole,
            shown=shown,
            answers=LastAnswers(face, client, chats.is_open),
            chats=chats,
            displays=displays,
            settings=self._settings,
            review=self._review,
            recovery=self._recovery,
            host=host,
            confinement=self._confinement,
        )
        face.on_initialized = self._initialized
        face.on_folders = self._folders_changed
        face.on_shutdown = self._end
        face.on_end = self._end
        self._register(documents, board)

    @classmethod
    async def open(
        cls, face: ClientConnection, client: ClientInfo, log_file: Path | None = None
    ) -> "App":
        """With the workspace's ledger; without a usable data folder with one that lasts as long
        as the server does, which the person is told."""
        folder = workspace_data(list(_by_path(face.folders)))
        temporary = None
        try:
            ledger = await anyio.to_thread.run_sync(Ledger, folder)
        except OSError as error:
            message = (
                f"{folder} cannot be used ({error.strerror}), so the review of the agent's edits"
                " and its sessions are forgotten when the server ends. Make that folder writable,"
                " or set XDG_DATA_HOME to one that is, and restart the server."
            )
            face.notify("window/showMessage", {"type": _WARNING, "message": message})
            temporary = TemporaryDirectory(prefix="lsp-agent-ledger-")
            folder = temporary.name
            ledger = await anyio.to_thread.run_sync(Ledger, folder)
        else:
            await adopt(ledger, folder)
        reviews = Reviews(ledger)
        if lost := ledger.lost.union(await reviews.book.restore()):
            face.notify(
                "window/showMessage", {"type": _WARNING, "message": _lost_told(lost, folder)}
            )
        return cls(face, client, ledger, reviews, folder, temporary, log_file)

    def _register(self, documents: Documents, board: ProgressBoard) -> None:
        face = self._face
        for method in METHODS:
            face.requests[method.method] = partial(commands.call, self._context, method)
            face.commands[method.command] = partial(commands.run, self._context, method)
            if method.name == "abort":
                face.urgent.update((method.method, method.command))
        face.commands[ANSWER_COMMAND] = partial(commands.answer, self._context)
        face.commands[SHOW_QUESTION_COMMAND] = partial(commands.show_question, self._context)
        face.feature("textDocument/codeAction", self._code_actions)
        face.feature("textDocument/codeLens", self._code_lenses)
        for name in TYPED_FOR_CHATS:
            face.feature(f"textDocument/{name}", partial(self._of_conversation, name))
        changes = (
            ChangesInOrder(documents, face.tasks)
            if self._client.quirks.mixes_changes_up
            else documents
        )
        face.notifications["textDocument/didOpen"] = lambda params: changes.open(
            params["textDocument"]["uri"],
            params["textDocument"]["version"],
            params["textDocument"]["text"],
        )
        face.notifications["textDocument/didChange"] = lambda params: changes.change(
            params["textDocument"]["uri"],
            params["textDocument"]["version"],
            params["contentChanges"],
        )
        face.notifications["textDocument/didClose"] = lambda params: changes.close(
            params["textDocument"]["uri"]
        )
        face.notifications["textDocument/didSave"] = lambda params: documents.save(
            params["textDocument"]["uri"]
        )
        for name, also in self._review.hints.hooks.items():
            face.notifications[name] = _both(face.notifications[name], also)
        opened = "textDocument/didOpen"
        face.notifications[opened] = _both(face.notifications[opened], self._recovery.opened)
        face.notifications["textDocument/willSave"] = lambda _params: None
        face.notifications["window/workDoneProgress/cancel"] = board.cancelled
        face.notifications["workspace/didChangeConfiguration"] = self._configuration_changed

    # -- while it runs

    def _code_actions(self, params: "types.CodeActionParams") -> object:
        from lsp_agent.server.code_actions import code_actions  # noqa: PLC0415  typed

        return code_actions(self._context, params)

    def _code_lenses(self, params: "types.CodeLensParams") -> object:
        from lsp_agent.server.code_lenses import code_lenses  # noqa: PLC0415  typed

        return code_lenses(self._context, params)

    def _of_conversation(self, name: str, params: Any) -> object:
        from lsp_agent.server.chat_documents import ANSWERS  # noqa: PLC0415  typed

        return ANSWERS[name](self._context, params)

    def _waiting(self, document: OpenDocument) -> list[Json]:
        """What a conversation's document is waiting for."""
        if not is_chat(document.path):
            return []
        chats, questions = self._context.chats, self._context.questions
        session = chats.session(document.path or "")
        asked = questions.open(session.id) if session is not None else []
        return waiting(document.text.content, asked, chats.is_written)

    def _told(self, stamped: StampedEvent) -> None:
        """What waits in a conversation may be another thing."""
        if isinstance(stamped.event, (QuestionAsked, QuestionAnswered)):
            path = self._context.chats.document(stamped.session_id)
            if path is not None:
                self._review.hints.changed(path)

    async def _register_for_chats(self) -> None:
        try:
            registered = {"registrations": registrations(self._client)}
            await self._face.ask("client/registerCapability", registered, _ANSWER_SECONDS)
        except (ClientRefused, TimeoutError) as exc:
            log.info("nothing is registered for conversations: %s", exc or "no answer")

    async def _initialized(self) -> None:
        if registrations(self._client):
            self._face.tasks.start_soon(self._register_for_chats)
        self._face.tasks.start_soon(self._recovery.run)
        self._pull.refresh(self._face.tasks)
        await self._pull.current()
        for folder in self._folders:
            self._settings.of(folder)  # so that what is wrong with them is said at once

    def _configuration_changed(self, _params: Json) -> None:
        self._pull.refresh(self._face.tasks)
        self._face.tasks.start_soon(self._settings_changed)

    async def _settings_changed(self) -> None:
        await self._pull.current()
        self._settings.forget()  # what is in files may have changed with it
        self._review.hints.settings_changed()

    def _folders_changed(self) -> None:
        self._folders = _by_path(self._face.folders)
        self._settings.follow(self._folders)
        self._pull.refresh(self._face.tasks)

    def _confinement(self, anywhere: bool, beyond: Sequence[Reserved] = ()) -> Confinement:
        folders = list(self._folders)
        reserved = [*self._reserved.of(folders), *beyond]
        return Confinement([os.sep] if anywhere else folders, reserved)

    def _agents_confinement(self, anywhere: bool) -> Confinement:
        return self._confinement(anywhere, self._context.chats.reserved())

    def _opened(self, session: Session) -> None:
        session.log.subscribe(self._context.displays.take)
        session.log.subscribe(self._context.answers.take)
        session.log.subscribe(self._context.chats.take)
        session.log.subscribe(self._inlay_hints.take)
        session.log.subscribe(self._told)
        session.log.subscribe(self._review.take)
        session.log.subscribe(self._context.reverts.turns.take)
        if self._client.events:
            session.log.subscribe(self._events.publish)

    def _abort(self, session: Session, turn: Turn) -> None:
        self._face.tasks.start_soon(session.cancel, turn)

    def _report(self, problem: Problem) -> None:
        self._warn(str(problem))

    def _warn(self, message: str) -> None:
        self._face.notify("window/showMessage", {"type": _WARNING, "message": message})

    async def _end(self) -> None:
        """Ends the sessions with all that they started; before the answer to ``shutdown``, and
        again when the client goes, which may come without one."""
        with anyio.move_on_after(_END_SECONDS, shield=True):
            await self._sessions.close_all()
        await self._review.close()
        self._reviews.write_down()
        await anyio.to_thread.run_sync(self._ledger.close)
        if self._temporary is not None:
            await anyio.to_thread.run_sync(self._temporary.cleanup)


def _lost_told(lost: Collection[str], folder: str) -> str:
    """``lost`` are the paths whose changes can be reviewed no more."""
    names = sorted({escaped_line(os.path.basename(path)) for path in lost})  # noqa: PTH119
    shown = first_of(names)
    return (
        f"The review of the agent's earlier changes is lost: {shown}. What {folder} kept of them"
        " is gone or damaged. Compare these files with their last commit."
    )


def _both(first: NotificationHandler, then: Callable[[str], None]) -> NotificationHandler:
    """``then`` is told the URI of the document that ``first`` took a notification of."""

    def handle(params: Json) -> None:
        first(params)
        then(params["textDocument"]["uri"])

    return handle


def _lines_of(documents: Documents) -> Any:
    def lines_of(uri: str) -> list[str] | None:
        document = documents.get(uri)
        return document.lines if document else None

    return lines_of


def _by_path(uris: tuple[str, ...]) -> dict[str, str]:
    """The folders in the client's order: by real path, the client's URI."""
    paths = ((uri, uri_to_path(uri)) for uri in uris)
    return {os.path.realpath(path): uri for uri, path in paths if path is not None}
