"""Which tools there are, and who runs a call."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lsp_agent.runtime.extensions import Extensions
from lsp_agent.runtime.providers.provider import ToolSpec
from lsp_agent.runtime.tools import files, outcome
from lsp_agent.runtime.tools.background import BackgroundCommands
from lsp_agent.runtime.tools.bash import Progress, Shell
from lsp_agent.runtime.tools.outcome import Outcome
from lsp_agent.toolset.arguments import ToolFailure, parse_bash, unknown_tool
from lsp_agent.toolset.loose_json import frame, string
from lsp_agent.toolset.schemas import (
    BACKGROUND_BASH,
    BASH_KILL,
    BASH_OUTPUT,
    EDIT,
    READ,
    WRITE,
)

_IMAGES = " PNG, JPEG, GIF and WebP images are shown."
_BASH_TOO = (
    " Without a timeout it runs until it ends. Of a long output you see the beginning and the end."
)
BUILT_IN: Mapping[str, ToolSpec] = {
    tool.name: ToolSpec(tool.name, tool.description + more, tool.parameters)
    for tool, more in ((READ, _IMAGES), (WRITE, ""), (EDIT, ""), (BACKGROUND_BASH, _BASH_TOO))
}
#: They come with ``bash``.
_OF_BACKGROUND: Mapping[str, ToolSpec] = {
    tool.name: ToolSpec(tool.name, tool.description, tool.parameters)
    for tool in (BASH_OUTPUT, BASH_KILL)
}
_FILE_TOOLS: Mapping[str, Callable[[str, object], Outcome]] = {
    "read": files.read,
    "write": files.write,
    "edit": files.edit,
}


class Toolbox:
    """Built-in tools, but those that were left out, go before an extension's of the same name."""

    def __init__(
        self,
        cwd: str,
        only: frozenset[str] | None,
        extensions: Extensions,
        shell: Shell,
        background: BackgroundCommands,
    ) -> None:
        self._cwd = cwd
        self._extensions = extensions
        self._shell = shell
        self._background = background
        own = frozenset(BUILT_IN) if only is None else only & frozenset(BUILT_IN)
        #: The names of the built-in tools that it offers.
        self.own = own | frozenset(_OF_BACKGROUND) if "bash" in own else own

    def specs(self) -> Sequence[ToolSpec]:
        """Sorted by name."""
        built_in = {**BUILT_IN, **_OF_BACKGROUND}
        offered = self._extensions.tools() | {name: built_in[name] for name in self.own}
        return [offered[name] for name in sorted(offered)]

    def knows(self, name: str) -> bool:
        return name in self.own or name in self._extensions.tools()

    async def run(self, call: "ToolRun", progress: Progress) -> Outcome:
        """When cancelled, a built-in tool still answers with what it did."""
        try:
            match call.name:
                case name if name not in self.own:
                    return await self._extensions.call(name, call.args)
                case "bash":
                    return await self._run_bash(call, progress)
                case "bash_output":
                    return await self._background.output(call.args)
                case "bash_kill":
                    return await self._background.kill(call.args)
                case name:
                    return await _to_its_end(_FILE_TOOLS[name], self._cwd, call.args)
        except ToolFailure as failed:
            return outcome.failure(failed.text)

    async def _run_bash(self, call: "ToolRun", progress: Progress) -> Outcome:
        given = parse_bash(call.args)
        if given.background:
            asked = string(frame(call.asked), "command")
            return await self._background.start(call.call_id, given, asked, gated=call.gated)
        return await self._shell.run(given, progress, gated=call.gated)


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A call as it is let run; ``asked`` are its arguments as the model wrote them. ``gated``: a
    command begins with a gate."""

    call_id: str
    name: str
    args: object
    asked: object
    gated: bool = False


async def _to_its_end(tool: Callable[[str, object], Outcome], cwd: str, args: object) -> Outcome:
    """A file that is being written cannot be called back: a cancel waits for the result."""
    job = asyncio.create_task(asyncio.to_thread(tool, cwd, args))
    try:
        return await asyncio.shield(job)
    except asyncio.CancelledError:
        return await job


def unknown(name: str) -> Outcome:
    return outcome.failure(unknown_tool(name))
