"""The events of a stream as plain mappings.

The SDKs make typed objects without looking whether the types are right, and servers that speak
"the same" protocol leave out fields or add some. So they are read as what they are: JSON.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, cast

import orjson

from lsp_agent.runtime import json_text
from lsp_agent.runtime.providers.failures import Asked, Failed, failure

Frame = Mapping[str, object]


async def event_frames(
    create: Callable[..., Awaitable[Any]],
    sdk_error: type[Exception],
    body: Mapping[str, object],
    asked: Asked,
) -> AsyncGenerator[Frame]:
    """Makes the request by an SDK's ``create`` and streams its events. Raises Failed."""
    import httpx2  # noqa: PLC0415  both SDKs' HTTP client, imported by them

    # What is beside an SDK's own errors is let out by its stream.
    errors = (sdk_error, httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError)
    try:
        async with await create(**body, stream=True) as stream:
            kind = stream.response.headers.get("content-type", "")
            if "text/event-stream" not in kind:
                raise Failed(
                    f"{asked.origin} answered with {kind or 'something'}, not with a stream of"
                    " events",
                    "correct the base URL",
                )
            async for event in stream:
                yield _frame(event)
    except errors as error:
        raise failure(error, asked) from None


def _frame(event: Any) -> Frame:
    """Nothing where it is JSON, but no object. What could not be told on, as halves of surrogate
    pairs, is replaced."""
    frame: Frame = event.to_dict(warnings=False) if hasattr(event, "to_dict") else {}
    try:
        orjson.dumps(frame)
    except TypeError:
        return cast(Frame, json_text.loads(json.dumps(frame).encode()))
    return frame


def part(frame: Frame, name: str) -> Frame:
    value = frame.get(name)
    return cast(Frame, value) if isinstance(value, dict) else {}


def string(frame: Frame, name: str) -> str:
    value = frame.get(name)
    return value if isinstance(value, str) else ""


def number(frame: Frame, name: str) -> int:
    value = frame.get(name)
    return value if isinstance(value, int) else 0
