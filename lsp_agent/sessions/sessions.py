"""The sessions of one server: by id, and a default one for each folder; with those of earlier
runs, and of other servers of the workspace, that the store has."""

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import anyio

from lsp_agent.protocol.errors import BadParams, RequestFailed
from lsp_agent.protocol.events import Notice, Rewound
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.sessions.agent import options as agent_options
from lsp_agent.sessions.agent import own_sessions
from lsp_agent.sessions.agent.chosen import Option
from lsp_agent.sessions.agent.launcher import AgentChoice, choose_agent
from lsp_agent.sessions.agent.own_sessions import OwnSession
from lsp_agent.sessions.folders import holding, inside
from lsp_agent.sessions.recorder import Recorder
from lsp_agent.sessions.session import Session, Status
from lsp_agent.sessions.shared.event_log import EventLog
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.stored.cut import Asked, Cut, cut_before, prompts
from lsp_agent.sessions.stored.place import About
from lsp_agent.sessions.stored.recap import markdown, recap, recap_of
from lsp_agent.sessions.stored.store import Entry, SessionStore, new_id
from lsp_agent.sessions.stored.transcript import Transcript, replayed
from lsp_agent.workspace.disk.paths import is_os_text
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.review.edits import Rejection

_LOG = logging.getLogger(__name__)
_DEFECT = "A defect of lsp-agent ended this session; its log has more. Prompt again in a new one."
_ELSEWHERE = "This conversation goes on in another editor. Send it there, or close that one first."


@dataclass(frozen=True, slots=True)
class Known:
    """A session in the list; ``stored`` where it is not open here."""

    about: About
    status: Status | Literal["elsewhere"]
    stored: bool


class Sessions:
    """``opened`` is called with each new session, before anything happens in it."""

    def __init__(
        self, services: Services, opened: Callable[[Session], None], store: SessionStore
    ) -> None:
        self._services = services
        self._opened = opened
        self._store = store
        self._sessions: dict[str, Session] = {}
        self._recorders: dict[str, Recorder] = {}
        #: What changes a session as a whole, and what tells of it, one after the other.
        self._one_by_one = anyio.Lock()
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
        folder = self.folder_of(path)
        default = self._sessions.get(self._defaults.get(folder, ""))
        if default is None or default.status in ("closing", "closed"):
            default = self.open(folder)
            self._defaults[folder] = default.id
        return default

    def open(
        self,
        folder: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        ref: str | None = None,
    ) -> Session:
        """A new session in a workspace folder (the first, if none is named); with ``ref`` it goes
        on with one that the agent itself keeps.

        :raises RequestFailed: "noFolder", "outsideWorkspace", "agentNotFound", "notConfigured"
        :raises BadParams: for what is no folder, or no name of a model
        """
        cwd = self.folder_of(None) if folder is None else inside(self._services.folders(), folder)
        if model and not is_os_text(model):  # it may go to the agent as an argument
            raise BadParams("model", "has NUL or half a surrogate pair in it")
        choice = choose_agent(self._services.settings(cwd), agent, model)
        session = self._begin(choice, cwd)
        session.agent.resume = ref
        return session

    async def resume(self, session_id: str) -> Session:
        """Takes up an earlier session under its own id: by the agent's own means where it has
        them, else its next prompt comes with a summary. One that is open is simply returned.

        :raises RequestFailed: "unknownSession"; "conflict" where another server has it open;
            as ``open`` does where its folder or its agent is no more to be had
        """
        async with self._one_by_one:
            if (session := self.living(session_id)) is not None:
                return session
            entry = await self._store.take_up(session_id)
            try:
                return await self._resume(entry)
            except BaseException:
                entry.release()
                raise

    async def _resume(self, entry: Entry) -> Session:
        about, transcript = entry.about, await entry.transcript()
        cwd = inside(self._services.folders(), about.folder)
        choice = choose_agent(self._services.settings(cwd), about.agent, None)
        session = self._begin(choice, cwd, entry)
        session.title, session.agent.resume = about.title, about.ref
        model = about.model if about.model != choice.agent.model else None
        session.agent.chosen.take_up(model, about.options or {})
        session.runner.recap = recap(transcript)
        return session

    def _begin(self, choice: AgentChoice, cwd: str, entry: Entry | None = None) -> Session:
        """A new session, or the one that ``entry`` has kept."""
        earlier = self._sessions.get(entry.about.id) if entry else None
        log = earlier.log if earlier else EventLog(entry.about.id) if entry else None
        session = Session(self._services, choice, cwd, log)
        self._sessions[session.id] = session
        if entry is None:
            now, model = time.time(), choice.agent.model or None
            about = About(
                id=session.id, folder=cwd, agent=choice.name, model=model, created=now, updated=now
            )
            entry = self._store.new(about)
        self._recorders[session.id] = Recorder(session, entry)
        session.runner.account = partial(recap_of, entry)
        if earlier is None:
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

    def settings(self) -> Settings:
        """Those of the first folder, where sessions are opened that name none."""
        folders = self._services.folders()
        return self._services.settings(folders[0] if folders else os.sep)

    def all(self) -> list[Session]:
        return list(self._sessions.values())

    async def known(self) -> list[Known]:
        """All that are open here and all that the store has, newest first."""
        async with self._one_by_one:
            here = {
                session.id: Known(self._recorders[session.id].entry.about, session.status, False)
                for session in self.all()
            }
            stored = await self._store.listed()
        for listed in stored:
            known = here.get(listed.about.id)
            if known is None:
                status = "elsewhere" if listed.elsewhere else "closed"
                here[listed.about.id] = Known(listed.about, status, True)
            elif known.status == "closed":
                here[listed.about.id] = Known(listed.about, "closed", True)
        return sorted(here.values(), key=lambda known: known.about.updated, reverse=True)

    async def messages(self, session: Session) -> object:
        """The agent's own transcript; what the store has where the agent does not run, or is not
        the one that all was said to."""
        entry = self._recorders[session.id].entry
        resumed = session.resumed and not session.agent.resumed
        if session.agent.link is None or resumed:
            messages = (await entry.transcript()).messages
            if messages or session.agent.resume is None:
                return messages
            await session.agent.running()  # it goes on with one of the agent's own
        return await session.agent.messages()

    async def of_agent(self, session: Session) -> list[OwnSession]:
        """The sessions that its agent itself keeps of its folder, newest first, but for those
        that are ours as well.

        :raises RequestFailed: as ``own_sessions.listed`` does
        """
        found = await own_sessions.listed(session.agent, session.cwd)
        ours = {listed.about.ref for listed in await self._store.listed()}
        ours |= {each.agent.resume for each in self.all()}
        return [one for one in found if one.ref not in ours]

    async def export(self, session_id: str) -> str:
        """As Markdown. :raises RequestFailed: "unknownSession\""""
        async with self._one_by_one:
            return markdown(*await self._kept(session_id))

    async def past_turns(self, session_id: str) -> list[str]:
        """The turns that are kept of a session, oldest first: also one that a crash has cut off."""
        async with self._one_by_one:
            try:
                _, transcript = await self._kept(session_id)
            except RequestFailed as failure:
                if failure.kind != "unknownSession":
                    raise
                return []  # nothing was said in it, so it was never stored
            return transcript.turns

    async def _kept(self, session_id: str) -> tuple[About, Transcript]:
        """What is kept of a session, also while it is open here."""
        if (session := self.living(session_id)) is None:
            return await self._store.transcript(session_id)
        entry = self._recorders[session_id].entry
        about = entry.about.model_copy(update={"title": session.title})
        return about, await entry.transcript()

    async def prompts(self, session_id: str) -> list[Asked]:
        """Those that ``rewind`` and ``fork`` can go back to, oldest first.

        :raises RequestFailed: "unknownSession"
        """
        async with self._one_by_one:
            return prompts((await self._lines(session_id))[1])

    async def fork(self, session_id: str, turn_id: str | None) -> tuple[Session, Asked | None]:
        """A new session that goes on from before that turn, or from the end; the first one stays
        as it is.

        :raises RequestFailed: as ``cut_before`` and ``resume`` do
        """
        async with self._one_by_one:
            about, lines = await self._lines(session_id)
            cut = None if turn_id is None else cut_before(lines, turn_id)
            entry = await self._store.begin(_copy(about, "fork"), cut.kept if cut else lines)
            try:
                return await self._resume(entry), cut.asked if cut else None
            except BaseException:
                entry.release()
                with anyio.CancelScope(shield=True):
                    await self._store.delete(entry.about.id)
                raise

    async def rewind(self, session: Session, turn_id: str | None) -> tuple[Cut, str]:
        """Has a session at rest go on from before that turn, or the last one; what it leaves is
        kept in one of its own, whose id is told.

        :raises RequestFailed: as ``cut_before`` and ``Entry.go_back`` do
        """
        async with self._one_by_one:
            recorder = self._recorders[session.id]
            entry = recorder.entry
            cut = cut_before(await entry.lines(), turn_id)
            left = _copy(entry.about, "left", ref=entry.about.ref)
            with anyio.CancelScope(shield=True):  # half of it would have two share one memory
                await entry.go_back(cut.kept, left)
                await session.go_on_from(recap(replayed(cut.kept)), cut.asked)
                recorder.rewound()
                session.emit(Rewound(cut.asked.turn_id, left.id), None)
            return cut, left.id

    async def _lines(self, session_id: str) -> tuple[About, list[bytes]]:
        """As ``_kept``, as they are in the file."""
        if (session := self.living(session_id)) is None:
            return await self._store.lines(session_id)
        entry = self._recorders[session_id].entry
        return entry.about.model_copy(update={"title": session.title}), await entry.lines()

    async def rename(self, session_id: str, title: str) -> None:
        """:raises RequestFailed: "unknownSession"; "conflict" where another server has it open"""
        async with self._one_by_one:
            if (session := self.living(session_id)) is not None:
                session.title = title
                self._recorders[session_id].entry.change(title=title)
            else:
                await self._store.rename(session_id, title)

    async def delete(self, session_id: str) -> None:
        """Ends it where it is open here. :raises RequestFailed: as ``rename`` does"""
        async with self._one_by_one:
            session = self._sessions.get(session_id)
            if session is not None:
                await self.close(session)
            try:
                await self._store.delete(session_id)
            except RequestFailed as failure:
                if session is None or failure.kind != "unknownSession":
                    raise  # else nothing was said in it, so it was never stored
            if self._sessions.pop(session_id, None) is not None:
                del self._recorders[session_id]

    def keep_document(self, session: Session, path: str) -> None:
        """That the document of this real path goes on with it."""
        self._recorders[session.id].entry.change(document=path)

    async def of_document(self, path: str) -> str | None:
        """The session of an earlier run that this document went on with last.

        :raises RequestFailed: "conflict" where another server has it open
        """
        for listed in await self._store.listed():
            about = listed.about
            if about.document == path and about.id not in self._sessions:
                if listed.elsewhere:
                    raise RequestFailed("conflict", _ELSEWHERE)
                return about.id
        return None

    async def last_document(self) -> str | None:
        """That of the newest session of an earlier run in the first folder, where this run has no
        default session yet."""
        folders = self._services.folders()
        if not folders or self.living(self._defaults.get(folders[0], "")) is not None:
            return None
        for listed in await self._store.listed():
            about = listed.about
            if about.document and about.folder == folders[0] and not listed.elsewhere:
                return about.document
        return None

    def make_default(self, session: Session) -> None:
        """Of its folder."""
        self._defaults[session.cwd] = session.id

    async def clear(self, session: Session) -> None:
        """Drops the transcript. :raises RequestFailed: "busy", "unsupported\""""
        await session.clear()
        self._recorders[session.id].cleared()

    async def set_model(self, session: Session, model: str) -> None:
        """:raises RequestFailed: as ``AgentKeeper.set_model`` does"""
        await session.agent.set_model(model)
        self._recorders[session.id].keep_agent()

    async def set_option(self, session: Session, option_id: str, value: str) -> list[Option]:
        """All options as they are then. :raises: as ``agent_options.choose`` does"""
        options = await agent_options.choose(session.agent, option_id, value)
        self._recorders[session.id].keep_agent()
        return options

    async def close(self, session: Session) -> None:
        try:
            await session.close()
        finally:
            self._recorders[session.id].close()

    async def close_all(self) -> None:
        """A defect in one keeps no other from being ended."""

        async def close(session: Session) -> None:
            try:
                await self.close(session)
            except Exception:  # noqa: BLE001 - the boundary that ends the others
                _LOG.exception("session %s did not end as it should", session.id)

        async with anyio.create_task_group() as tasks:
            for session in self.all():
                tasks.start_soon(close, session)
        await self._store.close()

    async def _run(self, session: Session) -> None:
        """A defect in one session ends that session, not the server."""
        recorder = self._recorders[session.id]
        try:
            await session.run()
        except Exception:  # noqa: BLE001 - the boundary that keeps the others alive
            _LOG.exception("session %s failed", session.id)
            session.emit(Notice("error", _DEFECT, "lsp-agent"), None)
        finally:
            recorder.close()

    def folder_of(self, path: str | None) -> str:
        """The workspace folder that holds ``path``, else the first.

        :raises RequestFailed: "noFolder"
        """
        return holding(self._services.folders(), path)

    def living(self, session_id: str) -> Session | None:
        """That session, if it is open here."""
        session = self._sessions.get(session_id)
        return None if session is None or session.status in ("closing", "closed") else session

    def _on_change(self, change: Change) -> None:
        session = self._sessions.get(change.session_id)
        event = self._services.edits.event(change) if session else None
        if session is not None and event is not None:
            session.emit(event, change.turn_id)

    def _on_rejected(self, rejection: Rejection) -> None:
        session = self._sessions.get(rejection.change.session_id)
        if session is not None:
            session.hosting.served.tell_rejected(rejection.change.path, rejection.reason)


def _copy(about: About, mark: str, ref: str | None = None) -> About:
    """Of another session with what was said in this one. Two never share the agent's own."""
    title = about.title and f"{about.title.removesuffix(f' ({mark})')} ({mark})"
    changes = {"id": new_id(), "title": title, "ref": ref, "document": None}
    return about.model_copy(update=changes)
