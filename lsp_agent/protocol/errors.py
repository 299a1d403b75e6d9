"""Errors that a client may see, each with the remedy in its message.

    LspAgentError
     ├── BadParams       a request's params are wrong: names the field   -> JSON-RPC -32602
     ├── RequestFailed   it cannot be done now: ``kind`` says why        -> JSON-RPC -32803
     └── UsageError      wrong command line or settings                  -> exit code 2

The server's one exception boundary (``server/rpc/errors.py``) turns them into wire errors.
"""

from collections.abc import Iterator, Mapping
from typing import Literal, cast

ErrorKind = Literal[
    "agentNotFound",
    "agentExited",
    "agentTimeout",
    "busy",
    "unsupported",
    "noFolder",
    "notConfigured",
    "unknownSession",
    "unknownTurn",
    "unknownModel",
    "unknownEdit",
    "outsideWorkspace",
    "conflict",
    "editorFailed",
]


class LspAgentError(Exception):
    """The base of all errors with a message for a person."""


class BadParams(LspAgentError):
    """A request's params are wrong; ``field`` is the dotted path of the offending one."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


class RequestFailed(LspAgentError):
    """A request that cannot be fulfilled now. ``data`` is sent beside ``kind``."""

    def __init__(
        self, kind: ErrorKind, message: str, data: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.data: Mapping[str, object] = data or {}


class UsageError(LspAgentError):
    """Wrong use of the command line; printed as one line, exit code 2."""


def causes(error: BaseException) -> Iterator[BaseException]:
    """``error`` itself, or what a task group has wrapped: the group's own words say nothing."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for member in cast(BaseExceptionGroup[BaseException], error).exceptions:
        yield from causes(member)
