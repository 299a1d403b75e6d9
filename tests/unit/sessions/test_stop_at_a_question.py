"""What an agent reads once it is stopped while it waits for an answer, in virtual time."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from support.scripted_editor import VirtualClock, run

from lsp_agent.agents.process import AgentProcess, Exit
from lsp_agent.sessions.agent.link import STOP_SECONDS, AgentLink, Callbacks
from lsp_agent.wires.acp.wire import AcpWire
from lsp_agent.wires.wire import AgentRequest, Answer, Launch, Prompt, Refused

Frame = dict[str, Any]

RESULTS: Frame = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": {"sessionId": "s1"},
}
ASKS: Frame = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "session/request_permission",
    "params": {
        "sessionId": "s1",
        "toolCall": {"toolCallId": "c1", "title": "make", "kind": "execute"},
        "options": [{"optionId": "no", "name": "No", "kind": "reject_once"}],
    },
}


READS: Frame = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "fs/read_text_file",
    "params": {"sessionId": "s1", "path": "/a.txt"},
}


class Asking:
    """An agent's process, which asks for leave, or for a file, as soon as it is prompted."""

    def __init__(self, request: Frame) -> None:
        self._request = request
        #: What it has read, and when.
        self.read: list[tuple[float, Frame]] = []
        self._says, self._said = anyio.create_memory_object_stream[list[object]](10)

    async def send(self, frame: Frame) -> None:
        self.post(frame)

    def post(self, frame: Frame) -> None:
        self.read.append((anyio.current_time(), frame))
        method = frame.get("method")
        if method in RESULTS:
            answer = {"jsonrpc": "2.0", "id": frame["id"], "result": RESULTS[method]}
            self._says.send_nowait([answer])
        elif method == "session/prompt":
            self._says.send_nowait([self._request])

    async def batches(self) -> AsyncIterator[list[object]]:
        async with self._said:
            async for batch in self._said:
                yield batch

    async def keep(self, *, workers: bool) -> None: ...

    async def stop(self, _grace: float) -> Exit:
        return await self.kill()

    async def kill(self) -> Exit:
        self._says.close()
        return Exit(0, "")


@pytest.mark.parametrize("request_", [ASKS, READS], ids=lambda each: each["method"])
def test_it_has_a_moment_to_act_on_that_before_it_reads_that_it_is_refused(
    monkeypatch: pytest.MonkeyPatch, request_: Frame
) -> None:
    agent = Asking(request_)

    async def start(*_argv: object, **_options: object) -> Asking:
        return agent

    monkeypatch.setattr(AgentProcess, "start", start)

    async def main(_clock: VirtualClock) -> None:
        asked, stopped = anyio.Event(), anyio.Event()

        async def on_request(_request: AgentRequest) -> Answer:
            asked.set()
            await stopped.wait()
            return Refused("Stopped.")

        async def drain() -> None: ...

        callbacks = Callbacks(lambda _: None, on_request, lambda _link, _exit: None, drain)
        async with anyio.create_task_group() as tasks:
            link, _ = await AgentLink.start(
                Launch(("agent",)),
                AcpWire(),
                None,
                tasks,
                callbacks,
                cwd="/",
                line_bytes=1000,
                resume=None,
            )
            await link.send(Prompt("Build it."))
            await asked.wait()
            link.tell_to_stop()
            stopped.set()
            await anyio.sleep(1)
            await link.stop()

    run(main)
    times = {frame.get("method", frame.get("id")): time for time, frame in agent.read}
    assert times[request_["id"]] == pytest.approx(times["session/cancel"] + STOP_SECONDS)
