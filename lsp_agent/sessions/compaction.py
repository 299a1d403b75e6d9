"""A request to compact, which waits its turn as a prompt does."""

from contextlib import suppress

import anyio

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.sessions.agent.keeper import AgentKeeper
from lsp_agent.wires.wire import Abort, Compact, CompactEnded


class Compaction:
    """Ends once: by the agent's word, a stop, or the agent's end."""

    def __init__(self, instructions: str = "") -> None:
        self._instructions = instructions
        self._ended = anyio.Event()
        self._outcome: CompactEnded | None = None
        self._failure: RequestFailed | None = None
        self.sent = False
        self._starting = anyio.CancelScope()

    def end(self, outcome: CompactEnded | None, failure: RequestFailed | None = None) -> None:
        """Only the first call counts; without either it was stopped."""
        if not self._ended.is_set():
            self._outcome, self._failure = outcome, failure
            self._ended.set()

    async def summary(self) -> str:
        """:raises RequestFailed: as the agent failed; "conflict" if it refused or was stopped"""
        await self._ended.wait()
        if self._failure is not None:
            raise self._failure
        outcome = self._outcome
        if outcome is None or outcome.summary is None:
            reason = outcome.error if outcome and outcome.error else "it was stopped"
            raise RequestFailed("conflict", f"The transcript was not compacted: {reason}.")
        return outcome.summary

    async def run(self, keeper: AgentKeeper) -> None:
        try:
            link = None
            with self._starting:
                link = await keeper.running()
            if link is not None and not self._ended.is_set():
                self.sent = True
                await link.send(Compact(self._instructions))
                await self._ended.wait()
        except RequestFailed as failure:
            self.end(None, failure)

    async def stop(self, keeper: AgentKeeper, seconds: float) -> None:
        """An aborted compaction may end without a word: its end is then told by the state. An
        agent that does not come to it in time is ended."""
        link = keeper.link
        if link is None:
            self._starting.cancel()
        else:
            with anyio.move_on_after(seconds), suppress(RequestFailed):
                await link.send(Abort())
                while not self._ended.is_set():
                    await keeper.state()
                    await anyio.sleep(0.02)
            if not self._ended.is_set():
                await keeper.kill()
        self.end(None)
