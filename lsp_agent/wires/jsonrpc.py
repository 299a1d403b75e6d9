"""JSON-RPC 2.0 between us and an agent: frames, and the requests of ours that wait.

https://www.jsonrpc.org/specification. What a method means is each wire's own.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from lsp_agent.toolset.loose_json import Frame, integer

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

Sent = TypeVar("Sent")


@dataclass(frozen=True, slots=True)
class Frames:
    """Those of ours; each begins with ``head``."""

    head: Frame

    def request(self, rpc_id: int, method: str, params: Frame) -> Frame:
        return {**self.head, "id": rpc_id, "method": method, "params": params}

    def notification(self, method: str, params: Frame | None = None) -> Frame:
        told = {} if params is None else {"params": params}
        return {**self.head, "method": method, **told}

    def result(self, rpc_id: object, value: Frame) -> Frame:
        return {**self.head, "id": rpc_id, "result": value}

    def error(
        self, rpc_id: object, code: int, message: str, data: Mapping[str, object] | None = None
    ) -> Frame:
        told = {"code": code, "message": message} | ({} if data is None else {"data": data})
        return {**self.head, "id": rpc_id, "error": told}

    def unknown(self, rpc_id: object, method: str) -> Frame:
        """The answer to a request that we do not know."""
        return self.error(rpc_id, METHOD_NOT_FOUND, f"Method not found: {method}")


VERSIONED = Frames({"jsonrpc": "2.0"})
#: Of an agent that leaves the version out.
BARE = Frames({})


class Requests(Generic[Sent]):
    """Those of ours that wait for their response, each with what it was sent for."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._ids = itertools.count(1)
        self._sent: dict[int, Sent] = {}

    def send(self, sent: Sent, method: str, params: Frame) -> Frame:
        """The frame to be sent."""
        rpc_id = next(self._ids)
        self._sent[rpc_id] = sent
        return self._frames.request(rpc_id, method, params)

    def answered(self, response: Frame) -> Sent | None:
        """What the request was for that this is the response to; it waits no longer."""
        rpc_id = integer(response, "id")
        return None if rpc_id is None else self._sent.pop(rpc_id, None)

    def forget(self) -> None:
        """No responses will come."""
        self._sent.clear()


def kind_of(told: Frame) -> Literal["request", "notification", "response", "neither"]:
    """What an agent's frame is. Some leave a result out that says nothing."""
    if isinstance(told.get("method"), str):
        return "request" if "id" in told else "notification"
    answers = "result" in told or "error" in told or ("id" in told and "method" not in told)
    return "response" if answers else "neither"
