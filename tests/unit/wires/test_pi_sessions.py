"""What a list tells of pi's session files."""

import json
from typing import Any

import pytest

from lsp_agent.wires.pi.session_files import summary
from lsp_agent.wires.pi.wire import PiWire
from lsp_agent.wires.wire import ListSessions, Reply

HEADER = {"type": "session", "version": 3, "id": "x", "cwd": "/shop"}


def lines(*entries: Any) -> list[bytes]:
    return [json.dumps(entry).encode() for entry in (HEADER, *entries)]


def message(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content}}


@pytest.mark.parametrize(
    "content", ["\n First.\nMore.", [{"type": "image"}, {"type": "text", "text": "First."}]]
)
def test_its_title_is_the_first_line_of_what_was_asked_first(content: Any) -> None:
    said = [message("system", "Be good."), message("user", content), message("user", "Second.")]
    assert summary(lines(*said)) == {"cwd": "/shop", "title": "First."}


def test_its_name_stands_above_what_was_asked() -> None:
    named = {"type": "session_info", "name": "Named"}
    assert summary(lines(message("user", "First."), named))["title"] == "Named"


def test_one_without_words_has_no_title() -> None:
    assert summary(lines()) == {"cwd": "/shop"}


@pytest.mark.parametrize("line", [b"", b"[1", b"[]", b"\xff", b"[" * 100_000, b'{"type": 7}'])
def test_a_line_that_is_none_of_pis_is_passed_over(line: bytes) -> None:
    assert summary([line, *lines(), line])["cwd"] == "/shop"
    assert summary([line]) == {}


def test_they_lie_beside_that_of_the_running_session() -> None:
    wire = PiWire()
    request = wire.encode("r1", ListSessions())
    answer = {"type": "response", "id": "r1", "command": "get_state", "success": True}
    state = {"sessionFile": "/home/.pi/agent/sessions/--shop--/1_x.jsonl"}
    assert request == {"id": "r1", "type": "get_state"}
    (reply,) = wire.decode([answer | {"data": state}])
    assert reply == Reply("r1", {"folder": "/home/.pi/agent/sessions/--shop--"})
    wire.encode("r2", ListSessions())
    assert wire.decode([answer | {"id": "r2", "data": {}}]) == [Reply("r2", {})]
