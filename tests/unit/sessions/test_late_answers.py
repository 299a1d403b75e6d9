"""A call's question that outlives the call."""

from typing import Any

import orjson
import pytest

from lsp_agent.sessions.permissions.late_answers import LateAnswers
from lsp_agent.toolset.calls import ToolRequest


@pytest.mark.asyncio
async def test_a_call_nested_without_end_is_not_asked_about_and_has_no_consent() -> None:
    async def ask(_request: ToolRequest) -> str | None:
        raise AssertionError

    services: Any = None
    deep = orjson.loads(b"[" * 1020 + b"]" * 1020)
    request = ToolRequest("bash", {"command": deep}, None)
    assert await LateAnswers(services, ask).wait("t", request) is None
