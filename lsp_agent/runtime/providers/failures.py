"""What goes wrong with a model's service, as one kind of failure with words for a person."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from lsp_agent.runtime import json_text
from lsp_agent.toolset.failures import ADD_CREDIT, CHECK_RIGHTS, LATER, NO_CREDIT, STATUS_OF

#: The longest ``retry-after`` that is waited for.
LONGEST_WAIT = 60.0
_RETRIED = frozenset({408, 409, 429})
_TOO_LONG = re.compile(
    r"prompt is too long|input is too long|too many tokens|"
    r"context[ _](length|window|size|limit)|maximum context|model token limit|"
    r"exceeds? the maximum number of tokens|prompt exceeds max length|maximum prompt length",
    re.IGNORECASE,
)
#: Beside tools a model may only be told not to think; a level that it does not have is another
#: matter, even if "none" is among those that it has.
_NO_THOUGHTS_BESIDE_TOOLS = re.compile(
    r"(?!.*unsupported.value)(?=.*reasoning_effort)(?=.*\btools?\b).*\bnone\b", re.IGNORECASE
)
_EFFORT = re.compile(r"reasoning_effort|output_config\.effort")
_LONGEST_TEXT = 400


class Failed(Exception):
    """An answer that failed; ``told`` is what happened, the remedy is for when no other try is
    made. ``wait``: seconds after which the service wants to be asked again,
    None if it did not say; ``again``: whether another try may succeed; ``refuses_thoughts``: the
    model does not think while there are tools."""

    def __init__(
        self,
        told: str,
        remedy: str = "",
        *,
        again: bool = False,
        wait: float | None = None,
        too_long: bool = False,
        refuses_thoughts: bool = False,
    ) -> None:
        super().__init__(f"{told}; {remedy}" if told and remedy else told or remedy)
        self.told = told
        self.again = again
        self.wait = wait
        self.too_long = too_long
        self.refuses_thoughts = refuses_thoughts


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked, as far as a remedy depends on it. ``hint``: what may be wrong with the base
    URL, to be put behind its origin."""

    model: str
    origin: str
    key_source: str
    hint: str


def failure(error: Exception, asked: Asked) -> Failed:
    """Of an SDK's error, or of one that its HTTP client or JSON decoder raised."""
    response = getattr(error, "response", None)
    body = getattr(error, "body", None)
    if response is not None or body is not None:
        status = getattr(error, "status_code", 0)
        return _answered(status, body, getattr(response, "headers", {}), str(error), asked)
    if isinstance(error, ValueError):
        return Failed(
            f"{asked.origin} sent what is no event stream ({one_line(str(error))})",
            "check the base URL, or ask again",
            again=True,
        )
    cause = _root(error)
    if isinstance(cause, TimeoutError) or "Timeout" in type(error).__name__:
        return Failed(f"no answer from {asked.origin} in time", "ask again", again=True)
    return Failed(
        f"cannot talk to {asked.origin}: {one_line(str(cause)) or type(cause).__name__}",
        "check the network, and the base URL",
        again=True,
    )


def _answered(
    status: int, body: object, headers: Mapping[str, str], text: str, asked: Asked
) -> Failed:
    kind, code, message = _fields(body)
    if status < 300:  # it came inside of the stream
        status = STATUS_OF.get(kind, STATUS_OF.get(code, 0))
    told = one_line(message or (body if isinstance(body, str) else "") or text)
    everything = f"{kind} {code} {told}"
    wait = retry_after(headers)
    too_long = status == 413 or (
        status in (0, 400, 422, 500) and bool(_TOO_LONG.search(everything))
    )
    no_credit = status == 402 or bool(NO_CREDIT.search(everything))
    again = status in _RETRIED or status >= 500 or status == 0
    again = again and not too_long and not no_credit and headers.get("x-should-retry") != "false"
    remedy = ADD_CREDIT if no_credit else _remedy(status, headers, wait, asked)
    if status == 400 and _EFFORT.search(told):
        remedy = "choose another reasoning level; default is the service's own"
    if too_long:
        remedy = "compact or clear the conversation, or choose a model with more context"
    name = f"http {status}: " if status else ""
    return Failed(
        f"http {status}" if 300 <= status < 400 else name + told.rstrip("."),
        remedy,
        again=again and (wait is None or wait <= LONGEST_WAIT),
        wait=wait,
        too_long=too_long,
        refuses_thoughts=status == 400 and bool(_NO_THOUGHTS_BESIDE_TOOLS.match(told)),
    )


def _fields(body: object) -> tuple[str, str, str]:
    """An error's type, code and message, wherever in the body they are."""
    if isinstance(body, list) and body:  # Gemini sends a list of one
        return _fields(cast(list[object], body)[0])
    if not isinstance(body, dict):
        return "", "", ""
    fields = cast(dict[str, object], body)
    inner = fields.get("error")
    if isinstance(inner, dict):
        fields = cast(dict[str, object], inner)
    elif isinstance(inner, str):
        return "", "", inner
    return tuple(str(fields.get(name) or "") for name in ("type", "code", "message"))  # type: ignore[return-value]


def _remedy(status: int, headers: Mapping[str, str], wait: float | None, asked: Asked) -> str:
    if 300 <= status < 400:
        target = origin(headers.get("location", ""))
        return f"{asked.origin} sends to {target or 'somewhere else'}: correct the base URL"
    match status:
        case 401:
            return f"the key was refused: check {asked.key_source}"
        case 403:
            return CHECK_RIGHTS
        case 404:
            return (
                f"choose another model than {asked.model}, or correct the base URL"
                f" ({asked.origin}{asked.hint})"
            )
        case 429:
            return f"too many requests: {f'try again in {wait:.0f} s' if wait else LATER}"
        case 0:
            return ""
        case _:
            return LATER if status >= 500 else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from ``retry-after-ms`` or ``retry-after``, which may be a date."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        given = headers.get(name)
        if given is None:
            continue
        try:
            return max(0.0, float(given) / unit)
        except ValueError:
            return _until(given)
    return None


def _until(date: str) -> float | None:
    from datetime import UTC, datetime  # noqa: PLC0415  only for dates
    from email.utils import parsedate_to_datetime  # noqa: PLC0415

    try:
        return max(0.0, (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def origin(url: str) -> str:
    """Scheme, host and port; no user, no password, no path."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.hostname}{port}" if parts.hostname else ""


def one_line(text: str) -> str:
    line = " ".join(re.sub(r"<[^>]*>", " ", json_text.whole(text)).split())
    return line if len(line) <= _LONGEST_TEXT else f"{line[:_LONGEST_TEXT]}…"


def _root(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None and not isinstance(
        cause, asyncio.CancelledError
    ):
        error = cause
    return error
