"""The sessions that an agent itself keeps, from its own terminal client for one: a session of ours
can go on with each."""

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import anyio

from lsp_agent.sessions.agent.keeper import AgentKeeper
from lsp_agent.wires.pi import session_files as pi_sessions
from lsp_agent.wires.wire import ListSessions

#: How many are listed.
MOST = 100
#: How much of a session's file is looked at for its title, in bytes.
_HEAD = 1 << 18
_LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class OwnSession:
    """``updated`` is in seconds since 1970."""

    ref: str
    title: str | None = None
    updated: float | None = None


async def listed(agent: AgentKeeper, cwd: str) -> list[OwnSession]:
    """Those in that folder, newest first. Starts the agent.

    :raises RequestFailed: "unsupported" where it cannot tell, or as ``AgentKeeper.ask`` does
    """
    await agent.running()
    agent.require("listSessions")
    told = await agent.ask(ListSessions())
    return await anyio.to_thread.run_sync(partial(_of_folder, told, cwd))


def _of_folder(told: dict[str, object], cwd: str) -> list[OwnSession]:
    """Blocking."""
    sessions = cast(list[dict[str, Any]], told.get("sessions", []))
    if folder := cast(str | None, told.get("folder")):
        sessions = _in_files(Path(folder))
    wanted = os.path.realpath(cwd)
    found = [
        OwnSession(each["ref"], _shortened(each.get("title")), each.get("updated"))
        for each in sessions
        if each["cwd"] and os.path.realpath(each["cwd"]) == wanted
    ]
    return sorted(found, key=lambda session: session.updated or 0, reverse=True)[:MOST]


def _in_files(folder: Path) -> list[dict[str, Any]]:
    """The newest ones."""
    ages: dict[Path, float] = {}
    with suppress(OSError):
        for path in folder.iterdir():
            if path.suffix == pi_sessions.SUFFIX and path.is_file():
                ages[path] = path.stat().st_mtime
    newest = sorted(ages, key=lambda path: ages[path], reverse=True)[:MOST]
    found: list[dict[str, Any]] = []
    for path in newest:
        with suppress(OSError), path.open("rb") as file:
            if summary := pi_sessions.summary(file.read(_HEAD).splitlines()):
                found.append({"ref": str(path), "updated": ages[path], **summary})
    return found


def _shortened(title: str | None) -> str | None:
    return title if title is None or len(title) <= _LONGEST_TITLE else title[:_LONGEST_TITLE] + "…"
