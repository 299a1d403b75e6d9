"""Slash commands: what a session's agent, or its extensions, offer to be run by name."""

from collections.abc import Sequence
from typing import Literal, cast

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.sessions.agent.keeper import AgentKeeper
from lsp_agent.wires.wire import GetCommands, RunCommand

Action = Literal["prompt", "insert", "display", "noop"]

#: An extension has 60 s to answer.
_RUN_SECONDS = 65.0


async def offered(agent: AgentKeeper) -> list[dict[str, object]]:
    """``{name, description?}`` each; empty where the agent has none. Starts the agent.

    :raises RequestFailed: as ``AgentKeeper.ask`` does
    """
    await agent.running()
    if not agent.capabilities.get("commands", False):
        return []
    try:
        told = await agent.ask(GetCommands())
    except RequestFailed:
        if agent.capabilities.get("commands", False):
            raise
        return []  # it has just turned out that it knows of none
    return cast(list[dict[str, object]], told.get("commands", []))


async def run(agent: AgentKeeper, name: str, args: str) -> tuple[Action, str]:
    """What is to be done, and the text to do it with.

    An agent that runs its commands itself is asked whether or not it has listed this one yet: its
    extensions may still be telling theirs. One that takes them as prompts is to be prompted.

    :raises RequestFailed: "unsupported" where there is no such command, "conflict" with the
        words of who failed to run it, or as ``AgentKeeper.ask`` does
    """
    name = name.removeprefix("/")
    names = await _names(agent)
    if not agent.capabilities.get("commands", False):
        raise _unsupported(name, [])
    if not agent.capabilities.get("runCommand", False):
        if name not in names:
            raise _unsupported(name, names)
        return "prompt", f"/{name} {args}".rstrip()
    reply = await (await agent.running()).request(RunCommand(name, args), _RUN_SECONDS)
    if reply.error is None:
        return cast(Action, reply.data["action"]), str(reply.data["text"])
    if name not in names and name not in (names := await _names(agent)):
        raise _unsupported(name, names)
    raise RequestFailed("conflict", reply.error, {"command": name})


async def _names(agent: AgentKeeper) -> list[str]:
    return [str(command["name"]) for command in await offered(agent)]


def _unsupported(name: str, names: Sequence[str]) -> RequestFailed:
    known = f"it has {', '.join(f'/{each}' for each in names)}" if names else "it has none"
    message = f"The agent offers no command /{name}; {known}."
    return RequestFailed("unsupported", message, {"feature": "commands"})
