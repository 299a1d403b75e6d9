"""The first answer, given before the server is imported.

An editor shows a server as alive once ``initialize`` is answered, and the answer needs little of
it. So the first message is read here, with blocking calls and before there is a loop; what else
the client says meanwhile waits in the pipe. All that was read is read once more by the server,
which then knows that ``initialize`` has its answer. Whatever else comes first, and what is wrong
with it, is left to the server.
"""

from dataclasses import dataclass
from typing import Any, cast

from lsp_agent.protocol.errors import BadParams
from lsp_agent.server.client.capabilities import initialize_result
from lsp_agent.server.client.info import Introduction
from lsp_agent.server.rpc.channel import Channel, Recv
from lsp_agent.server.rpc.frames import BODY_LIMIT, BadFrame, Frames, TooLarge, frame
from lsp_agent.server.rpc.json_codec import decode, encode

Json = dict[str, Any]

_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Welcomed:
    """``channel`` has all that the client said; ``introduced`` is what its ``initialize`` said,
    None if that was not answered."""

    channel: Channel
    introduced: Introduction | None


def welcome(channel: Channel) -> Welcomed:
    """Waits for the first message, and answers it if it is a good ``initialize``."""
    said, body = _first(channel.recv)
    introduced = None if body is None else _answered(body, channel)
    return Welcomed(channel.after(said), introduced)


def _first(recv: Recv) -> tuple[bytes, bytes | None]:
    """All that was read, and the first message's body; None where there is none to answer."""
    said, frames = bytearray(), Frames(BODY_LIMIT)
    try:
        while chunk := recv(_CHUNK):
            said += chunk
            body = next(frames.feed(chunk), None)
            if body is not None:
                return bytes(said), None if isinstance(body, TooLarge) else body
    except (BadFrame, OSError):
        pass  # the server meets the same
    return bytes(said), None


def _answered(body: bytes, channel: Channel) -> Introduction | None:
    try:
        message = decode(body)
        if not isinstance(message, dict):
            return None
        message = cast(Json, message)
        msg_id, params = message.get("id"), message.get("params")
        if (message.get("jsonrpc"), message.get("method")) != ("2.0", "initialize"):
            return None
        if type(msg_id) not in (str, int) or not isinstance(params, dict):
            return None
        introduced = Introduction.of(cast(Json, params))
        result = initialize_result(introduced.client)
        _send(channel, frame(encode({"jsonrpc": "2.0", "id": msg_id, "result": result})))
    except (BadParams, ValueError, OSError):
        return None  # the server says what is wrong, or finds that the client is gone
    return introduced


def _send(channel: Channel, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[channel.send(view) :]
