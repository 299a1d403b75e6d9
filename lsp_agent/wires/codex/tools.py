"""The tools that Codex's model gets from us, and which of Codex's own are off.

Codex's sandbox holds a command that was approved too (tried with 0.169): one that is to write a
file would fail. So commands are run by us, as files are read and written by us. ``apply_patch`` has
no switch: it asks first, and is declined.
"""

from collections.abc import Mapping, Sequence

from lsp_agent.toolset.schemas import BASH, EDIT, FILE_TOOLS

_NO_PATCH = " Use this and write in place of apply_patch, which is declined."

#: Codex calls tools of its client's "dynamic"; it waits for them as long as they take.
TOOLS: Sequence[Mapping[str, object]] = tuple(
    {
        "type": "function",
        "name": tool.name,
        "description": tool.description + (_NO_PATCH if tool is EDIT else ""),
        "inputSchema": tool.parameters,
    }
    for tool in (*FILE_TOOLS, BASH)
)
NAMES: Sequence[str] = tuple(str(tool["name"]) for tool in TOOLS)

#: Codex's own tools that reach files or run programs, and those that work in threads beside ours,
#: which have none of our tools.
OFF: Mapping[str, bool] = {
    "features.shell_tool": False,
    "features.unified_exec": False,
    "features.view_image": False,
    "features.multi_agent": False,
    "features.multi_agent_v2": False,
    "features.goals": False,
    "features.browser_use": False,
    "features.computer_use": False,
}

DECLINED = (
    "apply_patch is declined: it would write past the editor, over what is not saved there. Make"
    " this change with the tools edit and write."
)
