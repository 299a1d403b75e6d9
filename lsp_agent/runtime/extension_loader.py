"""Which extensions run: looked for when the agent starts, and again by ``/reload-ext``."""

import asyncio
import os
from collections.abc import Callable

from lsp_agent.runtime.extension import Frame, SlashCommand
from lsp_agent.runtime.extensions import RELOAD, Extensions, Notify
from lsp_agent.runtime.options import Options
from lsp_agent.user_data import extension_folders


class ExtensionLoader:
    """``greeting`` is what they are told of the agent, as it is then; ``own_tools`` go before
    theirs."""

    def __init__(
        self,
        options: Options,
        extensions: Extensions,
        notify: Notify,
        greeting: Callable[[], Frame],
        own_tools: frozenset[str],
    ) -> None:
        self._options = options
        self._extensions = extensions
        self._notify = notify
        self._greeting = greeting
        self._own_tools = own_tools

    async def load(self) -> None:
        folders = await self._folders()
        await self._extensions.start(folders, self._greeting(), self._own_tools)

    async def reload(self) -> str:
        """What became of it, for the person. No turn may run meanwhile: its calls would not be
        asked about."""
        await self._extensions.leave()
        await self.load()
        names = self._extensions.names()
        return f"Started anew: {', '.join(names)}." if names else "No extension runs."

    def commands(self) -> list[SlashCommand]:
        """Those of the extensions and, where there are any to reload, the agent's own."""
        found = {command.name.lower(): command for command in self._extensions.commands()}
        found.pop(RELOAD.name, None)
        if self._offers_reload():
            found[RELOAD.name] = RELOAD
        return [found[name] for name in sorted(found)]

    def is_reload(self, name: str) -> bool:
        return self._offers_reload() and name.removeprefix("/").lower() == RELOAD.name

    def _offers_reload(self) -> bool:
        return self._options.discover or self._extensions.may_change

    async def _folders(self) -> tuple[str, ...]:
        """Those that were named, then those that lie where extensions lie."""
        if not self._options.discover:
            return self._options.extensions
        persons = extension_folders.persons_folders(os.environ)
        found = await asyncio.to_thread(extension_folders.find, self._options.cwd, persons)
        for problem in found.problems:
            self._notify("lsp-agent", "warn", problem)
        return (*self._options.extensions, *found.folders)
