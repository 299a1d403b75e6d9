"""All extensions of the agent: their tools, and their vetoes in turn.

An extension that does not answer an intercept within 5 s, or has ended, is taken to allow it, as
with zot: a wedged extension must not stall the agent. Whoever relies on a veto must therefore
answer before. The bridge of lsp-agent answers "block" by itself at 4 s, which leaves a second for
a loaded machine, and ends the agent when it loses its server.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import cast

from lsp_agent.runtime import processes
from lsp_agent.runtime.extension import (
    Extension,
    ExtensionLost,
    ExtensionProblem,
    Frame,
    Manifest,
)
from lsp_agent.runtime.providers.provider import ToolSpec
from lsp_agent.runtime.tools import outcome
from lsp_agent.runtime.tools.outcome import Outcome
from lsp_agent.runtime.transcript import Block, text_block

READY_SECONDS = 3.0
CALL_SECONDS = 60.0
INTERCEPT_SECONDS = 5.0
_NO_CONTENT = "(extension returned no content)"

#: ``(extension, level, message)``
Notify = Callable[[str, str, str], None]


class Blocked(Exception):
    """An extension refused; the message is its reason."""


class Extensions:
    """The extensions in the order in which they were named; of two tools of one name the first
    one's counts."""

    def __init__(self, notify: Notify) -> None:
        self._notify = notify
        self._running: list[Extension] = []
        self._stopping = False

    async def start(self, folders: Sequence[str], greeting: Frame) -> None:
        """Starts them side by side and waits until they are ready, for at most 3 s. One that
        cannot be started is told of, and the others go on."""
        for folder in folders:
            try:
                manifest = Manifest.read(folder)
                if manifest.enabled:
                    await self._start_one(manifest, greeting)
            except ExtensionProblem as problem:
                self._report(os.path.basename(folder), str(problem))  # noqa: PTH119
        if self._running:
            # So that what they leave behind is found at the end; meanwhile they get ready.
            await asyncio.to_thread(processes.adopt_orphans)
        with suppress(TimeoutError):
            async with asyncio.timeout(READY_SECONDS):
                for extension in self._running:
                    await extension.ready.wait()

    async def _start_one(self, manifest: Manifest, greeting: Frame) -> None:
        def notify(level: str, message: str) -> None:
            self._notify(manifest.name, level, message)

        def end() -> None:
            if not self._stopping:
                self._report(manifest.name, f"extension {manifest.name} has ended")

        extension = Extension(manifest, greeting, notify, end)
        await extension.start()
        self._running.append(extension)

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
            if answer.get("block") is True:
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
        return [one for one in self._running if event in one.intercepts and not one.ended]


async def _answer(extension: Extension, event: str, **payload: object) -> Frame:
    """What it says to an intercept; nothing if it says nothing in time."""
    frame = {"type": "event_intercept", "event": event, **payload}
    try:
        return await extension.ask(frame, INTERCEPT_SECONDS)
    except (TimeoutError, ExtensionLost):
        return {}


def _refuse_if_blocked(answer: Frame) -> None:
    if answer.get("block") is True:
        raise Blocked(str(answer.get("reason") or "blocked by extension"))


def _content(given: object) -> list[Block]:
    """Text and image blocks as the wire has them: of an image only its size."""
    blocks: list[Block] = []
    for item in cast(list[object], given) if isinstance(given, list) else []:
        block: Frame = cast(Frame, item) if isinstance(item, dict) else {}
        if block.get("type") == "image":
            size = len(str(block.get("data") or "").rstrip("=")) * 3 // 4
            mime_type = str(block.get("mime_type") or "")
            blocks.append({"type": "image", "mime_type": mime_type, "bytes": size})
        elif text := str(block.get("text") or ""):
            blocks.append(text_block(text))
    return blocks or [text_block(_NO_CONTENT)]
