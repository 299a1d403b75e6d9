"""One running agent: its process, its wire and its bridge, joined."""

import math
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup

from lsp_agent.agents.bridge import Bridge
from lsp_agent.agents.framing import encoded
from lsp_agent.agents.process import AgentGone, AgentProcess, BadLine, Exit
from lsp_agent.protocol.environment import SECRETS_VARIABLE
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Event, Level, Notice
from lsp_agent.sessions.agent.replies import Replies
from lsp_agent.wires.wire import (
    Abort,
    AgentRequest,
    Answer,
    Approve,
    Command,
    CompactEnded,
    Decoded,
    Dialog,
    Hello,
    Launch,
    Prompt,
    ReadText,
    Refused,
    Reply,
    RunCommand,
    RunTool,
    Send,
    Steer,
    Wire,
    Withdrawn,
    WriteText,
)

START_SECONDS = 15.0
#: Of one that loads a runtime of its own first, and then a session.
SLOW_START_SECONDS = 60.0
REPLY_SECONDS = 10.0
#: How long after its handshake an agent may take to load our extension.
BRIDGE_SECONDS = 4.0
#: How long an agent may take to end by itself once its stdin is closed.
GRACE_SECONDS = 1.0
#: How long an agent has to act on a stop before it reads that what it asked for is refused.
STOP_SECONDS = 0.3
#: Frames that the session takes before it is looked whether the client reads: up to 1 MiB of them
#: is read at once, and a person who stops the agent would have to wait for all of it.
_AT_ONCE = 2000
#: In characters.
_SHORTEST_SECRET = 6

_NO_BRIDGE = (
    "The agent did not load the extension that it was started with (--ext), so it cannot be held"
    " to the permissions, and was ended. Check its `command` in the settings: a script there must"
    " hand on all its arguments."
)

Received = Event | CompactEnded


@dataclass(frozen=True, slots=True)
class Callbacks:
    """``on_event`` gets all that the agent tells, in order; ``on_request`` answers what it asks,
    and is cancelled when it wants no answer any more; ``on_gone`` is called once, after the last
    event, when the agent has ended; ``drain`` waits while the client does not read."""

    on_event: Callable[[Received], None]
    on_request: Callable[[AgentRequest], Awaitable[Answer]]
    on_gone: "Callable[[AgentLink, Exit], None]"
    drain: Callable[[], Awaitable[None]]


class AgentLink:
    """Made by :meth:`start`."""

    def __init__(
        self,
        process: AgentProcess,
        wire: Wire,
        bridge: Bridge | None,
        tasks: TaskGroup,
        callbacks: Callbacks,
    ) -> None:
        self.wire = wire
        self.bridge = bridge
        self._process = process
        self._tasks = tasks
        self._on_event = callbacks.on_event
        self._on_request = callbacks.on_request
        self._on_gone = callbacks.on_gone
        self._drain = callbacks.drain
        self._replies = Replies()
        self._requests: dict[str, anyio.CancelScope] = {}
        self._gone = anyio.Event()
        self.exit: Exit | None = None
        self._ending = False
        #: Whether it did not end by itself.
        self.was_ended = False
        self._held_back = False
        self._hold = anyio.CancelScope()
        self._heard_at = anyio.current_time()
        self._refused_from = -math.inf
        #: A line that is no frame has come.
        self._strayed = False

    @classmethod
    async def start(
        cls,
        launch: Launch,
        wire: Wire,
        bridge: Bridge | None,
        tasks: TaskGroup,
        callbacks: Callbacks,
        *,
        cwd: str,
        line_bytes: int,
        resume: str | None,
    ) -> tuple["AgentLink", Reply]:
        """Starts the agent and shakes hands; ``resume`` is what an earlier handshake said that
        its session can be taken up by.

        :raises RequestFailed: "agentNotFound", "agentExited" (also one that was ended because it
            has no bridge) or "agentTimeout"; "notConfigured" where it refuses the handshake
        """
        env = {**launch.env, SECRETS_VARIABLE: " ".join(launch.secrets)}
        process = await AgentProcess.start(
            launch.argv,
            cwd=cwd,
            env=env,
            line_bytes=line_bytes,
            secrets=_values(launch),
            held=launch.held,
        )
        link = cls(process, wire, bridge, tasks, callbacks)
        tasks.start_soon(link._pump)
        try:
            hello = await link._shake_hands(resume)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await link.kill()
            raise
        return link, hello

    @property
    def alive(self) -> bool:
        """Whether it can be asked: it has not ended, and is not being ended."""
        return self.exit is None and not self._ending

    @property
    def heard_at(self) -> float:
        """When the agent last said anything but answers to us, by the loop's clock; now while it
        is held back because the client does not read."""
        return anyio.current_time() if self._held_back else self._heard_at

    async def ended(self) -> None:
        """Until ``on_gone`` has been called."""
        await self._gone.wait()

    async def send(self, command: Command) -> str:
        """Sends without waiting for the reply; the request's id.

        :raises RequestFailed: "agentExited"; "unsupported" for what is longer than the agent takes
        """
        request_id = self._replies.new_id()
        await self._send(request_id, command)
        return request_id

    async def request(self, command: Command, timeout: float | None = REPLY_SECONDS) -> Reply:
        """Sends and waits for the reply, which may carry an error; ``timeout`` is for both.

        :raises RequestFailed: "agentExited", "agentTimeout", "unsupported" as of ``send``
        """
        with self._replies.waiting() as waiting:
            try:
                with anyio.fail_after(timeout):
                    await self._send(waiting.request_id, command)
                    await waiting.arrived.wait()
            except TimeoutError:
                raise RequestFailed(
                    "agentTimeout",
                    f"The agent did not answer {type(command).__name__} within {timeout:g} s.",
                ) from None
        if waiting.reply is None:
            raise self.death()
        return waiting.reply

    async def keep_background(self) -> None:
        """What runs now is no command of the turn to come: a stop of that spares it."""
        await self._process.keep(workers=self.bridge is None)

    def tell_to_stop(self) -> None:
        """Without waiting, so that it reads this before what its open questions are answered: one
        whose call is refused first goes on to its model. So does Claude Code 2.1, at times, where
        both come at once."""
        if not self.alive:
            return
        self._refused_from = anyio.current_time() + STOP_SECONDS
        frame = self._encoded(self._replies.new_id(), Abort())
        if frame is not None:
            self._post(frame)
            self._take_what_follows()

    async def end_commands(self) -> None:
        """What a stopped turn has started, at once."""
        if self.alive and self.wire.runs_commands:
            with anyio.move_on_after(0.6):
                await self._process.kill_commands()

    async def abort(self) -> None:
        """All of a stop, also where the agent has been told already, before it is ended."""
        self.tell_to_stop()
        if self.bridge is not None:
            self.bridge.abort()
        await self.end_commands()

    async def stop(self, grace: float = GRACE_SECONDS) -> None:
        """Ends the agent and all that it started; returns when they are gone."""
        self._ending = self.was_ended = True
        self._hold.cancel()
        await self._process.stop(grace)
        await self._told()

    async def kill(self) -> None:
        """Without a word to it, which it would answer."""
        self.was_ended = True
        await self._give_up()

    async def _give_up(self) -> None:
        """As good as ended by itself: it has, or it reads no more, or has lost its bridge."""
        self._ending = True
        self._hold.cancel()
        await self._process.kill()
        await self._told()

    def death(self) -> RequestFailed:
        """The error that tells how the agent ended."""
        code = self.exit.code if self.exit else None
        stderr = self.exit.stderr.strip() if self.exit else ""
        if code in (None, 0):
            how = "ended"
        else:
            how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        # By whom cannot be told: one that is killed loses its bridge, and for that it is killed.
        if code == -signal.SIGKILL and self.bridge is not None and self.bridge.lost.is_set():
            how = f"lost its connection to the editor and {how}"
        said = f": {stderr.splitlines()[-1].rstrip('.')}." if stderr else "."
        return RequestFailed(
            "agentExited",
            f"The agent {how}{said} The next prompt starts it again.",
            {"exitCode": code, "stderr": stderr},
        )

    async def _shake_hands(self, resume: str | None) -> Reply:
        patience = START_SECONDS if self.wire.bridged else SLOW_START_SECONDS
        hello = await self.request(Hello(resume), timeout=patience)
        if hello.error is not None:
            raise RequestFailed(
                "notConfigured",
                f"The agent refused the handshake: {hello.error}. Check its `env` and `command`"
                " in the settings.",
            )
        await self._check_bridge()
        # One that runs its commands in a process of its own has begun that by now.
        await self._process.keep(workers=self.bridge is None)
        await self._check_bridge()  # nothing is waited for between this and the first prompt
        return hello

    async def _told(self) -> None:
        with anyio.move_on_after(1):
            await self._gone.wait()

    async def _check_bridge(self) -> None:
        """Without its bridge an agent would run commands that nobody is asked about."""
        came, lost = True, False
        if self.bridge is not None:
            with anyio.move_on_after(BRIDGE_SECONDS) as patience:
                await self.bridge.up()
            came, lost = not patience.cancelled_caught, self.bridge.lost.is_set()
        if lost or not self.alive:
            await self._told()  # how it ended
            raise self.death()
        if not came:
            raise RequestFailed("agentExited", _NO_BRIDGE)

    async def _send(self, request_id: str, command: Command) -> None:
        if isinstance(command, Prompt | Steer | RunCommand):
            _require_fits(command, self.wire.max_frame_bytes)
        frame = self._encoded(request_id, command)
        if frame is not None:
            await self._write(frame)
            self._take_what_follows()

    def _encoded(self, request_id: str, command: Command) -> Mapping[str, object] | None:
        """None where the wire has answered by itself."""
        frame = self.wire.encode(request_id, command)
        if isinstance(frame, Reply):
            self._replied(frame)
            return None
        return frame

    def _take_what_follows(self) -> None:
        """What the wire has to say or to send once the frame is out."""
        for decoded in self.wire.decode(()):
            self._take(decoded)

    async def _write(self, frame: Mapping[str, object]) -> None:
        try:
            await self._process.send(frame)
        except AgentGone:  # perhaps it only reads no more, and is then of no use
            await self._give_up()
            raise self.death() from None

    def _post(self, frame: Mapping[str, object]) -> None:
        """Without waiting: an agent may read no more until we have read what it says."""
        try:
            self._process.post(frame)
        except AgentGone:
            self._tasks.start_soon(self._give_up)

    async def _pump(self) -> None:
        async with anyio.create_task_group() as tasks:
            if self.bridge is not None:
                tasks.start_soon(self._kill_without, self.bridge)
            await self._hear()
            tasks.cancel_scope.cancel()
        # One that has closed its output says nothing more, whether or not it goes on living.
        self._ending = True
        self.exit = await self._process.stop(GRACE_SECONDS)
        for scope in self._requests.values():
            scope.cancel()
        for decoded in self.wire.lost("error", str(self.death())):
            self._take(decoded)
        self._gone.set()
        self._replies.end()
        self._on_gone(self, self.exit)

    async def _kill_without(self, bridge: Bridge) -> None:
        """Without its bridge the agent would run commands ungated."""
        await bridge.lost.wait()
        await self._give_up()

    async def _hear(self) -> None:
        """All that the agent says, to its end."""
        async for batch in self._process.batches():
            for at in range(0, len(batch), _AT_ONCE):
                told = self._decode(batch[at : at + _AT_ONCE])
                # An answer to a question of ours says nothing of what the agent is at.
                is_sign = not told or any(not isinstance(each, Reply) for each in told)
                for decoded in told:
                    self._take(decoded)
                if not await self._read_on():
                    return
                if is_sign:
                    self._heard_at = anyio.current_time()

    async def _read_on(self) -> bool:
        """Holds the agent back while the client does not read; False if it is ended meanwhile:
        what it still says is of use to nobody."""
        self._held_back = True
        with anyio.CancelScope() as self._hold:
            await self._drain()
            self._held_back = False
        return not self._held_back

    def _take(self, decoded: Decoded) -> None:
        match decoded:
            case Reply():
                self._replied(decoded)
            case Send(frame):
                self._post(frame)
            case Approve() | ReadText() | WriteText() | RunTool() | Dialog():
                scope = self._requests[decoded.key] = anyio.CancelScope()
                self._tasks.start_soon(self._answer, decoded, scope)
            case Withdrawn(key):
                if (scope := self._requests.get(key)) is not None:
                    scope.cancel()
            case event:
                self._on_event(event)

    async def _answer(self, request: AgentRequest, scope: anyio.CancelScope) -> None:
        answer: Answer = Refused("Not done: the agent did not wait for the answer.")
        try:
            with scope:
                answer = await self._on_request(request)
        finally:
            if self._requests.get(request.key) is scope:  # an agent may ask twice by one id
                del self._requests[request.key]
        await anyio.sleep_until(self._refused_from)
        frame = self.wire.answer(request.key, answer)
        if frame is not None and self.alive:
            self._post(frame)

    def _decode(self, batch: list[object]) -> list[Decoded]:
        bad = [line for line in batch if isinstance(line, BadLine)]
        for line in bad:
            self._on_event(Notice(self._level(line), f"{line.reason}: {line.text}", "agent"))
        frames = [frame for frame in batch if not isinstance(frame, BadLine)] if bad else batch
        return self.wire.decode(frames)

    def _level(self, line: BadLine) -> Level:
        """Of lines that are no frames the first is shown: a program may print hundreds. One that
        is too long may be a frame, which is missing."""
        if line.too_long:
            return "warning"
        known, self._strayed = self._strayed, True
        return "debug" if known else "warning"

    def _replied(self, reply: Reply) -> None:
        if not self._replies.came(reply) and reply.error is not None:
            self._on_event(Notice("debug", reply.error, "agent"))


def _require_fits(command: Prompt | Steer | RunCommand, limit: int) -> None:
    """Refuses what is longer than a line that the agent takes, which would end it, or which it
    would skip and never answer. Asked before the wire counts on an answer."""
    if isinstance(command, RunCommand):
        texts, images = [command.name, command.args], ()
    else:
        texts, images = [command.text], command.images
    size = len(encoded({"texts": texts})) + sum(len(image.data) for image in images)
    if size > limit:
        raise RequestFailed(
            "unsupported",
            f"This is {size / 1e6:.1f} MB as it would be sent, and the agent takes at most"
            f" {limit / 1e6:.1f} MB at once. Send less text, or fewer or smaller images.",
        )


def _values(launch: Launch) -> list[str]:
    """The secrets themselves, set for the agent or inherited, to be masked wherever it prints
    them. A short value is no key, and masking it would eat ordinary words."""
    environment = {**os.environ, **launch.env}
    values = (environment.get(name, "") for name in launch.secrets)
    return [value for value in values if len(value) >= _SHORTEST_SECRET]
