"""What a client asks of the proxy, read strictly: what could be read in two ways is refused."""

import base64
import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsp_agent.sandbox.network.hosts import plain

_LINE = re.compile(r"([A-Z]{1,20}) ([\x21-\x7e]+) HTTP/1\.[01]")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::([0-9]{1,5}))?")
_URI = re.compile(r"http://([^/?#]*)(/?[^#]*)", re.IGNORECASE)
#: Of this connection, not of the request; and the host, which the address names.
_OURS = {
    "host", "connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "trailer",
    "upgrade", "expect",
}  # fmt: skip


class Refused(Exception):
    """``host`` is what was wanted, "" where that is not why."""

    def __init__(self, status: str, words: str, host: str = "") -> None:
        super().__init__(words)
        self.status, self.words, self.host = status, words, host


@dataclass(frozen=True, slots=True)
class Wanted:
    """``head`` is what is sent on, "" of a tunnel; ``body`` is how many bytes follow it."""

    host: str
    port: int
    head: bytes = b""
    body: int = 0


def read(head: bytes, token: str) -> Wanted:
    """``head`` ends with its empty line. Raises Refused."""
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    line = _LINE.fullmatch(first)
    headers = [_HEADER.fullmatch(each) for each in lines]
    if line is None or not all(headers):
        raise Refused("400 Bad Request", "this is no request to a proxy")
    fields = [(each[1], each[2].rstrip()) for each in headers if each]
    _admit(fields, token)
    method, target = line[1], line[2]
    if method == "CONNECT":
        return Wanted(*_authority(target, None))
    uri = _URI.fullmatch(target)
    if uri is None:
        raise Refused("400 Bad Request", "only http:// is asked for by its whole address")
    host, port = _authority(uri[1], 80)
    path = uri[2] if uri[2].startswith("/") else f"/{uri[2]}"
    name = (f"[{host}]" if ":" in host else host) + (
        f":{port}" if uri[1].endswith(f":{port}") else ""
    )
    own = [f"{method} {path} HTTP/1.1", f"Host: {name}", "Connection: close"]
    kept = [f"{key}: {value}" for key, value in fields if key.lower() not in _left_out(fields)]
    return Wanted(host, port, "\r\n".join([*own, *kept, "", ""]).encode("latin-1"), _body(fields))


def _admit(fields: list[tuple[str, str]], token: str) -> None:
    expected = "Basic " + base64.b64encode(f"held:{token}".encode()).decode()
    given = [value for key, value in fields if key.lower() == "proxy-authorization"]
    if len(given) != 1 or not hmac.compare_digest(given[0].encode("latin-1"), expected.encode()):
        raise Refused("407 Proxy Authentication Required", "the token of this command is missing")


def _authority(text: str, default: int | None) -> tuple[str, int]:
    """No user may be named in it: programs do not agree on where a host begins behind one."""
    found = _AUTHORITY.fullmatch(text)
    host = plain(found[1].strip("[]")) if found else None
    port = int(found[2]) if found and found[2] else default
    if host is None or port is None:
        raise Refused("400 Bad Request", "this names no host and port")
    return host, port


def _left_out(fields: list[tuple[str, str]]) -> set[str]:
    """With those that the connection's own header names."""
    named = (value for key, value in fields if key.lower() == "connection")
    return _OURS | {each.strip().lower() for value in named for each in value.split(",")} - {
        "content-length"
    }


def _body(fields: list[tuple[str, str]]) -> int:
    lengths = list(_values(fields, "content-length"))
    if any(_values(fields, "transfer-encoding")):
        raise Refused("411 Length Required", "a body is sent on only where its length is told")
    if len(lengths) > 1 or any(not re.fullmatch(r"[0-9]{1,15}", each) for each in lengths):
        raise Refused("400 Bad Request", "the length of its body is not clear")
    return int(lengths[0]) if lengths else 0


def _values(fields: list[tuple[str, str]], name: str) -> Iterator[str]:
    return (value for key, value in fields if key.lower() == name)
