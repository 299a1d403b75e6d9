"""Whether the first words of a connection let it in. Pure."""

import hmac
from dataclasses import dataclass
from typing import Any, cast

from lsp_agent.server.rpc.errors import INVALID_REQUEST, wire_error
from lsp_agent.server.rpc.frames import BadFrame, Frames, TooLarge, frame
from lsp_agent.server.rpc.json_codec import decode, encode

#: An ``initialize`` of the most talkative editor has a hundredth of it.
_LARGEST = 1 << 20
_HEADER = b"content-"
_NOT_ADMITTED = (
    "The token is missing or wrong: initialize must come first, with it as"
    " initializationOptions.token. It is what the server was started with (LSP_AGENT_TOKEN or"
    " --token-file), or is in the file that the server named on stderr."
)


@dataclass(frozen=True, slots=True)
class Admission:
    """``said`` is what was heard, the token left out."""

    said: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """``answer`` is what a client of LSP is told, b"" for who speaks something else."""

    why: str
    answer: bytes = b""


def admission(said: bytes, token: str) -> Admission | Refused | None:
    """None if more has to be heard."""
    head, whole, _ = said.partition(b"\r\n\r\n")
    if not all(_is_header(line) for line in head.split(b"\r\n")):
        return Refused("it does not speak LSP")  # the verbs and the headers of a browser
    try:
        body = next(Frames(_LARGEST).feed(said), None)
    except BadFrame:
        return Refused("it does not speak LSP")
    if isinstance(body, TooLarge) or (body is None and len(said) > _LARGEST):
        return Refused("its first message is too large")
    if body is None:
        return None
    rest = said[len(head) + len(whole) + len(body) :]
    return _of_message(body, rest, token)


def _of_message(body: bytes, rest: bytes, token: str) -> Admission | Refused:
    try:
        message = decode(body)
    except ValueError:
        message = None
    options = _object(_object(message).get("params")).get("initializationOptions")
    given = _object(options).pop("token", None)
    if _object(message).get("method") != "initialize" or not _is_alike(given, token):
        error = wire_error(INVALID_REQUEST, _NOT_ADMITTED)
        answer = {"jsonrpc": "2.0", "id": _object(message).get("id"), "error": error}
        return Refused("it has not got the token", frame(encode(answer)))
    return Admission(frame(encode(message)) + rest)


def _is_header(line: bytes) -> bool:
    """Whether it is one of LSP's, or may become one."""
    start = line[: len(_HEADER)].lower()
    return _HEADER.startswith(start)


def _is_alike(given: object, token: str) -> bool:
    """In a time that does not tell how much of it is right."""
    said = given if isinstance(given, str) else ""
    return hmac.compare_digest(said.encode(errors="surrogatepass"), token.encode())


def _object(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
