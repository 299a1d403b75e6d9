"""JSON-RPC's frames and waiting requests, for the wires that speak it."""

import pytest

from lsp_agent.wires.jsonrpc import BARE, VERSIONED, Requests, kind_of


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"id": 1, "method": "a"}, "request"),
        ({"id": None, "method": "a"}, "request"),
        ({"method": "a"}, "notification"),
        ({"id": 1, "result": {}}, "response"),
        ({"id": 1, "error": {}}, "response"),
        ({"id": 1}, "response"),
        ({"id": 1, "method": 5}, "neither"),
        ({}, "neither"),
    ],
)
def test_a_frame_is_told_by_its_fields(told: dict[str, object], kind: str) -> None:
    assert kind_of(told) == kind


def test_a_response_is_told_by_the_id_of_its_request_and_only_once() -> None:
    requests = Requests[str](VERSIONED)
    first, second = requests.send("one", "a", {}), requests.send("two", "b", {"c": 1})
    assert second == {"jsonrpc": "2.0", "id": second["id"], "method": "b", "params": {"c": 1}}
    assert requests.answered({"id": second["id"], "result": {}}) == "two"
    assert requests.answered({"id": second["id"], "result": {}}) is None
    assert requests.answered({"id": first["id"], "error": {}}) == "one"


@pytest.mark.parametrize("rpc_id", [True, "1", None, 1.0, [1]])
def test_an_id_that_is_not_ours_is_of_no_request(rpc_id: object) -> None:
    requests = Requests[str](VERSIONED)
    assert requests.send("one", "a", {})["id"] == 1
    assert requests.answered({"id": rpc_id, "result": {}}) is None


def test_a_request_that_was_forgotten_has_no_response() -> None:
    requests = Requests[str](VERSIONED)
    sent = requests.send("one", "a", {})
    requests.forget()
    assert requests.answered({"id": sent["id"], "result": {}}) is None


def test_an_agent_that_says_no_version_is_told_none() -> None:
    assert BARE.notification("a") == {"method": "a"}
    assert BARE.result("x", {}) == {"id": "x", "result": {}}
    assert BARE.unknown("x", "a")["error"] == {"code": -32601, "message": "Method not found: a"}
