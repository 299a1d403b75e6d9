"""The agent of one session: started when it is needed, ended with everything that it started."""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import cast

import anyio
from anyio.abc import TaskGroup

from lsp_agent.agents.process import Exit
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import AgentStatus, BackgroundCommand, Notice, OptionChanged
from lsp_agent.sessions.agent.chosen import Chosen
from lsp_agent.sessions.agent.launcher import AgentChoice, start_agent
from lsp_agent.sessions.agent.link import AgentLink, Callbacks, Received
from lsp_agent.sessions.files.hosting import Hosting
from lsp_agent.sessions.shared.questions import Emitter
from lsp_agent.sessions.shared.services import Services
from lsp_agent.wires.wire import Clear, Command, GetMessages, GetModels, GetState, SetModel

log = logging.getLogger(__name__)

#: What an agent that lacks a capability cannot do, and what to do instead.
_CANNOT: Mapping[str, str] = {
    "listSessions": "has no list of its own sessions: choose one of those that are stored here",
    "steer": "takes up no words while it works: send them as a prompt, which waits for its turn",
    "compact": "cannot shorten its conversation: go on in a new session",
    "compactInstructions": "takes no instructions for a summary: leave them out",
    "clear": "cannot forget its conversation: go on in a new session",
    "models": "names no models: choose one in the agent's own settings",
    "setModel": "cannot change its model: choose one in the agent's own settings",
}
#: How long a hung agent may hold up who asks for its state.
STATE_SECONDS = 1.0


@dataclass(slots=True)
class _Start:
    """A start under way, for all who wait for it: ``waiting`` of them."""

    waiting: int = 0
    failure: RequestFailed | None = None
    over: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class AgentKeeper:
    """At most one running agent. ``on_event`` gets what it says, ``on_gone`` its unexpected end;
    the agent reads in ``tasks``, which must live longer than it."""

    def __init__(
        self,
        services: Services,
        choice: AgentChoice,
        cwd: str,
        hosting: Hosting,
        *,
        emit: Emitter,
        on_event: Callable[[Received], None],
        on_gone: Callable[[AgentLink], None],
    ) -> None:
        self.link: AgentLink | None = None
        #: What a new process takes the session up by, once an agent has said it.
        self.resume: str | None = None
        #: Whether the running one remembers what was said before it was started.
        self.resumed = False
        #: Whether ``resume`` is a conversation of its own in which nothing was said yet.
        self.untold = False
        #: Starts in a row that were over before the agent said hello.
        self.failed_starts = 0
        self.chosen = Chosen(lambda change: emit(change, None))
        #: The background commands that run, by their ids.
        self.background: dict[str, BackgroundCommand] = {}
        self._services = services
        self._choice = choice
        self._cwd = cwd
        self._hosting = hosting
        self._emit = emit
        self._on_event = on_event
        self._on_gone = on_gone
        self._starting: _Start | None = None
        self._status = ""
        #: The size of a model's window, by the process and what was chosen in it.
        self._window: tuple[tuple[AgentLink, str | None], int | None] | None = None
        self._closed = False
        self._state: dict[str, object] = {}
        self._tasks: TaskGroup | None = None
        self._has_tasks = anyio.Event()

    def live_in(self, tasks: TaskGroup) -> None:
        """Gives it the task group of its session; who needs an agent earlier waits for this."""
        self._tasks = tasks
        self._has_tasks.set()

    @property
    def capabilities(self) -> dict[str, bool]:
        wire = self.link.wire if self.link else self._choice.wire()
        return dict(wire.capabilities)

    async def running(self) -> AgentLink:
        """The running agent, started if need be. Who waits here may be cancelled: the start goes
        on for the others, and is given up once nobody waits for it any more.

        :raises RequestFailed: "agentNotFound", "agentExited", "agentTimeout", "notConfigured",
            "unknownSession" when closed
        """
        await self._has_tasks.wait()
        assert self._tasks is not None
        while self._starting is not None and self._starting.scope.cancel_called:
            await self._starting.over.wait()
        if self._closed:
            raise RequestFailed("unknownSession", "The session is closed; open a new one.")
        if self._starting is None:
            if self.link is not None and self.link.alive:
                return self.link
            self._starting = _Start()
            self._tasks.start_soon(self._start, self._starting)
        start = self._starting
        start.waiting += 1
        try:
            await start.over.wait()
        finally:
            start.waiting -= 1
            if not start.waiting:
                start.scope.cancel()
        if (failure := start.failure) is not None:
            raise RequestFailed(failure.kind, str(failure), failure.data)
        if self.link is None:
            raise RequestFailed("agentExited", "The start of the agent was stopped.")
        return self.link

    async def running_anew(self) -> AgentLink:
        """As ``running``, of one that takes up nothing; what there is to take up is lost only once
        it runs."""
        former, self.resume = self.resume, None
        try:
            return await self.running()
        except BaseException:
            self.resume = former
            raise

    async def ask(self, command: Command) -> dict[str, object]:
        """The data of the agent's reply.

        :raises RequestFailed: as ``running`` does; "conflict" with the agent's own words
        """
        reply = await (await self.running()).request(command)
        if reply.error is not None:
            raise RequestFailed("conflict", reply.error)
        return dict(reply.data)

    def require(self, feature: str) -> None:
        """:raises RequestFailed: "unsupported" where the agent does not have it"""
        if not self.capabilities.get(feature, False):
            raise RequestFailed(
                "unsupported",
                f"The agent {self._choice.name} {_CANNOT[feature]}.",
                {"feature": feature, "agent": self._choice.name},
            )

    async def messages(self) -> object:
        """The transcript; an agent that does not run yet has none."""
        return [] if self.link is None else (await self.ask(GetMessages())).get("messages", [])

    async def models(self) -> dict[str, object]:
        """:raises RequestFailed: "unsupported", or as ``ask`` does"""
        await self.running()  # only then is it known whether one of ACP has any
        self.require("models")
        told = await self.ask(GetModels())
        state = await self.state()
        return {"models": told.get("models", []), "current": state.get("model")}

    @property
    def knows_window(self) -> bool:
        """Whether ``window_size`` asks nobody."""
        link = self.link
        if link is None or not link.wire.capabilities.get("models", False):
            return True
        return self._window is not None and self._window[0] == (link, self.chosen.model)

    async def window_size(self) -> int | None:
        """Of the model that runs, in tokens; None where the agent does not tell it."""
        link = self.link
        if link is None or not link.wire.capabilities.get("models", False):
            return None
        key = link, self.chosen.model
        if self._window is None or not self.knows_window:
            try:
                listed = await link.request(GetModels())
            except RequestFailed as failure:
                log.info("the size of the model's window is not known: %s", failure)
                return None
            current = (await self.state()).get("model")
            models = cast("list[dict[str, object]]", listed.data.get("models", []))
            sizes = (each.get("contextWindow") for each in models if each.get("id") == current)
            self._window = key, cast("int | None", next(sizes, None))
        return self._window[1]

    async def set_model(self, model: str) -> None:
        """:raises RequestFailed: "unknownModel", "unsupported", or as ``running`` does"""
        link = await self.running()  # as for ``models``
        self.require("setModel")
        reply = await link.request(SetModel(model))
        if reply.error is not None:
            raise RequestFailed("unknownModel", reply.error, {"model": model})
        self.chosen.model = model

    async def state(self) -> dict[str, object]:
        """The agent's own state as it says it now, or as it said it last."""
        if self.link is not None and self.link.alive:
            with suppress(RequestFailed):
                self._state |= (await self.link.request(GetState(), STATE_SECONDS)).data
        return self._state

    async def clear(self) -> None:
        """Drops the transcript, for the processes to come as well. What was chosen stays. An agent
        that does not do it in time may do it at any later one, so it is ended.

        :raises RequestFailed: as ``ask`` does; the transcript stays then
        """
        former, self.resume = self.resume, None
        if self.link is None and self._starting is None:
            return
        with self.chosen.kept():
            try:
                await self.ask(Clear())
            except RequestFailed as failure:
                if failure.kind == "agentTimeout":
                    await self.kill()
                    return
                self.resume = former
                raise
            self._state = {}
            self.resume = _session_of(await self.state())
            with suppress(RequestFailed):  # it was ended: its next start tells of what is wrong
                await self._set_again(await self.running())

    async def leave(self) -> None:
        """Ends it; the next process begins a conversation of its own, with what was chosen in
        this one, which stays as it is."""
        self.resume = None
        if (start := self._starting) is not None:
            start.scope.cancel()
            await start.over.wait()
        if self.link is not None:
            self._tell(AgentStatus("restarting"))
            await self.kill()
        self.resume, self._state = None, {}

    async def kill(self) -> None:
        if self.link is not None:
            await self.link.kill()

    async def close(self, *, abort: bool) -> None:
        """Ends the agent for good; with ``abort`` it is told to stop what it does first."""
        self._closed = True
        if self._starting is not None:
            self._starting.scope.cancel()
            await self._starting.over.wait()
        link, self.link = self.link, None
        if link is not None:
            try:
                if abort:
                    await link.abort()
            finally:
                await link.stop()

    async def _start(self, start: _Start) -> None:
        try:
            with start.scope:
                await self._begin()
        except RequestFailed as failure:
            start.failure = failure
        finally:
            if self._status == "starting":  # there was no process that could end
                self._tell(AgentStatus("exited", str(start.failure or "") or None))
            self._starting = None
            start.over.set()

    async def _begin(self) -> None:
        assert self._tasks is not None
        if self.link is not None:
            await self.link.ended()
            self.link = None
        self._tell(AgentStatus("starting"))
        self.failed_starts += 1
        with self.chosen.kept():
            link, hello = await start_agent(
                self._choice,
                self._cwd,
                self._hosting,
                self._tasks,
                Callbacks(self._hear, self._hosting.asked.answer, self._gone, self._services.drain),
                line_bytes=self._services.settings(self._cwd).limits.line_bytes,
                resume=self.resume,
            )
            self.failed_starts = 0
            self.link, self._state = link, dict(hello.data)
            wanted, self.resume = self.resume, _session_of(hello.data)
            again = wanted is not None and self.resume == wanted
            self.untold = self.untold or not again
            self.resumed = again and not self.untold
            self._hosting.state.agent_can(link.wire.capabilities)
            await self._set_again(link)
        self._tell(AgentStatus("ready"))

    async def _set_again(self, link: AgentLink) -> None:
        """An agent that cannot be asked is ended: it may do more than the person chose."""
        try:
            refused = await self.chosen.set_again(link, self._state)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await link.kill()
            raise
        if refused:
            told = (
                f"Not set again as you chose: {'; '.join(refused)}. Choose what you want instead."
            )
            self._emit(Notice("warning", told, "lsp-agent"), None)

    def _tell(self, status: AgentStatus) -> None:
        self._status = status.status
        self._emit(status, None)

    def _hear(self, event: Received) -> None:
        if isinstance(event, OptionChanged):
            self.chosen.changed(event)
        if isinstance(event, BackgroundCommand):
            if event.state == "running":
                self.background[event.id] = event
            else:
                self.background.pop(event.id, None)
        self._on_event(event)

    def _gone(self, link: AgentLink, exit_: Exit) -> None:
        # What one says that we have ended is its log, and no reason.
        said = "" if link.was_ended else exit_.stderr.strip()
        self._tell(AgentStatus("exited", said or None))
        for each in tuple(self.background.values()):  # nothing outlives it
            self._hear(replace(each, state="ended"))
        if self.link is link:  # else its start, or the close, tells of it
            self.link = None
            self._hosting.bridged.close()
            self._on_gone(link)


def _session_of(state: Mapping[str, object]) -> str | None:
    """What a later process takes the session up by."""
    return cast("str | None", state.get("sessionRef"))
