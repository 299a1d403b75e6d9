"""What one batch of frames says: decoded values in order, runs of deltas joined."""

from collections.abc import Callable

from lsp_agent.protocol.events import TextDelta, ThinkingDelta, ToolArgsDelta, ToolProgress
from lsp_agent.wires.wire import Decoded

Delta = TextDelta | ThinkingDelta | ToolArgsDelta | ToolProgress


class Batch:
    """Collects a batch; joining is by list, so a flood of small deltas costs little."""

    def __init__(self) -> None:
        self._decoded: list[Decoded] = []
        self._parts: list[str] = []
        self._run: tuple[object, str] | None = None
        self._make: Callable[[str], Delta] = TextDelta

    def add(self, item: Decoded) -> None:
        self._flush()
        self._decoded.append(item)

    def text(self, text: str) -> None:
        """Text of the assistant's; the hot path."""
        if self._run is not None or self._make is not TextDelta:
            self._flush()
            self._make = TextDelta
        self._parts.append(text)

    def tool_delta(
        self, kind: type[ToolArgsDelta] | type[ToolProgress], call_id: str, text: str
    ) -> None:
        """Arguments or output of the call ``call_id``."""
        if self._run != (kind, call_id):
            self._flush()
            self._run = (kind, call_id)
            self._make = lambda joined: kind(call_id, joined)
        self._parts.append(text)

    def finish(self) -> list[Decoded]:
        """Everything added, in order. The batch is not to be used afterwards."""
        self._flush()
        return self._decoded

    def _flush(self) -> None:
        if joined := "".join(self._parts):
            self._decoded.append(self._make(joined))
        self._parts.clear()
        self._run = None
        self._make = TextDelta
