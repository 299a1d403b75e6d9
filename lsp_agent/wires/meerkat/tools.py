"""The tools that Meerkat's model gets in place of Meerkat's own, and what it is told of them."""

from collections.abc import Mapping, Sequence

from lsp_agent.protocol.events import ToolKind
from lsp_agent.toolset.schemas import BASH, FILE_TOOLS

#: Meerkat gives up on a tool of ours after 120 s, in seconds; we answer before that.
ANSWER_SECONDS = 110.0

_TIME = f" No command may run longer than {ANSWER_SECONDS:.0f} seconds."
TOOLS: Sequence[Mapping[str, object]] = tuple(
    {"name": tool.name, "description": tool.description + more, "input_schema": tool.parameters}
    for tool, more in (*((tool, "") for tool in FILE_TOOLS), (BASH, _TIME))
)
NAMES: Sequence[str] = tuple(str(tool["name"]) for tool in TOOLS)

#: Meerkat's own tools by which a model finds and loads others: nothing that a person asked for.
_CATALOGUE = "tool_catalog_"

#: Ours, and those of Meerkat's own that reach the disk where a build has them on all the same.
_KINDS: Mapping[str, ToolKind] = {
    "read": "read",
    "write": "edit",
    "edit": "edit",
    "bash": "command",
    "apply_patch": "edit",
    "shell": "command",
}


def instructions(cwd: str) -> list[str]:
    """What the model is told beyond Meerkat's own prompt. Meerkat shows tools of a client only
    once they were loaded by name from its catalogue."""
    names = ", ".join(f'"{name}"' for name in NAMES)
    return [
        f"You work on the project in the folder {cwd}. Relative paths mean files below it, and"
        " commands run there. If it has an AGENTS.md, read that first.",
        f"Your tools for it are {', '.join(NAMES)}. Where you do not see them, call"
        f" tool_catalog_load with names [{names}] before anything else.",
    ]


def is_catalogue(tool: str) -> bool:
    return tool.startswith(_CATALOGUE)


def tool_kind(tool: str) -> ToolKind:
    return _KINDS.get(tool, "other")


def paths(args: object) -> tuple[str, ...]:
    """The path that a tool was given, as given."""
    path = args.get("path") if isinstance(args, dict) else None  # pyright: ignore
    return (path,) if isinstance(path, str) else ()
