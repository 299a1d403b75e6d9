"""zot's rpc protocol on stdio: commands, the queue, authentication, the end.

Deliberately better than zot on the same wire: the end of stdin stops the running turn; ``clear``
is refused while a turn runs; ``busy`` is true until the last event of the turn is out; a line
that is too long is answered with an error and skipped, where zot ends.
"""

import asyncio
import signal
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from lsp_agent import __version__
from lsp_agent.runtime import json_text, processes, settable, shown_environment
from lsp_agent.runtime.agent import Agent
from lsp_agent.runtime.commands import BadField, Command, Malformed, parse
from lsp_agent.runtime.compaction import run_compaction
from lsp_agent.runtime.extension_loader import ExtensionLoader
from lsp_agent.runtime.extensions import CommandFailed, Extensions
from lsp_agent.runtime.options import NotConfigured, Options
from lsp_agent.runtime.pipes import LineReader, LineWriter, Oversized
from lsp_agent.runtime.prompt import system_prompt
from lsp_agent.runtime.providers import choose
from lsp_agent.runtime.providers.provider import Provider
from lsp_agent.runtime.tools.background import BackgroundCommands
from lsp_agent.runtime.tools.bash import Shell
from lsp_agent.runtime.tools.toolbox import Toolbox
from lsp_agent.runtime.transcript import Block, image_block, shown, text_block
from lsp_agent.runtime.turn import run_turn

PROTOCOL_VERSION = 1
#: The longest line that is taken.
LINE_BYTES = 16 << 20
TOKEN_VARIABLE = "ZOTCORE_RPC_TOKEN"  # noqa: S105  its name only
#: Unread output from which on no more commands are taken; an abort should get through before.
_MOST_UNREAD_BYTES = 256 << 20
#: How long the last output may take to be read.
_FLUSH_SECONDS = 1.0

#: What is not in zot's own protocol, so that a client does not count on it elsewhere.
_FEATURES = ("steer", "thinking", "resume", "background")

Work = Callable[[], Coroutine[Any, Any, None]]


def serve(options: Options) -> int:
    """Runs until stdin ends; returns the exit code. Raises LspAgentError if it cannot start."""
    provider = choose(options)
    model = options.model or provider.models[0].id
    if provider.find(model) is None:
        raise NotConfigured(
            f'unknown model "{model}" (provider="{provider.name}"); leave --model out'
        )
    # From here on no process that this one starts sees it.
    token = shown_environment.take(TOKEN_VARIABLE)
    return asyncio.run(_serve(options, provider, model, token))


async def _serve(options: Options, provider: Provider, model: str, token: str) -> int:
    over = asyncio.Event()
    out = LineWriter(1, on_broken=over.set)

    def notify(extension: str, level: str, text: str) -> None:
        out.put({"type": "ext_notify", "extension": extension, "level": level, "message": text})

    extensions = Extensions(notify)
    background = BackgroundCommands(
        options.cwd, lambda told: out.put({"type": "background_command", **told})
    )
    shell = Shell(options.cwd, lambda pid: extensions.owns(pid) or background.owns(pid))
    toolbox = Toolbox(options.cwd, options.tools, extensions, shell, background)
    system = await asyncio.to_thread(system_prompt, options)
    agent = Agent(provider, model, options.max_steps, extensions, toolbox, background, out, system)
    cwd = json_text.whole(options.cwd)  # as it can be told

    def greeting() -> Mapping[str, object]:
        return {
            "protocol_version": PROTOCOL_VERSION,
            "zot_version": __version__,
            "provider": provider.name,
            "model": agent.model,
            "cwd": cwd,
        }

    loader = ExtensionLoader(options, extensions, notify, greeting, toolbox.own)
    rpc = Rpc(agent, loader, cwd, token)
    signals = _end_on_signals(over)
    try:
        await loader.load()
        reading = asyncio.create_task(rpc.read(LineReader(0, LINE_BYTES)))
        waiting = asyncio.create_task(over.wait())
        ends = {reading, waiting, rpc.failed}
        done, ends = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
        for end in done:
            end.result()  # a bug of ours ends the process, and is told of
    finally:
        await rpc.stop()
        await background.clear()
        agent.leave()
        await extensions.stop()
        await processes.end_tree(None, lambda _: False)
        shell.close()
        await out.close(_FLUSH_SECONDS)
    return 1 if rpc.refused else 128 + signals[0] if signals else 0


def _end_on_signals(over: asyncio.Event) -> list[int]:
    """Ends the agent in order on TERM, INT and HUP; the list gets the signal's number."""
    received: list[int] = []
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        received.append(number)
        over.set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)
    return received


class Rpc:
    """Answers commands. Prompts and compactions wait in a queue, and are answered when they
    start; everything else is answered at once."""

    def __init__(self, agent: Agent, loader: ExtensionLoader, cwd: str, token: str) -> None:
        self.refused = False
        self._agent = agent
        self._loader = loader
        self._cwd = cwd
        self._token = token
        self._greeted = not token
        #: Set to the exception of a turn: a bug of ours.
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue: deque[tuple[Command, Work]] = deque()
        self._running: asyncio.Task[None] | None = None
        self._aborted = False
        #: Slash commands that were not answered yet.
        self._answering: set[asyncio.Task[None]] = set()
        self._commands: Mapping[str, Callable[[Command], Mapping[str, object] | None]] = {
            "hello": self._hello,
            "abort": lambda _: self._abort(),
            "get_state": lambda _: self._state(),
            "get_messages": lambda _: {"messages": [shown(message) for message in agent.messages]},
            "get_models": lambda _: settable.models(agent),
            "get_options": lambda _: settable.options(agent),
            "set_option": self._set_option,
            "get_commands": lambda _: self._slash_commands(),
            "set_model": self._set_model,
            "steer": self._steer,
            "ping": lambda _: {"pong": True},
        }

    # -- reading

    async def read(self, lines: LineReader) -> None:
        """Until stdin ends or a wrong token is given."""
        async for line in lines:
            if isinstance(line, Oversized):
                self._refuse(Command("", None), f"line too long: the limit is {LINE_BYTES} bytes")
            else:
                self._take(line)
            if self.refused:
                return
            if self._agent.out.size > _MOST_UNREAD_BYTES:
                await self._agent.out.drain()

    def _take(self, line: bytes) -> None:
        try:
            command = parse(line)
        except Malformed as fault:
            self._refuse(Command("", None), str(fault))
            return
        if self._token and command.type == "hello" and not self._greeted:
            self._check_token(command)
        elif not self._greeted:
            self._refuse(command, "auth required: send hello with token first")
        else:
            self._run(command)

    def _check_token(self, command: Command) -> None:
        import hmac  # noqa: PLC0415  only where a token is asked for

        given = command.fields.get("token")
        wanted = self._token.encode(errors="surrogateescape")
        if isinstance(given, str) and hmac.compare_digest(given.encode(), wanted):
            self._greeted = True
            self._run(command)
            return
        self._refuse(command, "invalid token")
        print("lsp-agent rpc: bad auth token", file=sys.stderr, flush=True)
        self.refused = True

    def _run(self, command: Command) -> None:
        try:
            if command.type == "prompt":
                content = _content(command)
                self._enqueue(command, lambda: run_turn(self._agent, content))
            elif command.type == "compact":
                self._enqueue(command, lambda: run_compaction(self._agent))
            elif command.type == "run_command":
                self._run_slash(command, command.text("name"), command.text("args"))
            elif command.type == "get_background":
                self._later(command, self._background())
            elif command.type == "stop_background":
                self._later(command, self._stop_background(command.text("background_id")))
            elif command.type == "clear":
                self._clear()
                self._later(command, self._agent.background.clear())
            elif command.type in self._commands:
                self._respond(command, self._commands[command.type](command))
            else:
                self._refuse(command, "unknown command")
        except (BadField, _Refused) as refusal:
            self._refuse(command, str(refusal))

    # -- answering

    def _respond(self, command: Command, data: Mapping[str, object] | None) -> None:
        self._answer(command, {"success": True} | ({} if data is None else {"data": data}))

    def _refuse(self, command: Command, error: str) -> None:
        self._answer(command, {"success": False, "error": error})

    def _answer(self, command: Command, rest: Mapping[str, object]) -> None:
        number = {} if command.id is None else {"id": command.id}
        self._agent.out.put({"type": "response", **number, "command": command.type, **rest})

    # -- the queue

    def _enqueue(self, command: Command, work: Work) -> None:
        self._queue.append((command, work))
        if self._running is None:
            # At once, so that an abort on the next line finds it running.
            self._start_next()

    def _start_next(self) -> None:
        if self._queue:
            command, work = self._queue.popleft()
            self._respond(command, {"started": True})
            self._aborted = False
            self._running = asyncio.get_running_loop().create_task(work())
            self._running.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running = None
        if not task.cancelled() and (error := task.exception()) is not None:
            if not self.failed.done():
                self.failed.set_exception(error)
        else:
            self._start_next()

    async def stop(self) -> None:
        """Drops the queue and ends what runs."""
        self._queue.clear()
        self._abort()
        for answering in tuple(self._answering):
            answering.cancel()
        if self._running is not None:
            await asyncio.wait({self._running})

    # -- commands

    def _hello(self, command: Command) -> Mapping[str, object]:
        """Beyond zot: ``session`` has the conversation kept on disk, the one that it names if
        that can be had; the answer names the one that it is."""
        wanted = command.text("session")
        if wanted and self._agent.kept is None:
            self._agent.keep(wanted)
        return {
            "protocol_version": PROTOCOL_VERSION,
            "version": __version__,
            "provider": self._agent.provider.name,
            "model": self._agent.model,
            "features": _FEATURES,
            **self._session,
        }

    @property
    def _session(self) -> Mapping[str, object]:
        kept = self._agent.kept
        return {"session": kept.name} if kept else {}

    def _abort(self) -> None:
        if self._running is not None and not self._aborted:
            # Once: a turn that is closing what is open must not be cut short.
            self._aborted = True
            # Later: a task that is cancelled before its first step would never say "done".
            asyncio.get_running_loop().call_soon(self._running.cancel)

    def _steer(self, command: Command) -> None:
        if self._agent.prompt is None or self._aborted:
            raise _Refused("no turn runs that could be steered; send a prompt")
        self._agent.steered.append(_content(command))

    def _state(self) -> Mapping[str, object]:
        return {
            "provider": self._agent.provider.name,
            "model": self._agent.model,
            "cwd": self._cwd,
            "message_count": len(self._agent.messages),
            "busy": self._busy,
            "usage": self._agent.usage.to_json(),
            **self._session,
        }

    @property
    def _busy(self) -> bool:
        return self._running is not None or bool(self._queue)

    def _set_option(self, command: Command) -> Mapping[str, object]:
        option, value = command.text("option"), command.text("value")
        if not settable.choose(self._agent, option, value):
            raise _Refused(f"there is no option {option!r} with a value {value!r}")
        return settable.options(self._agent)

    def _slash_commands(self) -> Mapping[str, object]:
        commands = self._loader.commands()
        return {"commands": [{"name": c.name, "description": c.description} for c in commands]}

    def _run_slash(self, command: Command, name: str, args: str) -> None:
        """Answered when the extension has, whatever else is asked meanwhile."""
        if self._loader.is_reload(name):
            self._reload(command)
            return

        async def answer() -> Mapping[str, object]:
            action, text = await self._agent.extensions.run_command(name, args)
            return {"action": action, "text": text}

        self._later(command, answer())

    def _later(
        self, command: Command, work: Coroutine[Any, Any, Mapping[str, object] | None]
    ) -> None:
        """Answered when ``work`` is done."""

        async def answer() -> None:
            try:
                self._respond(command, await work)
            except CommandFailed as failed:
                self._refuse(command, str(failed))

        task = asyncio.get_running_loop().create_task(answer())
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _background(self) -> Mapping[str, object]:
        return {"commands": await self._agent.background.listed()}

    async def _stop_background(self, name: str) -> Mapping[str, object]:
        return {"stopped": await self._agent.background.stop(name)}

    def _reload(self, command: Command) -> None:
        """Prompts wait for it, so that no call runs past an extension that may refuse it, and no
        abort cuts it short."""
        if self._busy:
            raise _Refused("busy: stop the turn, or wait for its end, before reloading")

        async def answer() -> None:
            self._respond(command, {"action": "display", "text": await self._loader.reload()})

        self._aborted = True
        self._running = asyncio.get_running_loop().create_task(answer())
        self._running.add_done_callback(self._ended)

    def _set_model(self, command: Command) -> Mapping[str, object]:
        provider, model = self._agent.provider, command.text("model")
        if provider.find(model) is None:
            raise _Refused(f'unknown model "{model}" (provider="{provider.name}")')
        self._agent.model = model
        return {"model": model}

    def _clear(self) -> None:
        if self._busy:
            raise _Refused("busy: abort the turn, or wait for its end, before clearing")
        self._agent.replace([])


class _Refused(Exception):
    """A command that cannot be done now."""


def _content(command: Command) -> list[Block]:
    """A prompt's blocks; raises BadField."""
    text = command.text("message")
    blocks = [text_block(text)] if text else []
    blocks += [image_block(mime_type, data) for mime_type, data in command.images()]
    return blocks
