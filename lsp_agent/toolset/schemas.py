"""The tools as a model is told of them: one table of names, descriptions and JSON schemas.

Who runs a tool may add to its description what holds there alone: images that are shown, how long a
command may take.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_STRING: Mapping[str, object] = {"type": "string"}
_INTEGER: Mapping[str, object] = {"type": "integer"}
_BOOLEAN: Mapping[str, object] = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """``parameters`` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, object]


def _tool(name: str, description: str, required: Sequence[str], **properties: object) -> ToolSchema:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSchema(name, description, schema)


READ = _tool(
    "read",
    "Read a file, from line offset (the first is 1), at most limit lines; a long file is cut, and"
    " tells where to go on.",
    ["path"],
    path=_STRING,
    offset=_INTEGER,
    limit=_INTEGER,
)
WRITE = _tool(
    "write",
    "Write a whole file; folders are made, an existing file is replaced.",
    ["path", "content"],
    path=_STRING,
    content=_STRING,
)
EDIT = _tool(
    "edit",
    "Replace texts in a file. Each oldText must occur exactly once in the file as it is before the"
    " call.",
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
)
BASH = _tool(
    "bash",
    "Run a command in /bin/sh. timeout is in seconds; it has nothing to read from stdin. Whatever"
    " it leaves running in the background is ended with it.",
    ["command"],
    command=_STRING,
    timeout=_INTEGER,
)
#: What the embedded agent has beside it.
BACKGROUND_BASH = _tool(
    "bash",
    f"{BASH.description} With background it goes on while you work, without a timeout: for a"
    " server, a watch. You are told its id at once, and of its end.",
    ["command"],
    command=_STRING,
    timeout=_INTEGER,
    background=_BOOLEAN,
)
BASH_OUTPUT = _tool(
    "bash_output",
    "What a background command has said since you asked last, and whether it still runs.",
    ["id"],
    id=_STRING,
)
BASH_KILL = _tool("bash_kill", "End a background command.", ["id"], id=_STRING)

#: Those that work on files; a command is held in another way.
FILE_TOOLS: Sequence[ToolSchema] = (READ, WRITE, EDIT)
