"""What a session's agent is told comes with its secrets covered, and what it writes has them."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from lsp_agent.protocol.environment import COVER_VARIABLE
from lsp_agent.protocol.events import Notice, ToolResult
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.toolset.arguments import ToolFailure
from lsp_agent.toolset.calls import Block, ToolRequest
from lsp_agent.toolset.covering import UnknownCoverError, covers_in, uncover

_UNKNOWN = (
    "Not done: {cover} stands for a secret that you were not shown the value of, and which is not"
    " known any more. Read the file again, and keep the words in square brackets as they are."
)
_IN_COMMAND = (
    "Not run: the command has {cover} in it, which stands for a secret that you were not shown. Let"
    " the command take it from the variable or the file that it is in; write and edit put the value"
    " in by themselves."
)


OF_COMMAND = "the output of a command"


class Covering:
    """Of one session."""

    def __init__(self, services: Services, session: SessionView) -> None:
        self._covers = services.covers
        self._session = session
        #: What the person was told of already.
        self._told: set[str] = set()

    async def covered(self, text: str, about: str) -> str:
        """``about`` is what the person is told that it was in."""
        if self._session.settings.permissions.secrets == "show":
            return text
        covered = await self._covers.covered(text, about)
        self._tell(covered.count, about)
        return covered.text

    def returned(self, result: ToolResult) -> None:
        """A call has its result, in which the agent itself may have covered some."""
        texts = (block["text"] for block in result.content if block["type"] == "text")
        self._tell(sum(len(covers_in(text)) for text in texts), OF_COMMAND)

    def told_by_environment(self) -> dict[str, str]:
        """To an agent that covers by itself what its commands say."""
        if self._session.settings.permissions.secrets == "show":
            return {}
        return {COVER_VARIABLE: os.pathsep.join([self._covers.key, *self._covers.folders()])}

    async def in_command(self, request: ToolRequest) -> Block | None:
        """A command would run with the cover in the place of the value."""
        covers = covers_of(request)
        if not covers:
            return None
        values = await self._covers.standing_for("")
        known = next((each for each in covers if each in values), None)
        return None if known is None else Block(_IN_COMMAND.format(cover=known))

    async def uncovered(self, request: ToolRequest, present: str) -> ToolRequest:
        """With the values in what it writes in the place of ``present``.

        :raises ToolFailure: where one is not known
        """
        values = await self._covers.standing_for(present)

        def uncovered(value: object) -> object:
            match value:
                case str():
                    return uncover(value, values, present=present)
                case list():
                    return [uncovered(each) for each in cast(list[object], value)]
                case dict():
                    pairs = cast(dict[str, object], value).items()
                    return {name: uncovered(each) for name, each in pairs}
                case _:
                    return value

        try:
            args = {name: uncovered(value) for name, value in request.args.items()}
        except UnknownCoverError as unknown:
            raise ToolFailure(_UNKNOWN.format(cover=unknown)) from None
        return replace(request, args=args)

    def _tell(self, count: int, about: str) -> None:
        told = f"{count} {'secret' if count == 1 else 'secrets'} covered in {about}"
        if count and told not in self._told:
            self._told.add(told)
            self._session.emit(Notice("info", told, "lsp-agent"), self._session.turn_id)


def covers_of(request: ToolRequest) -> Sequence[str]:
    """What looks like a cover in what the agent wrote."""
    found: list[str] = []
    waiting: list[object] = list(request.args.values())
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found += covers_in(value)
        elif isinstance(value, list):
            waiting += cast(list[object], value)
        elif isinstance(value, dict):
            waiting += cast(dict[str, object], value).values()
    return found
