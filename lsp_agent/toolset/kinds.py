"""What a call of a hosted tool is: its kind, and the paths that it names."""

from collections.abc import Mapping

from lsp_agent.protocol.events import ToolKind
from lsp_agent.toolset.loose_json import frame

#: The hosted tools, called alike on every wire.
_KINDS: Mapping[str, ToolKind] = {
    "read": "read",
    "write": "edit",
    "edit": "edit",
    "bash": "command",
}

#: Beside ``bash``, of an agent that has background commands: they ask and end what was allowed.
OF_BACKGROUND = frozenset({"bash_output", "bash_kill"})


def tool_kind(tool: str) -> ToolKind:
    return _KINDS.get(tool, "other")


def paths(args: object) -> tuple[str, ...]:
    """The path that a tool was given, as given. Go takes the key in any case."""
    values = (value for key, value in frame(args).items() if key.lower() == "path")
    return tuple(value for value in values if isinstance(value, str))
