"""Which tools there are, and who runs a call."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from lsp_agent.runtime.extensions import Extensions
from lsp_agent.runtime.providers.provider import ToolSpec
from lsp_agent.runtime.tools import files, outcome
from lsp_agent.runtime.tools.bash import Progress, Shell
from lsp_agent.runtime.tools.outcome import Outcome
from lsp_agent.toolset.arguments import ToolFailure, unknown_tool
from lsp_agent.toolset.schemas import BASH, EDIT, READ, WRITE

_IMAGES = " PNG, JPEG, GIF and WebP images are shown."
_BASH_TOO = (
    " Without a timeout it runs until it ends. Of a long output you see the beginning and the end."
)
BUILT_IN: Mapping[str, ToolSpec] = {
    tool.name: ToolSpec(tool.name, tool.description + more, tool.parameters)
    for tool, more in ((READ, _IMAGES), (WRITE, ""), (EDIT, ""), (BASH, _BASH_TOO))
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

    async def run(
        self, name: str, args: object, progress: Progress, *, gated: bool = False
    ) -> Outcome:
        """When cancelled, a built-in tool still answers with what it did. ``gated``: a command
        begins with a gate."""
        try:
            if name not in self.own:
                return await self._extensions.call(name, args)
            if name == "bash":
                return await self._shell.run(args, progress, gated=gated)
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
    return outcome.failure(unknown_tool(name))
