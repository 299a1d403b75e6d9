"""A second opinion on the double of ``rkat-rpc``: Meerkat's own client for Python takes what it
says. That client knows today's wire alone, and refuses a server of another 0.x."""

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import meerkat
import pytest
from meerkat.events import TextDelta, ToolResultReceived, TurnCompleted, UnknownEvent

DOUBLE = Path(__file__).parents[2] / "support" / "doubles" / "rkat_rpc.py"

Connect = Callable[..., AbstractAsyncContextManager[meerkat.MeerkatClient]]


@pytest.fixture
def connect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connect:
    """``connect(*runs)``: the client, which has a tool ``echo``, over a double."""
    monkeypatch.delenv("MEERKAT_BIN_PATH", raising=False)

    @asynccontextmanager
    async def connected(
        *runs: dict[str, Any], wire: str = "0.9.8"
    ) -> AsyncIterator[meerkat.MeerkatClient]:
        script = tmp_path / "runs.json"
        script.write_text(json.dumps({"runs": runs}), encoding="utf-8")
        program = tmp_path / "rkat-rpc"
        line = f'exec "{sys.executable}" "{DOUBLE}" --wire {wire} --script "{script}" "$@"\n'
        program.write_text(f"#!/bin/sh\n{line}")
        program.chmod(0o755)
        client = meerkat.MeerkatClient(str(program))

        @client.tool("echo", description="Says it again", input_schema={"type": "object"})
        async def echo(arguments: dict[str, Any]) -> str:
            return f"again: {arguments['text']}"

        try:
            yield await client.connect(realm_id="lsp-agent", state_root=str(tmp_path / "state"))
        finally:
            await client.close()

    return connected


@pytest.mark.asyncio
async def test_a_session_is_created_and_goes_on(connect: Connect) -> None:
    runs = [{"steps": [{"text": f"Answer {number}."}]} for number in (1, 2)]
    async with connect(*runs) as client:
        session = await client.create_session("Hello.")
        assert session.text == "Answer 1."
        result = await session.turn("More.", model="gpt-double", provider="openai")
        assert (result.text, result.usage.input_tokens) == ("Answer 2.", 200)
        history = await session.history()
        assert [message.role for message in history.messages] == [
            "user",
            "block_assistant",
            "user",
            "block_assistant",
        ]


@pytest.mark.asyncio
async def test_every_event_of_a_turn_with_a_tool_is_one_that_it_knows(connect: Connect) -> None:
    call = {"name": "echo", "args": {"text": "hi"}}
    step = {"text": "Hello there.", "thinking": "Well.", "calls": [call]}
    async with connect({"steps": [step, {"text": "Done."}]}) as client:
        deferred = await client.create_deferred_session([])
        assert deferred.id
        async with client.create_session_streaming("Go.") as stream:
            events = [event async for event in stream]
        assert stream.result.text == "Done."
    # It has no class for some that it knows; one of a wrong form would be a "malformed_event".
    unknown = {event.type for event in events if isinstance(event, UnknownEvent)}
    assert unknown == {"reasoning_delta", "reasoning_complete"}
    said = [event.delta for event in events if isinstance(event, TextDelta)]
    assert "".join(said) == "Hello there.Done."
    assert len([event for event in events if isinstance(event, TurnCompleted)]) == 2
    (result,) = [event for event in events if isinstance(event, ToolResultReceived)]
    assert "again: hi" in str(result.content)


@pytest.mark.asyncio
async def test_errors_lists_and_the_configuration_have_their_form(connect: Connect) -> None:
    refused = {"refused": {"code": -32010, "message": "no key"}}
    async with connect(refused) as client:
        with pytest.raises(meerkat.MeerkatError, match="no key"):
            await client.create_session("Hello.")
        (session,) = await client.list_sessions()
        details = await client.read_session(session.session_id)
        assert (details.model, details.is_active) == ("claude-double", False)


@pytest.mark.asyncio
async def test_a_server_of_0_8_is_refused_as_the_real_one_is(connect: Connect) -> None:
    with pytest.raises(meerkat.MeerkatError, match="incompatible"):
        async with connect(wire="0.8.26"):
            pass
