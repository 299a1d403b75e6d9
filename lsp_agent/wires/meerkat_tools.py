"""The tools that Meerkat's model gets in place of Meerkat's own, and what it is told of them."""

from collections.abc import Mapping, Sequence

from lsp_agent.protocol.events import ToolKind

#: Meerkat gives up on a tool of ours after 120 s, in seconds; we answer before that.
ANSWER_SECONDS = 110.0

_STRING: Mapping[str, object] = {"type": "string"}
_INTEGER: Mapping[str, object] = {"type": "integer"}


def _tool(
    name: str, description: str, required: Sequence[str], **properties: object
) -> Mapping[str, object]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "input_schema": schema}


TOOLS: Sequence[Mapping[str, object]] = (
    _tool(
        "read",
        "Read a file, from line offset (the first is 1), at most limit lines; a long file is cut,"
        " and tells where to go on.",
        ["path"],
        path=_STRING,
        offset=_INTEGER,
        limit=_INTEGER,
    ),
    _tool(
        "write",
        "Write a whole file; folders are made, an existing file is replaced.",
        ["path", "content"],
        path=_STRING,
        content=_STRING,
    ),
    _tool(
        "edit",
        "Replace texts in a file. Each oldText must occur exactly once in the file as it is"
        " before the call.",
        ["path", "edits"],
        path=_STRING,
        edits={
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"oldText": _STRING, "newText": _STRING},
                "required": ["oldText", "newText"],
            },
        },
    ),
    _tool(
        "bash",
        "Run a command in /bin/sh. timeout is in seconds; it has nothing to read from stdin."
        " Whatever it leaves running in the background is ended with it. No command may run longer"
        " than"
        f" {ANSWER_SECONDS:.0f} seconds.",
        ["command"],
        command=_STRING,
        timeout=_INTEGER,
    ),
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
