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
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import cast

from lsp_agent.protocol.extension_folders import ExtensionProblem, Manifest
from lsp_agent.runtime import processes
from lsp_agent.runtime.extension import Extension, ExtensionLost, Frame, SlashCommand
from lsp_agent.runtime.providers.provider import ToolSpec
from lsp_agent.runtime.tools import outcome
from lsp_agent.runtime.tools.outcome import Outcome
from lsp_agent.runtime.transcript import Block, image_block, text_block

READY_SECONDS = 3.0
CALL_SECONDS = 60.0
INTERCEPT_SECONDS = 5.0
_ACTIONS = frozenset({"prompt", "insert", "display", "noop"})
_NO_CONTENT = "(extension returned no content)"

#: ``(extension, level, message)``
Notify = Callable[[str, str, str], None]


class Blocked(Exception):
    """An extension refused; the message is its reason."""


class CommandFailed(Exception):
    """A slash command came to nothing; the message says why."""


class Extensions:
    """The extensions in the order in which they were named; of two of one name, and of two tools
    or commands, the first counts. They are asked in the opposite order, so that the first has the
    last word: it sees a call as it will run."""

    def __init__(self, notify: Notify) -> None:
        self._notify = notify
        self._running: list[Extension] = []
        self._stopping = False

    async def start(
        self, folders: Sequence[str], greeting: Frame, own_tools: frozenset[str]
    ) -> None:
        """Starts them side by side and waits until they are ready, for at most 3 s. One that
        cannot be started is told of, and the others go on. ``own_tools`` are the agent's, which
        go before theirs."""
        names: set[str] = set()
        for folder in folders:
            try:
                manifest = Manifest.read(folder)
                if manifest.enabled and manifest.name not in names:
                    await self._start_one(manifest, greeting)
                    names.add(manifest.name)
            except ExtensionProblem as problem:
                self._report(os.path.basename(folder), str(problem))  # noqa: PTH119
        if self._running:
            # So that what they leave behind is found at the end; meanwhile they get ready.
            await asyncio.to_thread(processes.adopt_orphans)
        with suppress(TimeoutError):
            async with asyncio.timeout(READY_SECONDS):
                for extension in self._running:
                    await extension.ready.wait()
        await self._log_shadowed(own_tools)

    async def _start_one(self, manifest: Manifest, greeting: Frame) -> None:
        def notify(level: str, message: str) -> None:
            self._notify(manifest.name, level, message)

        def end(how: str) -> None:
            if not self._stopping:
                self._report(
                    manifest.name,
                    f"extension {manifest.name} has ended ({how}); see: lsp-agent ext logs"
                    f" {manifest.name}",
                )

        extension = Extension(manifest, greeting, notify, end)
        if manifest.required:
            self._running.append(extension)  # whether or not it starts: else nothing is asked
        await extension.start()
        if not manifest.required:
            self._running.append(extension)

    async def _log_shadowed(self, own_tools: frozenset[str]) -> None:
        """Who offers what somebody else offers already finds out by its log."""
        tools: set[str] = set()
        commands: set[str] = set()
        for extension in self._running:
            for name in sorted(own_tools & set(extension.tools)):
                await extension.log(f"tool {name} is the agent's own already")
            for name in sorted(tools & set(extension.tools)):
                await extension.log(f"tool {name} is another extension's already")
            for name in sorted(commands & set(extension.commands)):
                await extension.log(f"command /{name} is another extension's already")
            tools |= set(extension.tools)
            commands |= set(extension.commands)

    def _report(self, name: str, message: str) -> None:
        print(f"lsp-agent rpc: {message}", file=sys.stderr, flush=True)
        self._notify(name, "error", message)

    async def stop(self) -> None:
        self._stopping = True
        await asyncio.gather(*(extension.stop() for extension in self._running))

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
            return outcome.failure(f"extension {name} failed: timeout waiting for {name}")
        except ExtensionLost:
            return outcome.failure(f"extension {name} failed: the extension has ended")
        except asyncio.CancelledError:
            return outcome.failure(f"extension {name} failed: context canceled")
        return Outcome(_content(answer.get("content")), is_error=bool(answer.get("is_error")))

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
        owners = (one for one in self._running if key in one.commands and not one.ended)
        extension = next(owners, None)
        if extension is None:
            raise CommandFailed(f"unknown command /{key}")
        command = extension.commands[key].name
        frame = {"type": "command_invoked", "name": command, "args": args.strip()}
        try:
            answer = await extension.ask(frame, CALL_SECONDS)
        except TimeoutError:
            raise CommandFailed(f"extension {extension.name} did not answer /{command}") from None
        except ExtensionLost:
            raise CommandFailed(f"extension {extension.name} has ended") from None
        if error := answer.get("error"):
            raise CommandFailed(str(error))
        action = str(answer.get("action") or "noop")
        if action not in _ACTIONS:
            raise CommandFailed(f"/{command} wants {action}, which only zot's own screen has")
        return action, str(answer.get(action) or "")

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

    async def before_call(self, call_id: str, tool: str, args: object) -> object:
        """The arguments to run the call with. Raises Blocked."""
        for extension in self._interceptors("tool_call"):
            answer = await _answer(
                extension, "tool_call", tool_id=call_id, tool_name=tool, tool_args=args
            )
            _refuse_if_blocked(answer)
            if isinstance(answer.get("modified_args"), dict):
                args = answer["modified_args"]
        return args

    def _interceptors(self, event: str) -> list[Extension]:
        return [one for one in reversed(self._running) if event in one.intercepts]


async def _answer(extension: Extension, event: str, **payload: object) -> Frame:
    """What it says to an intercept. Where it says nothing in time: nothing, or that it refuses if
    it is required."""
    frame = {"type": "event_intercept", "event": event, **payload}
    try:
        return await extension.ask(frame, INTERCEPT_SECONDS)
    except (TimeoutError, ExtensionLost):
        if not extension.required:
            return {}
        reason = f"refused: the extension {extension.name} is required and did not answer"
        return {"block": True, "reason": reason}


def _refuse_if_blocked(answer: Frame) -> None:
    if answer.get("block"):  # whatever is truly meant by 1 or "yes": no call runs on a doubt
        raise Blocked(str(answer.get("reason") or "blocked by extension"))


def _content(given: object) -> list[Block]:
    """Text and image blocks."""
    blocks: list[Block] = []
    for item in cast(list[object], given) if isinstance(given, list) else []:
        block: Frame = cast(Frame, item) if isinstance(item, dict) else {}
        if block.get("type") == "image":
            blocks.append(_image(block))
        elif text := str(block.get("text") or ""):
            blocks.append(text_block(text))
    return blocks or [text_block(_NO_CONTENT)]


def _image(given: Frame) -> Block:
    data = "".join(str(given.get("data") or "").split())
    try:
        base64.b64decode(data, validate=True)
    except ValueError:  # a model's service would refuse it, again with every later prompt
        return text_block("[an image whose data is no base64]")
    return image_block(str(given.get("mime_type") or ""), data)
