"""A bridge, a stand-in for zot below a supervisor, and a host whose answers a test sets."""

import json
import os
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from lsp_agent.agents.bridge import Bridge, Limits
from lsp_agent.agents.process import AgentProcess
from lsp_agent.toolset.calls import Allow, Block, Gate, Outcome, ToolAnswer, ToolRequest, Verdict

STAND_IN = str(Path(__file__).with_name("stand_in.py"))

Call = tuple[str, dict[str, object]]


def bash(command: str, **more: object) -> Call:
    return "bash", {"command": command, **more}


async def allow(_: ToolRequest) -> Allow:
    return Allow()


async def gate(_: ToolRequest) -> Gate:
    return Gate()


async def deny(_: ToolRequest) -> Block:
    return Block("Not run: the user declined this command.")


async def forever(_: ToolRequest) -> Allow:
    await anyio.sleep_forever()
    return Allow()


async def echo(request: ToolRequest) -> ToolAnswer:
    return ToolAnswer(f"{request.tool} {request.args['path']}\n")


@dataclass
class Host:
    """Says what it was asked in ``heard``: (question, request)."""

    intercepted: Callable[[ToolRequest], Awaitable[Verdict]] = allow
    decided: Callable[[ToolRequest], Awaitable[Allow | Block]] = allow
    ran: Callable[[ToolRequest], Awaitable[ToolAnswer]] = echo
    heard: list[tuple[str, ToolRequest]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)

    async def intercept(self, request: ToolRequest) -> Verdict:
        return await self._hear("intercept", self.intercepted, request)

    async def decide(self, request: ToolRequest) -> Allow | Block:
        return await self._hear("decide", self.decided, request)

    async def decide_again(self, request: ToolRequest, outcome: Outcome) -> Allow | Block:
        raise NotImplementedError

    async def run(self, request: ToolRequest) -> ToolAnswer:
        return await self._hear("run", self.ran, request)

    async def _hear(self, what, answer, request):
        self.heard.append((what, request))
        try:
            return await answer(request)
        except anyio.get_cancelled_exc_class():
            self.cancelled.append(what)
            raise

    def asked(self, what: str) -> list[ToolRequest]:
        return [request for question, request in self.heard if question == what]

    async def until(self, what: str) -> None:
        with anyio.fail_after(5):
            while not self.asked(what):  # noqa: ASYNC110 (simpler than an event a question)
                await anyio.sleep(0.005)


@dataclass(frozen=True)
class Result:
    text: str
    is_error: bool

    @property
    def output(self) -> str:
        """What a command said, with its exit code, without the header that repeats it."""
        return self.text.rpartition("\n\n[exit")[0].partition("\n\n")[2] + self.exit

    @property
    def exit(self) -> str:
        return self.text.rpartition("\n[exit ")[2].partition("]")[0]


class Hosted:
    """An agent with its bridge; ``tag`` is in the environment of all its processes."""

    def __init__(self, bridge: Bridge, host: Host, process: AgentProcess, tag: str) -> None:
        self.bridge = bridge
        self.host = host
        self.process = process
        self.tag = tag
        self._frames = self._each()

    async def _each(self) -> AsyncIterator[dict]:
        async for batch in self.process.batches():
            for frame in batch:
                yield frame

    async def prompt(self, *calls: Call) -> None:
        message = json.dumps([{"tool": tool, "args": args} for tool, args in calls])
        await self.process.send({"type": "prompt", "id": "1", "message": message})

    async def results(self) -> list[Result]:
        """Those up to the turn's end."""
        found: list[Result] = []
        with anyio.fail_after(20):
            async for frame in self._frames:
                if frame["type"] == "tool_result":
                    self.bridge.call_ended(frame["id"])
                    found.append(Result(frame["content"][0]["text"], frame["is_error"]))
                if frame["type"] == "done":
                    break
        self.bridge.turn_ended()
        return found

    async def turn(self, *calls: Call) -> list[Result]:
        await self.prompt(*calls)
        return await self.results()

    async def abort(self) -> None:
        self.bridge.abort()
        await self.process.send({"type": "abort", "id": "2"})


def hosted(
    host: Host,
    cwd: Path | str,
    *arguments: str,
    limits: Limits | None = None,
    unset: tuple[str, ...] = (),
) -> AbstractAsyncContextManager[Hosted]:
    """With the stand-in, which runs the calls that a prompt names."""
    bridge = Bridge(host, unset=unset, limits=limits)
    return _hosted(host, cwd, bridge, (STAND_IN, *arguments))


@asynccontextmanager
async def embedded(
    host: Host, cwd: Path, *turns: Sequence[Call], limits: Limits | None = None
) -> AsyncIterator[Hosted]:
    """With the embedded agent, whose script makes the calls of one turn after another."""
    steps: list[dict[str, object]] = []
    for calls in turns:
        steps.append({"calls": [{"name": tool, "args": args} for tool, args in calls]})
        steps.append({"text": "done"})
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as script:
        json.dump({"steps": steps}, script)
        script.flush()
        flags = ("--tools", "bash", "--no-ext", "--provider", "script", "--script", script.name)
        program = ("-P", "-m", "lsp_agent", "rpc", "--cwd", str(cwd), *flags)
        async with _hosted(host, cwd, Bridge(host, limits=limits), program) as agent:
            yield agent


@asynccontextmanager
async def _hosted(
    host: Host, cwd: Path | str, opening: Bridge, program: Sequence[str]
) -> AsyncIterator[Hosted]:
    tag = f"tag{uuid.uuid4().hex}"
    async with opening as bridge:
        process = await AgentProcess.start(
            [sys.executable, *program, "--ext", bridge.folder],
            cwd=os.fspath(cwd),
            env={"TAG": os.environ.get("TAG", tag), "API_KEY": "s3cret"},
            line_bytes=64 << 20,
        )
        try:
            yield Hosted(bridge, host, process, tag)
        finally:
            await process.kill()
