"""What an agent can be set to, as each wire asks for it and sets it."""

from typing import Any

from lsp_agent.protocol.events import OptionChanged
from lsp_agent.wires.pi.wire import PiWire
from lsp_agent.wires.wire import GetOptions, Reply, Send, SetOption
from lsp_agent.wires.zot.wire import ZotWire

LEVELS = [{"value": "off", "name": "Off"}, {"value": "high", "name": "High"}]


def option(value: str) -> dict[str, Any]:
    return {"id": "thinkingLevel", "name": "Thinking level", "value": value, "values": LEVELS}


def answered(wire: PiWire, request: Any, **data: object) -> Any:
    """What pi's answer to a request is followed by."""
    kind, response_id = request["type"], request["id"]
    frame = {"type": "response", "id": response_id, "command": kind, "success": True, "data": data}
    (decoded,) = wire.decode([frame])
    return decoded.frame if isinstance(decoded, Send) else decoded


def test_pis_thinking_level_is_an_option_whose_values_are_those_of_the_model() -> None:
    wire = PiWire()
    levels = wire.encode("r1", GetOptions())
    assert levels["type"] == "get_available_thinking_levels"
    state = answered(wire, levels, levels=["off", "high"])
    assert state["type"] == "get_state"
    reply = answered(wire, state, thinkingLevel="high")
    assert reply == Reply("r1", {"options": [option("high")]})


def test_a_pi_model_that_cannot_think_has_no_option() -> None:
    wire = PiWire()
    state = answered(wire, wire.encode("r1", GetOptions()), levels=["off"])
    assert answered(wire, state, thinkingLevel="off") == Reply("r1", {"options": []})


def test_pis_level_is_set_and_then_asked_for() -> None:
    wire = PiWire()
    request = wire.encode("r1", SetOption("thinkingLevel", "off"))
    assert (request["type"], request["level"]) == ("set_thinking_level", "off")
    state = answered(wire, answered(wire, request), levels=["off", "high"])
    assert answered(wire, state, thinkingLevel="off") == Reply("r1", {"options": [option("off")]})


def test_a_pi_that_does_not_know_of_levels_has_no_options() -> None:
    wire = PiWire()
    request = wire.encode("r1", GetOptions())
    error = "Unknown command: get_available_thinking_levels"
    wire.decode([{"type": "response", "id": request["id"], "success": False, "error": error}])
    assert not wire.capabilities["options"]


def test_a_level_that_pi_changes_is_told() -> None:
    changed = PiWire().decode([{"type": "thinking_level_changed", "level": "high"}])
    assert changed == [OptionChanged("thinkingLevel", "high")]


def test_the_embedded_agents_options_come_as_they_are() -> None:
    wire = ZotWire()
    request = wire.encode("r1", SetOption("thinkingLevel", "off"))
    assert request == {"id": "r1", "type": "set_option", "option": "thinkingLevel", "value": "off"}
    data = {"options": [option("off")]}
    response = {"type": "response", "id": "r1", "success": True, "data": data}
    assert wire.decode([response]) == [Reply("r1", data)]


def test_zot_knows_of_no_options() -> None:
    wire = ZotWire()
    wire.encode("r1", GetOptions())
    wire.decode([{"type": "response", "id": "r1", "success": False, "error": "unknown command"}])
    assert not wire.capabilities["options"]
