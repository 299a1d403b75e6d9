"""Slash commands on the zot wire: two commands of our own, which zot itself does not know."""

import pytest

from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.wires.wire import GetCommands, Reply, RunCommand
from lsp_agent.wires.zot.wire import ZotWire, with_extensions

REFUSED = {"type": "response", "success": False, "error": "unknown command"}


def reply(wire: ZotWire, command: GetCommands | RunCommand, data: object) -> Reply:
    wire.encode("1", command)
    frame = {"type": "response", "id": "1", "success": True, "data": data}
    [decoded] = wire.decode([frame])
    assert isinstance(decoded, Reply)
    return decoded


def test_commands_are_asked_for_and_run() -> None:
    wire = ZotWire()
    assert wire.encode("1", GetCommands()) == {"id": "1", "type": "get_commands"}
    expected = {"id": "2", "type": "run_command", "name": "a", "args": "b c"}
    assert wire.encode("2", RunCommand("a", "b c")) == expected


def test_what_is_offered_is_in_canonical_form() -> None:
    offered = {"commands": [{"name": "a", "description": "b"}, {"name": "c"}, 1]}
    commands = [{"name": "a", "description": "b"}, {"name": "c"}]
    assert reply(ZotWire(), GetCommands(), offered).data == {"commands": commands}


@pytest.mark.parametrize(
    ("action", "canonical"),
    [("prompt", "prompt"), ("noop", "noop"), ("panel", "noop"), (1, "noop")],
)
def test_what_is_to_be_done_is_one_of_four_actions(action: object, canonical: str) -> None:
    data = reply(ZotWire(), RunCommand("a", ""), {"action": action, "text": "t"}).data
    assert data == {"action": canonical, "text": "t"}


def test_an_agent_that_knows_no_commands_has_none() -> None:
    wire = ZotWire()
    wire.encode("1", GetCommands())
    assert wire.capabilities["commands"]
    wire.decode([{**REFUSED, "id": "1"}])
    assert not wire.capabilities["commands"]


def test_the_persons_extensions_come_behind_ours() -> None:
    agent = AgentSettings(wire="zot", command=["zot", "rpc"])
    launch = with_extensions(ZotWire().launch(agent, "/w", "/bridge"), ["/one", "/two"])
    argv = launch.argv
    named = [argv[index + 1] for index, word in enumerate(argv) if word == "--ext"]
    assert named == ["/bridge", "/one", "/two"]
    assert "--no-ext" in argv
