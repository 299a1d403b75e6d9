"""The sessions of one server: by id, and a default one for each folder."""

import logging
import os
from collections.abc import Callable

import anyio

from lsp_agent.protocol.errors import BadParams, RequestFailed
from lsp_agent.protocol.events import Notice
from lsp_agent.sessions.edits import Rejection
from lsp_agent.sessions.launcher import choose_agent
from lsp_agent.sessions.services import Services
from lsp_agent.sessions.session import Session
from lsp_agent.workspace.ledger import Change

_LOG = logging.getLogger(__name__)
_DEFECT = "A defect of lsp-agent ended this session; its log has more. Prompt again in a new one."


class Sessions:
    """``opened`` is called with each new session, before anything happens in it."""

    def __init__(self, services: Services, opened: Callable[[Session], None]) -> None:
        self._services = services
        self._opened = opened
        self._sessions: dict[str, Session] = {}
        self._defaults: dict[str, str] = {}
        services.ledger.subscribe(self._on_change)
        services.edits.on_rejected(self._on_rejected)

    def get(self, session_id: str | None, path: str | None = None) -> Session:
        """The named session; else the default one of the folder that holds ``path``, else of
        the first workspace folder, made on first use.

        :raises RequestFailed: "unknownSession", "noFolder", "notConfigured", "agentNotFound"
        """
        if session_id is not None:
            session = self._sessions.get(session_id)
            if session is None:
                raise RequestFailed("unknownSession", f"There is no session {session_id!r}.")
            return session
        folder = self._folder(path)
        default = self._sessions.get(self._defaults.get(folder, ""))
        if default is None or default.status in ("closing", "closed"):
            default = self.open(folder)
            self._defaults[folder] = default.id
        return default

    def open(
        self, folder: str | None = None, agent: str | None = None, model: str | None = None
    ) -> Session:
        """A new session in a workspace folder (the first, if none is named).

        :raises RequestFailed: "noFolder", "outsideWorkspace", "agentNotFound", "notConfigured"
        :raises BadParams: for what is no folder
        """
        cwd = self._folder(None) if folder is None else self._inside(folder)
        choice = choose_agent(self._services.settings(cwd), agent, model)
        session = Session(self._services, choice, cwd)
        self._sessions[session.id] = session
        self._opened(session)
        self._services.tasks.start_soon(self._run, session)
        return session

    def to_stop(self, session_id: str | None, turn_id: str | None) -> Session | None:
        """The session that a stop means: the named one, else that of the turn, else the first
        folder's default one; None where there is none, for nothing is made to be stopped.

        :raises RequestFailed: "unknownSession"
        """
        if session_id is not None:
            return self.get(session_id)
        if turn_id is not None:
            return next((session for session in self.all() if session.has_turn(turn_id)), None)
        folders = self._services.folders()
        return self._sessions.get(self._defaults.get(folders[0], "")) if folders else None

    def all(self) -> list[Session]:
        return list(self._sessions.values())

    async def close_all(self) -> None:
        async with anyio.create_task_group() as tasks:
            for session in self.all():
                tasks.start_soon(session.close)

    async def _run(self, session: Session) -> None:
        """A defect in one session ends that session, not the server."""
        try:
            await session.run()
        except Exception:  # noqa: BLE001 - the boundary that keeps the others alive
            _LOG.exception("session %s failed", session.id)
            session.emit(Notice("error", _DEFECT, "lsp-agent"), None)

    def _on_change(self, change: Change) -> None:
        session = self._sessions.get(change.session_id)
        event = self._services.edits.event(change) if session else None
        if session is not None and event is not None:
            session.emit(event, change.turn_id)

    def _on_rejected(self, rejection: Rejection) -> None:
        session = self._sessions.get(rejection.change.session_id)
        if session is not None:
            session.hosting.served.tell_rejected(rejection.change.path, rejection.reason)

    def _folder(self, path: str | None) -> str:
        folders = self._services.folders()
        if not folders:
            raise RequestFailed(
                "noFolder", "No folder is open; open one in the editor and try again."
            )
        holding = [folder for folder in folders if path and _holds(folder, path)]
        return max(holding, key=len) if holding else folders[0]

    def _inside(self, folder: str) -> str:
        """The real path of ``folder``, so that no link leads out of the workspace."""
        path = os.path.realpath(folder)
        if not any(_holds(root, path) for root in self._services.folders()):
            raise RequestFailed(
                "outsideWorkspace", f"{folder} is in none of the open folders.", {"cwd": folder}
            )
        if not os.path.isdir(path):  # noqa: PTH112 - paths are strings here
            raise BadParams("cwd", f"{folder} is no folder")
        return path


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
