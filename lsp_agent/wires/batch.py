"""What one batch of frames says: decoded values in order, a call's pieces joined."""

from lsp_agent.protocol.events import ToolArgsDelta, ToolProgress
from lsp_agent.wires.wire import Decoded

_Piece = type[ToolArgsDelta] | type[ToolProgress]


class Batch:
    """Collects a batch; pieces are joined once a run of them ends, so many cost little."""

    def __init__(self) -> None:
        self._decoded: list[Decoded] = []
        self._parts: list[str] = []
        self._kind: _Piece = ToolArgsDelta
        self._call_id = ""

    def add(self, item: Decoded) -> None:
        if self._parts:
            self._flush()
        self._decoded.append(item)

    def piece(self, kind: _Piece, call_id: str, text: str) -> None:
        """Arguments or output of the call ``call_id``."""
        if self._parts and (kind is not self._kind or call_id != self._call_id):
            self._flush()
        if text:
            self._kind = kind
            self._call_id = call_id
            self._parts.append(text)

    def finish(self) -> list[Decoded]:
        """Everything added, in order. The batch is not to be used afterwards."""
        if self._parts:
            self._flush()
        return self._decoded

    def _flush(self) -> None:
        self._decoded.append(self._kind(self._call_id, "".join(self._parts)))
        self._parts.clear()
