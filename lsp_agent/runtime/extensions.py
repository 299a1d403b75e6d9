"""All extensions of the agent: their tools and slash commands, and their vetoes in turn.

An extension that does not answer an intercept within 5 s, or has ended, is taken to allow it, as
with zot: a wedged extension must not stall the agent. One whose manifest says ``required`` is
taken to refuse. The bridge of lsp-agent answers "block" by itself at 4 s, which leaves a second for
a loaded machine, and ends the agent when it loses its server.
"""

import asyncio
import base64
import os
import sys
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from lsp_agent.processes.system import this_system
from lsp_agent.runtime.extension import Callbacks, Extension, ExtensionLost, Frame, SlashCommand
from lsp_agent.runtime.providers.provider import ToolSpec
from lsp_agent.runtime.tools import outcome
from lsp_agent.runtime.tools.outcome import Outcome
from lsp_agent.runtime.transcript import Block, image_block, text_block
from lsp_agent.user_data.extension_folders import ExtensionProblem, Manifest

READY_SECONDS = 3.0
CALL_SECONDS = 60.0
INTERCEPT_SECONDS = 5.0
#: The agent's own slash command, which goes before one of that name.
RELOAD = SlashCommand("reload-ext", "start the extensions anew, as they are on disk now")
_ACTIONS = frozenset({"prompt", "insert", "display", "noop"})
_NO_CONTENT = "(extension returned no content)"

#: ``(extension, level, message)``
Notify = Callable[[str, str, str], None]


class Blocked(Exception):
    """An extension refused; the message is its reason."""


@dataclass(frozen=True, slots=True)
class LetRun:
    """``args`` to run a call with; ``gated``: its command begins with a gate, which tells whether
    what is behind it ran."""

    args: object
    gated: bool


class CommandFailed(Exception):
    """A slash command came to nothing; the message says why."""


class Extensions:
    """The extensions in the order in which they were named; of two of one name, and of two tools
    or commands, the first counts. They are asked in the opposite order, so that the first has the
    last word: it sees a call as it will run."""

    def __init__(self, notify: Notify) -> None:
        self._notify = notify
        self._running: list[Extension] = []
        self._own_tools: frozenset[str] = frozenset()
        #: Whether starting them anew could change anything.
        self.may_change = False
        #: What their logs say already of names that are taken.
        self._shadowed: set[tuple[str, str]] = set()
        self._starting = False
        #: Until when one that has not said ``ready`` may still register what it is asked for.
        self._registers_until = 0.0
        self._news = asyncio.Event()

    async def start(
        self, folders: Sequence[str], greeting: Frame, own_tools: frozenset[str]
    ) -> None:
        """Starts them side by side and waits until they are ready, for at most 3 s. One that
        cannot be started is told of, and the others go on; those that run already stay.
        ``own_tools`` are the agent's, which go before theirs."""
        self._starting = True
        self._own_tools = own_tools
        names = {extension.name for extension in self._running}
        started = len(self._running)
        for folder in folders:
            try:
                manifest = Manifest.read(folder)
                if manifest.enabled and manifest.name not in names:
                    await self._start_one(manifest, greeting)
                    names.add(manifest.name)
            except ExtensionProblem as problem:
                self._report(os.path.basename(folder), str(problem))  # noqa: PTH119
        staying = {one.folder for one in self._running if not one.reloads}
        self.may_change = bool(set(folders) - staying)
        new = self._running[started:]
        if new:
            # So that what they leave behind is found at the end; meanwhile they get ready.
            await asyncio.to_thread(this_system().adopt_orphans)
        await _until_ready(new)
        self._registers_until = asyncio.get_running_loop().time() + READY_SECONDS
        self._starting = False
        await self._log_shadowed()
        for extension in new:
            extension.tell("session_start")

    async def _start_one(self, manifest: Manifest, greeting: Frame) -> None:
        def notify(level: str, message: str) -> None:
            self._notify(manifest.name, level, message)

        def ended(how: str) -> None:
            self._news.set()
            if not extension.stopping:
                self._report(
                    manifest.name,
                    f"extension {manifest.name} has ended ({how}); see: lsp-agent ext logs"
                    f" {manifest.name}",
                )

        extension = Extension(manifest, greeting, Callbacks(notify, self._registered, ended))
        if manifest.required:
            self._running.append(extension)  # whether or not it starts: else nothing is asked
        await extension.start()
        if not manifest.required:
            self._running.append(extension)

    async def _registered(self) -> None:
        self._news.set()
        if not self._starting:
            await self._log_shadowed()

    async def _log_shadowed(self) -> None:
        """Who offers what somebody else offers already finds out by its log, once."""
        tools: set[str] = set()
        commands: set[str] = set()
        for extension in self._running:
            lines = _taken("tool ", extension.tools, self._own_tools, "the agent's own")
            lines += _taken("tool ", extension.tools, tools, "another extension's")
            lines += _taken("command /", extension.commands, {RELOAD.name}, "the agent's own")
            lines += _taken("command /", extension.commands, commands, "another extension's")
            for line in lines:
                if (extension.name, line) not in self._shadowed:
                    self._shadowed.add((extension.name, line))
                    await extension.log(line)
            tools |= set(extension.tools)
            commands |= set(extension.commands)

    def _report(self, name: str, message: str) -> None:
        print(f"lsp-agent rpc: {message}", file=sys.stderr, flush=True)
        self._notify(name, "error", message)

    async def leave(self) -> None:
        """Ends those that may be started anew, which forget all that they have said."""
        leaving = [extension for extension in self._running if extension.reloads]
        self._running = [extension for extension in self._running if not extension.reloads]
        self._shadowed.clear()
        await asyncio.gather(*(extension.stop() for extension in leaving))

    async def stop(self) -> None:
        await asyncio.gather(*(extension.stop() for extension in self._running))

    def names(self) -> list[str]:
        """Of those that run and may be started anew."""
        return [one.name for one in self._running if one.reloads and not one.ended]

    def owns(self, pid: int) -> bool:
        """Whether the process ``pid`` is an extension or one that it started; a descendant that
        made a session of its own is not recognised."""
        with suppress(ProcessLookupError):
            return os.getsid(pid) in {extension.pid for extension in self._running}
        return False

    # -- tools

    def tools(self) -> dict[str, ToolSpec]:
        found: dict[str, ToolSpec] = {}
        for extension in reversed(self._running):
            found |= extension.tools
        return found

    async def call(self, tool: str, args: object) -> Outcome:
        """The tool must be one of ``tools``."""
        extension = next(one for one in self._running if tool in one.tools)
        name = f"{extension.name}/{tool}"
        frame = {"type": "tool_call", "name": tool, "args": args}
        try:
            answer = await extension.ask(frame, CALL_SECONDS)
        except TimeoutError:
            await extension.log(f"tool {tool} not answered within {CALL_SECONDS:g} s: failed")
            return outcome.failure(f"extension {name} failed: timeout waiting for {name}")
        except ExtensionLost:
            return outcome.failure(f"extension {name} failed: the extension has ended")
        except asyncio.CancelledError:
            return outcome.failure(f"extension {name} failed: context canceled")
        content, whole = _content(answer.get("content"), name)
        return Outcome(content, is_error=bool(answer.get("is_error")) or not whole)

    # -- slash commands

    def commands(self) -> list[SlashCommand]:
        """Those that can be run now, by name."""
        found: dict[str, SlashCommand] = {}
        for extension in reversed(self._running):
            if not extension.ended:
                found |= extension.commands
        return [found[name] for name in sorted(found)]

    async def run_command(self, name: str, args: str) -> tuple[str, str]:
        """The action (``prompt``, ``insert``, ``display`` or ``noop``) and its text.

        Raises CommandFailed.
        """
        key = name.removeprefix("/").lower()
        extension = await self._owner(key)
        if extension is None:
            raise CommandFailed(f"unknown command /{key}")
        command = extension.commands[key].name
        frame = {"type": "command_invoked", "name": command, "args": args.strip()}
        try:
            answer = await extension.ask(frame, CALL_SECONDS)
        except TimeoutError:
            await extension.log(f"/{command} not answered within {CALL_SECONDS:g} s: failed")
            raise CommandFailed(f"extension {extension.name} did not answer /{command}") from None
        except ExtensionLost:
            raise CommandFailed(f"extension {extension.name} has ended") from None
        if error := answer.get("error"):
            raise CommandFailed(str(error))
        action = str(answer.get("action") or "noop")
        if action not in _ACTIONS:
            raise CommandFailed(f"/{command} wants {action}, which only zot's own screen has")
        return action, str(answer.get(action) or "")

    async def _owner(self, command: str) -> Extension | None:
        """Who has it, waiting for those that may not have told all that they have."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._registers_until):
                while not (owners := self._owners(command)) and any(
                    not one.told_all for one in self._running
                ):
                    self._news.clear()
                    await self._news.wait()
                return next(iter(owners), None)
        return None

    def _owners(self, command: str) -> list[Extension]:
        return [one for one in self._running if command in one.commands and not one.ended]

    # -- events and vetoes

    def tell(self, event: str, **payload: object) -> None:
        for extension in self._running:
            extension.tell(event, **payload)

    async def before_turn(self, step: int) -> None:
        """Raises Blocked."""
        for extension in self._interceptors("turn_start"):
            _refuse_if_blocked(await _answer(extension, "turn_start", step=step))

    async def before_message(self, text: str) -> str | None:
        """The text to show, None if it is to be hidden."""
        for extension in self._interceptors("assistant_message"):
            answer = await _answer(extension, "assistant_message", text=text)
            if answer.get("block"):
                return None
            replacement = answer.get("replace_text")
            text = replacement if isinstance(replacement, str) else text
        return text

    async def before_call(self, call_id: str, tool: str, args: object) -> LetRun:
        """Raises Blocked."""
        gated = False
        for extension in self._interceptors("tool_call"):
            answer = await _answer(
                extension, "tool_call", tool_id=call_id, tool_name=tool, tool_args=args
            )
            _refuse_if_blocked(answer)
            if isinstance(answer.get("modified_args"), dict):
                args = answer["modified_args"]
            gated = gated or answer.get("gated") is True
        return LetRun(args, gated)

    def _interceptors(self, event: str) -> list[Extension]:
        return [one for one in reversed(self._running) if event in one.intercepts]


async def _answer(extension: Extension, event: str, **payload: object) -> Frame:
    """What it says to an intercept. Where it says nothing in time: nothing, or that it refuses if
    it is required."""
    frame = {"type": "event_intercept", "event": event, **payload}
    try:
        return await extension.ask(frame, INTERCEPT_SECONDS)
    except TimeoutError:
        then = "refused" if extension.required else "allowed"
        await extension.log(f"{event} not answered within {INTERCEPT_SECONDS:g} s: {then}")
    except ExtensionLost:
        pass  # its log has its end
    if not extension.required:
        return {}
    reason = f"refused: the extension {extension.name} is required and did not answer"
    return {"block": True, "reason": reason}


def _refuse_if_blocked(answer: Frame) -> None:
    if answer.get("block"):  # whatever is truly meant by 1 or "yes": no call runs on a doubt
        raise Blocked(str(answer.get("reason") or "blocked by extension"))


async def _until_ready(extensions: Sequence[Extension]) -> None:
    """For at most 3 s."""
    with suppress(TimeoutError):
        async with asyncio.timeout(READY_SECONDS):
            for extension in extensions:
                await extension.ready.wait()
    for extension in extensions:
        if not extension.ready.is_set():
            seconds = f"{READY_SECONDS:g} s"
            await extension.log(f"not ready within {seconds}; it is waited for no longer")


def _taken(what: str, names: Iterable[str], by: Container[str], whose: str) -> list[str]:
    return [f"{what}{name} is {whose} already" for name in sorted(names) if name in by]


def _content(given: object, name: str) -> tuple[list[Block], bool]:
    """The blocks of an answer of the tool ``name``, and whether they are all that it has: words
    stand in the place of those that no model could be shown."""
    items = cast(list[object], given) if isinstance(given, list) else []
    blocks: list[Block] = []
    whole = True
    for item in items:
        block: Frame = cast(Frame, item) if isinstance(item, dict) else {}
        match block.get("type"):
            case "text":
                if text := str(block.get("text") or ""):
                    blocks.append(text_block(text))
            case "image":
                image = _image(block)
                whole = whole and image is not None
                blocks.append(image or text_block(f"[{name}: an image whose data is no base64]"))
            case kind:
                blocks.append(text_block(f"[{name}: a block of the unknown type {kind!r}]"))
    return blocks or [text_block(_NO_CONTENT)], whole


def _image(given: Frame) -> Block | None:
    """None where a model's service would refuse it, again with every later prompt."""
    data = "".join(str(given.get("data") or "").split())
    with suppress(ValueError):
        if base64.b64decode(data, validate=True):
            return image_block(str(given.get("mime_type") or ""), data)
    return None
