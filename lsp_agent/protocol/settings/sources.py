"""Joins the sources of the settings into one value, and says what is wrong with them.

Later wins: the defaults, the user's file, ``initializationOptions``. What comes with a workspace
(``workspace/configuration``, then the workspace's file) is joined last and can only narrow: it
may come from a repository that the person does not trust. :data:`NARROWING` has the rule of each
key; a key without one is the user's alone.

Nothing here raises for what a source says: a wrong key is a :class:`Problem`, the rest is used.
"""

import difflib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from pydantic import BaseModel, ValidationError

from lsp_agent.protocol.catalogue import known
from lsp_agent.protocol.settings.describe import allowed_values, choices, value_in_words
from lsp_agent.protocol.settings.settings import (
    BUILTIN_AGENT,
    WIRES_WITH_CONFIG,
    AgentSettings,
    Settings,
)

DEFAULTS = "default"
INITIALIZATION_OPTIONS = "initializationOptions"
CONFIGURATION = "workspace/configuration"

Order = tuple[str, ...]
#: How a workspace may change a key: along an order (loosest first), to a smaller number, freely,
#: to the name of an agent that the user has, or to "deny".
Rule = Order | Literal["smaller", "freely", "an agent", "to deny"]

_POLICIES: Order = ("allow", "ask", "deny")
NARROWING: Mapping[str, Rule] = {
    "agent": "an agent",
    "edits.review": ("off", "after", "before"),
    "edits.save": ("always", "clean", "never"),
    "edits.hints": "freely",
    "edits.hold_shrink": "smaller",
    "permissions.read": _POLICIES,
    "permissions.edit": ("allow", "deny"),
    "permissions.command": ("allow", "sandbox", "ask", "deny"),
    "permissions.reading": ("allow", "ask"),
    "permissions.network": "to deny",
    "permissions.secrets": ("show", "cover"),
    "permissions.outside": _POLICIES,
    "permissions.other": _POLICIES,
    "limits.idle_seconds": "smaller",
    "limits.line_bytes": "smaller",
}

#: Of these a value that means nothing counts as the tightest.
_GUARDS: Mapping[str, object] = {
    key: rule[-1] if isinstance(rule, tuple) else "deny"
    for key, rule in NARROWING.items()
    if key.startswith("permissions.")
}
_ALL_DENIED = "until it can be read, all that permissions are about is denied"
_ONLY_DENY = 'ignored: a workspace can only set "deny"; all else belongs in your own settings'
#: Of one source; what is over is counted, not listed.
_MOST_PROBLEMS = 20
_LONGEST_KEY = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """``source`` is a file's path or the LSP message; ``key`` is dotted, "" for the whole."""

    source: str
    key: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.source, self.key, self.message) if part)


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What was read from a file; ``values`` is empty where it could not be, as ``problems`` say."""

    path: str
    values: Mapping[str, object]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """``origins`` says for each key (``edits.review``, ``agents.zot.model``) which source set it:
    a file's path, :data:`INITIALIZATION_OPTIONS`, :data:`CONFIGURATION` or :data:`DEFAULTS`."""

    settings: Settings
    problems: tuple[Problem, ...]
    origins: Mapping[str, str]


def load(
    *,
    user_file: SettingsFile | None = None,
    initialization_options: object = None,
    configuration: object = None,
    workspace_file: SettingsFile | None = None,
) -> Loaded:
    """The settings of one workspace folder.

    ``initialization_options`` and ``configuration`` are decoded JSON as the client sent it; None
    there, as a whole or as a value, says nothing.
    """
    values = _Values()
    if user_file is not None:
        values.problems += user_file.problems
        if user_file.problems and not user_file.values:
            values.guard(user_file.path)
        values.override(user_file.path, user_file.values)
    values.override(INITIALIZATION_OPTIONS, initialization_options)
    values.complete_known_agents()
    values.drop_unfinished_agents()
    values.drop_unused_configurations()
    values.choose_agent()
    values.narrow(CONFIGURATION, configuration)
    if workspace_file is not None:
        values.problems += workspace_file.problems
        values.narrow(workspace_file.path, workspace_file.values)
    return values.loaded()


def builtin_command() -> list[str]:
    """How the embedded agent is started: this interpreter, running this package."""
    return [*_this_program(), "rpc"]


def _this_program() -> list[str]:
    """What a command means by ``lsp-agent``, which need not be on an editor's PATH.

    It runs in the workspace. ``-P`` keeps that folder, ``-E`` what ``PYTHONPATH`` names, off the
    import path: a package called ``lsp_agent`` in a repository must not run in our place.
    """
    return [sys.executable, "-E", "-P", "-m", "lsp_agent"]


def _resolved(command: list[str]) -> list[str]:
    return [*_this_program(), *command[1:]] if command[0] == "lsp-agent" else command


Path = tuple[str, ...]


def dotted(path: Path) -> str:
    """``("agents", "my agent", "model")`` -> ``agents."my agent".model``, as TOML writes it."""
    key = ".".join(
        part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else json.dumps(part) for part in path
    )
    return key if len(key) <= _LONGEST_KEY else key[:_LONGEST_KEY] + "…"


@dataclass(slots=True)
class _Values:
    """The values so far, by path, with their origins."""

    values: dict[Path, object] = field(default_factory=lambda: dict(_defaults()))
    origins: dict[Path, str] = field(default_factory=dict[Path, str])
    problems: list[Problem] = field(default_factory=list[Problem])
    #: Agents may be named before they are defined, so names are looked up when all are known.
    chosen: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def guard(self, source: str) -> None:
        """Nobody knows what a source denies."""
        for key, value in _GUARDS.items():
            self._set(tuple(key.split(".")), value, source)
        self.problems.append(Problem(source, "", _ALL_DENIED))

    def override(self, source: str, given: object) -> None:
        """Takes all that ``given`` says. What is meant to deny does so in a way that cannot be
        read, too."""
        for path, value in self._checked(source, given, tightest=True):
            if path == ("agent",):
                self.chosen.append((source, cast(str, value)))
            elif path[-1] == "command" and path[0] == "agents":
                self._set(path, _resolved(cast(list[str], value)), source)
            else:
                self._set(path, value, source)

    def narrow(self, source: str, given: object) -> None:
        """Takes of ``given`` what loosens nothing."""
        for path, value in self._checked(source, given):
            now = self._effective(path)
            if value in (now, []):
                continue  # says nothing new
            refusal = self._refusal(path, value, now)
            if refusal is None:
                self._set(path, value, source)
            else:
                self._report(source, path, refusal)

    def complete_known_agents(self) -> None:
        """Of an agent that is known here, the settings need only say what is to be another way."""
        for name in dict.fromkeys([*self._agents(), *(name for _, name in self.chosen)]):
            agent = known(name)
            if agent is None:
                continue
            wire, command = ("agents", name, "wire"), ("agents", name, "command")
            if self.values.setdefault(wire, agent.wire) == agent.wire:
                self.values.setdefault(command, list(agent.command))

    def drop_unfinished_agents(self) -> None:
        for name in self._agents():
            needed = ("wire", "command")
            missing = [key for key in needed if ("agents", name, key) not in self.values]
            if not missing:
                continue
            mine = [path for path in self.values if path[:2] == ("agents", name)]
            source = self.origins[mine[0]]
            message = f"ignored, since it has no {' and no '.join(missing)}; an agent needs both"
            self._report(source, ("agents", name), message)
            for path in mine:
                del self.values[path], self.origins[path]

    def drop_unused_configurations(self) -> None:
        for name in self._agents():
            path = ("agents", name, "config")
            wire = self.values.get(("agents", name, "wire"))
            if path in self.values and wire not in WIRES_WITH_CONFIG:
                names = " and ".join(f'"{each}"' for each in WIRES_WITH_CONFIG)
                message = f"ignored: only agents of the wires {names} take one"
                self._report(self.origins[path], path, message)
                del self.values[path], self.origins[path]

    def choose_agent(self) -> None:
        for source, name in self.chosen:
            refusal = self._unknown_agent(name)
            if refusal is None:
                self._set(("agent",), name, source)
            else:
                self._report(source, ("agent",), refusal)

    def loaded(self) -> Loaded:
        tree: dict[str, object] = {}
        for path, value in self.values.items():
            table = tree
            for part in path[:-1]:
                table = cast(dict[str, object], table.setdefault(part, {}))
            table[path[-1]] = value
        origins = {dotted(path): self.origins.get(path, DEFAULTS) for path in self.values}
        return Loaded(Settings.model_validate(tree), _bounded(self.problems), origins)

    def _effective(self, path: Path) -> object:
        """The value that holds now; an agent's that nobody set is its default."""
        unset = AgentSettings.model_fields[path[-1]].default if path[0] == "agents" else None
        return self.values.get(path, unset)

    def _refusal(self, path: Path, value: object, now: object) -> str | None:
        """Why a workspace may not set this, None where it may."""
        match NARROWING.get(".".join(path)):
            case None:
                return "ignored: a workspace cannot set it; it belongs in your own settings"
            case "freely":
                return None
            case "an agent":
                return self._unknown_agent(cast(str, value))
            case "to deny":
                return None if value == "deny" else _ONLY_DENY
            case "smaller":
                looser = cast(float, value) > cast(float, now)
            case tuple() as order:
                looser = order.index(cast(str, value)) < order.index(cast(str, now))
        set_by = self.origins.get(path, DEFAULTS)
        return (
            f"ignored: looser than {json.dumps(now)} ({set_by}); a workspace can only narrow,"
            " so it belongs in your own settings"
            if looser
            else None
        )

    def _unknown_agent(self, name: str) -> str | None:
        known = self._agents()
        if name in known:
            return None
        names = ", ".join(json.dumps(agent) for agent in known)
        return f"ignored: there is no such agent{_near(name, known)}; you have {names}"

    def _agents(self) -> list[str]:
        return list(dict.fromkeys(path[1] for path in self.values if path[0] == "agents"))

    def _checked(
        self, source: str, given: object, *, tightest: bool = False
    ) -> Iterator[tuple[Path, object]]:
        """The values of ``given`` whose key and type are right; reports the others, which with
        ``tightest`` count for what they deny."""
        for path, model, value in self._leaves(source, (), Settings, given):
            fault = _fault(model, path[-1], value)
            if fault is None:
                yield path, value
                continue
            tight = _tightest(path, value) if tightest else None
            counts = "" if tight is None else f"; it counts as {json.dumps(tight)}"
            self._report(source, path, fault + counts)
            if tight is not None:
                yield path, tight

    def _leaves(
        self, source: str, path: Path, model: type[BaseModel], given: object
    ) -> Iterator[tuple[Path, type[BaseModel], object]]:
        """Each single value with the section that it is in."""
        for name, value in self._table(source, path, given).items():
            here = (*path, name)
            section = _section(model, name)
            if value is None:
                continue
            if name not in model.model_fields:
                self._report(source, here, _unknown_key(model, name))
            elif section is AgentSettings:
                for agent, settings in self._table(source, here, value).items():
                    yield from self._leaves(source, (*here, agent), section, settings)
            elif section is not None:
                yield from self._leaves(source, here, section, value)
            else:
                yield here, model, value

    def _table(self, source: str, path: Path, given: object) -> Mapping[str, object]:
        if isinstance(given, Mapping):
            return cast(Mapping[str, object], given)
        if given is not None:
            self._report(source, path, f"must be a table; it is {value_in_words(given)}")
        return {}

    def _set(self, path: Path, value: object, source: str) -> None:
        self.values[path] = value
        self.origins[path] = source

    def _report(self, source: str, path: Path, message: str) -> None:
        self.problems.append(Problem(source, dotted(path), message))


def _defaults() -> Iterator[tuple[Path, object]]:
    for name, info in Settings.model_fields.items():
        if isinstance(info.default, BaseModel):
            for key, value in info.default:
                yield (name, key), value
        elif name != "agents":
            yield (name,), info.default
    yield ("agents", BUILTIN_AGENT, "wire"), "zot"
    yield ("agents", BUILTIN_AGENT, "command"), builtin_command()


def _section(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model of a table among the fields of ``model``; of one agent for ``agents``."""
    if model is not Settings or name not in model.model_fields:
        return None
    default = model.model_fields[name].default
    return (
        AgentSettings
        if name == "agents"
        else type(default)
        if isinstance(default, BaseModel)
        else None
    )


def _fault(model: type[BaseModel], name: str, value: object) -> str | None:
    """What is wrong with one value, in words that say what is allowed."""
    try:
        model.model_validate({name: value})
    except ValidationError as error:
        if not any(detail["loc"][:1] == (name,) for detail in error.errors()):
            return None  # only other keys are missing
        info = model.model_fields[name]
        near = _near(value, choices(info.annotation)) if isinstance(value, str) else ""
        kind = "" if choices(info.annotation) and isinstance(value, str) else value_in_words(value)
        return f"must be {allowed_values(info)}{near}" + (f"; it is {kind}" if kind else "")
    return None


def _tightest(path: Path, value: object) -> object:
    """What a wrong value stands for; None where it denies nothing."""
    if path == ("permissions", "hidden") and isinstance(value, list):
        return [each for each in cast(list[object], value) if isinstance(each, str)]
    if path[0] == "agents" and path[-1] == "sandbox":
        return True
    return _GUARDS.get(".".join(path))


def _unknown_key(model: type[BaseModel], name: str) -> str:
    known = list(model.model_fields)
    return f"unknown key, ignored{_near(name, known)}; known are {', '.join(known)}"


def _near(name: str, known: tuple[str, ...] | list[str]) -> str:
    matches = difflib.get_close_matches(name[:_LONGEST_KEY], known, n=1)
    return f" (did you mean {json.dumps(matches[0])}?)" if matches else ""


def _bounded(problems: list[Problem]) -> tuple[Problem, ...]:
    """At most so many a source: a hostile file must not flood the person with notices."""
    counts: dict[str, int] = {}
    kept: list[Problem] = []
    for problem in problems:
        counts[problem.source] = counts.get(problem.source, 0) + 1
        if counts[problem.source] <= _MOST_PROBLEMS:
            kept.append(problem)
    kept += [
        Problem(source, "", f"{count - _MOST_PROBLEMS} more problems like these")
        for source, count in counts.items()
        if count > _MOST_PROBLEMS
    ]
    return tuple(kept)
