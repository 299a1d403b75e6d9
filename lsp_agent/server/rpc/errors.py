"""The one place where exceptions become JSON-RPC errors.

BadParams, pydantic's validation errors   -32602, the field named
RequestFailed                             -32803, ``data.kind`` says why
anything else                             -32603, logged, without a traceback
"""

import logging
from collections.abc import Sequence
from typing import Any

from lsp_agent.protocol.errors import BadParams, LspAgentError, RequestFailed, causes

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_CANCELLED = -32800
REQUEST_FAILED = -32803

log = logging.getLogger(__name__)


class ClientRefused(RequestFailed):
    """The client answered one of our requests with an error. ``code`` is the client's own.

    Where nobody handles it, the request that it was needed for has failed; the client's code
    must not travel back as if it were ours.
    """

    def __init__(self, method: str, code: int, message: str) -> None:
        super().__init__(
            "editorFailed",
            f"The editor refused {method}: {message}",
            {"method": method, "code": code},
        )
        self.code = code


def wire_error(code: int, message: str, data: object = None) -> dict[str, Any]:
    """The ``error`` member of an answer."""
    error: dict[str, Any] = {"code": code, "message": message}
    return error if data is None else error | {"data": data}


def rpc_error(exc: Exception) -> dict[str, Any]:
    """The ``error`` member that tells the client of ``exc``."""
    match exc:
        case BadParams():
            return wire_error(INVALID_PARAMS, str(exc), {"field": exc.field})
        case RequestFailed():
            return wire_error(REQUEST_FAILED, str(exc), {**exc.data, "kind": exc.kind})
        case ExceptionGroup():
            return _of_group(exc)
        case _ if field := _invalid_field(exc):
            return _bad_field(*field)
        case _:
            return _internal_error(exc)


def _of_group(group: Exception) -> dict[str, Any]:
    """The error of its only cause; of several the first one's, with the words of all."""
    found = list(causes(group))
    match found:
        case [Exception() as only]:
            return rpc_error(only)
        case [LspAgentError() as first, *others] if _are_told(others):
            return rpc_error(first) | {"message": " ".join(dict.fromkeys(map(str, found)))}
        case _:
            return _internal_error(group)


def _are_told(errors: Sequence[BaseException]) -> bool:
    return all(isinstance(one, LspAgentError) for one in errors)


def _internal_error(exc: Exception) -> dict[str, Any]:
    """The log has what it was; the client hears no more than its kind."""
    log.error("a request failed", exc_info=exc)
    kinds = ", ".join(dict.fromkeys(type(one).__name__ for one in causes(exc)))
    return wire_error(INTERNAL_ERROR, f"Internal error: {kinds}; see the log.")


def _invalid_field(exc: Exception) -> tuple[str, str] | None:
    """The field and the message of a validation error of pydantic's."""
    from pydantic import ValidationError  # noqa: PLC0415 - not before it is needed (startup.py)

    if not isinstance(exc, ValidationError):
        return None
    first = exc.errors(include_url=False, include_context=False, include_input=False)[0]
    return ".".join(map(str, first["loc"])), first["msg"]


def _bad_field(field: str, message: str) -> dict[str, Any]:
    return wire_error(INVALID_PARAMS, f"{field}: {message}" if field else message, {"field": field})
