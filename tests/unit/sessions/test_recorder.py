"""What is chosen of a session's events to be stored."""

from typing import Any, cast

import pytest
from fake_agent import stage

from lsp_agent.protocol.events import ToolCall, ToolResult
from lsp_agent.protocol.messages import text
from lsp_agent.sessions.recorder import Recorder


class Lines:
    """Stands for the session's entry in the store."""

    def __init__(self) -> None:
        self.blocks: list[Any] = []

    def append(self, line: dict[str, Any]) -> None:
        self.blocks += line.get("message", {}).get("content", [])


@pytest.mark.asyncio
async def test_a_second_call_of_an_id_in_a_turn_is_stored_with_its_result() -> None:
    async with stage() as made:
        lines = Lines()
        Recorder(made.session, cast(Any, lines))
        for command in ("ls", "pwd"):
            made.session.emit(ToolCall("c", "bash", "command", {"command": command}, ()), "t")
            made.session.emit(ToolResult("c", is_error=False, content=[text(command)]), "t")
    calls = [block["args"]["command"] for block in lines.blocks if block["type"] == "toolCall"]
    assert calls == ["ls", "pwd"]
    assert [block["type"] for block in lines.blocks] == ["toolCall", "toolResult"] * 2
