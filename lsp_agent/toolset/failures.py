"""What an agent says of a failed request to its model, in words that a person can act on.

Agents hand on the service's answer as it came: a status, and JSON in one of many forms. What the
services say, and what helps, is the same for the embedded agent, which asks them itself.
"""

import json
import re
from collections.abc import Mapping

from lsp_agent.toolset.loose_json import Frame, frame, integer, string

_STATUS = re.compile(r"^(?:(?:http|status|error)[ :]*)?([45]\d\d)\b[ :,-]*", re.IGNORECASE)
#: By the name of an error, in its type or its code: in a stream there is no other status.
STATUS_OF: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "server_error": 500,
    "overloaded_error": 529,
}
NO_CREDIT = re.compile(r"insufficient_quota|credit balance|billing", re.IGNORECASE)
#: What services say of a wrong key; some agents hand on nothing else.
_WRONG_KEY = re.compile(
    r"(invalid|incorrect|wrong|missing|expired|no) (x-)?api[ _-]?key|unauthori[sz]ed",
    re.IGNORECASE,
)

_CHECK_KEY = "the key was refused: check it in the agent's own settings, or its `env` in yours"
ADD_CREDIT = "the account has no credit left: add some with the provider, or use another key"
CHECK_RIGHTS = "this key may not do that: check its rights, or choose another model"
LATER = "try again in a while"
_REMEDIES: Mapping[int, str] = {
    401: _CHECK_KEY,
    402: ADD_CREDIT,
    403: CHECK_RIGHTS,
    404: "choose another model, or correct the service's address in the agent's settings",
    429: f"too many requests: {LATER}",
}


def plain(message: str) -> str:
    """``message`` with the service's own words in place of its JSON."""
    return _read(message)[1]


def readable(message: str) -> str:
    """As ``plain``, with the remedy where it is known."""
    status, told = _read(message)
    if NO_CREDIT.search(message):
        remedy = ADD_CREDIT
    elif status >= 500:
        remedy = LATER
    elif not status and _WRONG_KEY.search(told):
        remedy = _CHECK_KEY
    else:
        remedy = _REMEDIES.get(status, "")
    return f"{told.rstrip('.')}; {remedy}" if remedy else told


def _read(message: str) -> tuple[int, str]:
    """The status, 0 where it is not told, and the words."""
    before, found = message, ""
    status = 0
    start = message.find("{")
    if start >= 0:
        answer = _decoded(message[start:])
        status, found = _fields(answer)
        if found:
            before = message[:start].rstrip(" :")
    if stated := _STATUS.match(before):
        status, before = int(stated[1]), before[stated.end() :]
    words = ": ".join(part for part in (before, found) if part)
    if not status:
        return 0, words
    return status, f"http {status}: {words}" if words else f"http {status}"


def _fields(answer: Frame) -> tuple[int, str]:
    """Status and message of a service's answer; of some the message is such an answer again."""
    error = frame(answer.get("error")) or answer
    told = string(error, "message") or string(answer, "error")
    names = (string(error, "type"), string(error, "code"))
    status = next((STATUS_OF[name] for name in names if name in STATUS_OF), 0)
    code = integer(error, "code") or integer(error, "status") or 0
    if not status and 400 <= code < 600:
        status = code
    if told.lstrip().startswith("{"):
        inner, words = _fields(_decoded(told.lstrip()))
        return (inner or status, words) if words else (status, told)
    return status, told


def _decoded(text: str) -> Frame:
    """The JSON object that ``text`` begins with; an empty one if there is none."""
    try:
        return frame(json.JSONDecoder().raw_decode(text)[0])
    except (ValueError, RecursionError):
        return {}
