"""Answers for calls that cannot wait as long as a person thinks.

An agent gives up on a call after seconds, and only a command has a gate that waits. So a call
leaves its question open: the next call alike has the answer, or waits for it.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio

from lsp_agent.protocol.questions import Answer
from lsp_agent.sessions.shared.services import Services
from lsp_agent.toolset.calls import ToolRequest

_Key = tuple[str | None, str, str]


@dataclass(slots=True)
class _Asked:
    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None


class LateAnswers:
    """``ask`` puts the question about a call and ends with its turn at the latest."""

    def __init__(
        self, services: Services, ask: Callable[[ToolRequest], Awaitable[Answer | None]]
    ) -> None:
        self._services = services
        self._ask = ask
        self._asked: dict[_Key, _Asked] = {}

    async def wait(self, turn_id: str | None, request: ToolRequest) -> Answer | None:
        """What was chosen, or None. An answer serves the calls that wait for it; if they
        were all cancelled, the next one of this turn with the same tool and arguments."""
        self._asked = {key: asked for key, asked in self._asked.items() if key[0] == turn_id}
        try:
            arguments = json.dumps(dict(request.args), sort_keys=True, default=repr)
        except RecursionError:
            return None  # nested so deeply that it cannot be told from another call
        key = (turn_id, request.tool, arguments)
        asked = self._asked.get(key)
        if asked is None:
            asked = self._asked[key] = _Asked()
            self._services.tasks.start_soon(self._put, asked, request)
        await asked.answered.wait()
        if self._asked.get(key) is asked:
            del self._asked[key]
        return asked.answer

    async def _put(self, asked: _Asked, request: ToolRequest) -> None:
        try:
            asked.answer = await self._ask(request)
        finally:
            asked.answered.set()
