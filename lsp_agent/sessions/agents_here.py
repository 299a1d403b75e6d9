"""The agents that can be chosen on this machine: those of the settings and those that are known,
each with where its program lies or what brings it; and the model servers on loopback. Blocking.
"""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from lsp_agent.agents.process import absolute_entries
from lsp_agent.protocol.catalogue import (
    CATALOGUE,
    LOCAL_SERVERS,
    Hosting,
    KnownAgent,
    LocalServer,
    known,
    of_program,
    settings_of,
)
from lsp_agent.protocol.settings.settings import BUILTIN_AGENT, AgentSettings, Settings
from lsp_agent.sessions.agent.launcher import has_provider
from lsp_agent.toolset.loose_json import frame, frames, string
from lsp_agent.wires import new_wire

#: A server on this machine answers at once, or is none.
_ANSWER_SECONDS = 1.0
_LONGEST_ANSWER = 1 << 20
_MOST_MODELS = 50


@dataclass(frozen=True, slots=True)
class AgentHere:
    """``path`` is where its program lies, None where there is none; ``own_path`` where the agent
    itself lies of which that is the adapter; ``install`` is what brings a known one; ``setting`` is
    the line of the person's settings that chooses it."""

    name: str
    title: str
    configured: bool
    chosen: bool
    agent: AgentSettings
    hosting: Hosting
    path: str | None
    own_path: str | None
    install: str | None
    sign_in: str | None

    @property
    def setting(self) -> str:
        return f"agent = {json.dumps(self.name)}"

    @property
    def usable(self) -> bool:
        """As far as is seen without a start."""
        has_model = self.name != BUILTIN_AGENT or has_provider(self.agent)
        return self.path is not None and has_model

    @property
    def install_command(self) -> str | None:
        """What brings it, or its newest version, where the program that does so is here."""
        return self._command(self.install)

    @property
    def sign_in_command(self) -> str | None:
        return self._command(self.sign_in)

    def _command(self, line: str | None) -> str | None:
        """The command with which a line of the catalogue begins; some are words for a person."""
        command = (line or "").partition(",")[0]
        program = command.partition(" ")[0]
        return command if shutil.which(program, path=search_path(self.agent.env)) else None


def agents_here(settings: Settings) -> list[AgentHere]:
    """Those of the settings first, then the others that are known, the installed ones before."""
    configured = [_here(settings, name, agent) for name, agent in settings.agents.items()]
    programs = {Path(each.agent.command[0]).name for each in configured}
    others = [
        _here(settings, each.name, settings_of(each))
        for each in CATALOGUE
        if each.name not in settings.agents and each.command[0] not in programs
    ]
    return [*configured, *sorted(others, key=_is_far)]


def _is_far(each: AgentHere) -> int:
    return 0 if each.path else 1 if each.own_path else 2


def _here(settings: Settings, name: str, agent: AgentSettings) -> AgentHere:
    entry = of_program(Path(agent.command[0]).name) or known(name)
    own = entry.own_program if entry else ""
    places = search_path(agent.env)
    title = entry.title if entry else "lsp-agent's own" if name == BUILTIN_AGENT else name
    return AgentHere(
        name,
        title,
        configured=name in settings.agents,
        chosen=name == settings.agent,
        agent=agent,
        hosting="mirror" if agent.hosting == "mirror" else _hosting(agent, entry),
        path=shutil.which(agent.command[0], path=places),
        own_path=shutil.which(own, path=places) if own else None,
        install=entry.install if entry else None,
        sign_in=entry.sign_in if entry else None,
    )


def _hosting(agent: AgentSettings, entry: KnownAgent | None) -> Hosting:
    if entry is not None and entry.wire == agent.wire:
        return entry.hosting
    return new_wire(agent.wire).hosting


def search_path(env: Mapping[str, str]) -> str:
    """The PATH that an agent with ``env`` is started with: it leads into no repository."""
    return absolute_entries(env.get("PATH", os.environ.get("PATH", os.defpath)))


# -- model servers


@dataclass(frozen=True, slots=True)
class ModelServerHere:
    """One that answers, with the ids of its models."""

    server: LocalServer
    models: Sequence[str]

    def settings_for(self, model: str) -> str:
        """What has the embedded agent use it, as TOML."""
        return (
            f"agent = {json.dumps(BUILTIN_AGENT)}\n"
            f"[agents.{BUILTIN_AGENT}]\n"
            'provider = "openai"\n'
            f"model = {json.dumps(model)}\n"
            f'env = {{ OPENAI_BASE_URL = "{self.server.base_url}", OPENAI_API_KEY = "none" }}'
        )


def model_servers_here(
    servers: tuple[LocalServer, ...] = LOCAL_SERVERS,
) -> list[ModelServerHere]:
    with ThreadPoolExecutor() as threads:
        asked = zip(servers, threads.map(_models_of, servers), strict=True)
        return [ModelServerHere(server, models) for server, models in asked if models]


def _models_of(server: LocalServer) -> tuple[str, ...]:
    """None where nothing answers there, or something else does."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", "/v1/models")
        response = connection.getresponse()
        answer: object = json.loads(response.read(_LONGEST_ANSWER))
    except (OSError, HTTPException, ValueError, RecursionError):
        return ()
    finally:
        connection.close()
    ids = (string(model, "id") for model in frames(frame(answer).get("data")))
    return tuple(each for each in ids if each)[:_MOST_MODELS]
