"""One translation an agent wire: frames to canonical events, commands to frames; pure."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsp_agent.protocol.settings.settings import WireName
    from lsp_agent.wires.wire import Wire

# By name, so that a server imports the wire that it uses and no other.
_WIRES: "dict[WireName, tuple[str, str]]" = {
    "zot": ("lsp_agent.wires.zot.wire", "ZotWire"),
    "pi": ("lsp_agent.wires.pi.wire", "PiWire"),
    "meerkat": ("lsp_agent.wires.meerkat.wire", "MeerkatWire"),
    "codex": ("lsp_agent.wires.codex.wire", "CodexWire"),
    "acp": ("lsp_agent.wires.acp.wire", "AcpWire"),
}


def new_wire(name: "WireName") -> "Wire":
    """A wire for one process."""
    module, wire = _WIRES[name]
    return getattr(import_module(module), wire)()
