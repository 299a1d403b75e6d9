"""Which tools there are, and who runs a call."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from lsp_agent.runtime.extensions import Extensions
from lsp_agent.runtime.providers.provider import ToolSpec
from lsp_agent.runtime.tools import files, outcome
from lsp_agent.runtime.tools.bash import Progress, Shell
from lsp_agent.runtime.tools.outcome import Outcome
from lsp_agent.wires import zot_tools
from lsp_agent.wires.zot_tools import ToolFailure

_STRING: Mapping[str, object] = {"type": "string"}
_INTEGER: Mapping[str, object] = {"type": "integer"}


def _spec(name: str, description: str, required: str, **properties: object) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return ToolSpec(name, description, schema)


BUILT_IN: Mapping[str, ToolSpec] = {
    spec.name: spec
    for spec in (
        _spec(
            "bash",
            "Run a command in /bin/sh. timeout is in seconds; without one it runs until it ends,"
            " and it has nothing to read from stdin. Whatever it leaves running in the background"
            " is ended with it. Of a long output you see the beginning and the end.",
            "command",
            command=_STRING,
            timeout=_INTEGER,
        ),
        _spec(
            "edit",
            "Replace texts in a file. Each oldText must occur exactly once in the file as it is"
            " before the call.",
            "path edits",
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
        _spec(
            "read",
            "Read a file, from line offset (the first is 1), at most limit lines; a long file is"
            " cut, and tells where to go on. PNG, JPEG, GIF and WebP images are shown.",
            "path",
            path=_STRING,
            offset=_INTEGER,
            limit=_INTEGER,
        ),
        _spec(
            "write",
            "Write a whole file; folders are made, an existing file is replaced.",
            "path content",
            path=_STRING,
            content=_STRING,
        ),
    )
}
_FILE_TOOLS: Mapping[str, Callable[[str, object], Outcome]] = {
    "read": files.read,
    "write": files.write,
    "edit": files.edit,
}


class Toolbox:
    """Built-in tools, but those that were left out, go before an extension's of the same name."""

    def __init__(
        self, cwd: str, only: frozenset[str] | None, extensions: Extensions, shell: Shell
    ) -> None:
        self._cwd = cwd
        self._extensions = extensions
        self._shell = shell
        #: The names of the built-in tools that it offers.
        self.own = frozenset(BUILT_IN) if only is None else only & frozenset(BUILT_IN)

    def specs(self) -> Sequence[ToolSpec]:
        """Sorted by name."""
        offered = self._extensions.tools() | {name: BUILT_IN[name] for name in self.own}
        return [offered[name] for name in sorted(offered)]

    def knows(self, name: str) -> bool:
        return name in self.own or name in self._extensions.tools()

    async def run(self, name: str, args: object, progress: Progress) -> Outcome:
        """When cancelled, a built-in tool still answers with what it did."""
        try:
            if name not in self.own:
                return await self._extensions.call(name, args)
            if name == "bash":
                return await self._shell.run(args, progress)
            return await _to_its_end(_FILE_TOOLS[name], self._cwd, args)
        except ToolFailure as failed:
            return outcome.failure(failed.text)


async def _to_its_end(tool: Callable[[str, object], Outcome], cwd: str, args: object) -> Outcome:
    """A file that is being written cannot be called back: a cancel waits for the result."""
    job = asyncio.create_task(asyncio.to_thread(tool, cwd, args))
    try:
        return await asyncio.shield(job)
    except asyncio.CancelledError:
        return await job


def unknown(name: str) -> Outcome:
    return outcome.failure(zot_tools.unknown_tool(name))
