"""What an agent tells again of a session that it takes up."""

from lsp_agent.protocol.catalogue import AcpHabits
from lsp_agent.toolset.loose_json import Frame
from lsp_agent.wires.acp import messages as acp
from lsp_agent.wires.acp.turn import Turn
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.wire import Decoded

_REPLAYED = frozenset(
    {
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
    }
)


class Replay:
    """What an agent tells of a session that it takes up: turns that were, of which only the
    messages are of use."""

    def __init__(self) -> None:
        self._batch = Batch()
        self._prompt: list[str] = []
        self._turn: Turn | None = None

    def takes(self, kind: str) -> bool:
        return kind in _REPLAYED

    def update(self, kind: str, update: Frame) -> None:
        if kind == "user_message_chunk":
            self._end()
            self._prompt.append(acp.chunk_text(update))
            return
        turn = self._turn or self._begin()
        match kind:
            case "agent_message_chunk":
                turn.say(acp.chunk_text(update), self._batch)
            case "agent_thought_chunk":
                turn.think(acp.chunk_text(update), self._batch)
            case "plan":
                turn.plan(update, self._batch)
            case _:
                turn.update(update, self._batch)

    def finish(self) -> list[Decoded]:
        """All of it, in order. It is not to be used afterwards."""
        if self._prompt:
            self._begin()
        self._end()
        return self._batch.finish()

    def _begin(self) -> Turn:
        self._turn = Turn("", acp.user_message("".join(self._prompt), ()), AcpHabits())
        self._prompt.clear()
        self._turn.begin(self._batch)
        return self._turn

    def _end(self) -> None:
        if self._turn is not None:
            self._turn.end("endTurn", None, self._batch)
            self._turn = None
