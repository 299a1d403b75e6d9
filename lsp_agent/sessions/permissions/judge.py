"""Who may run what: decisions from the settings and what a person has granted."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from lsp_agent.protocol.events import ToolKind
from lsp_agent.protocol.nesting import containers_at
from lsp_agent.protocol.settings.settings import CommandPolicy, PermissionSettings
from lsp_agent.sessions.permissions.command_patterns import offer, pattern_of
from lsp_agent.sessions.permissions.keeping.keeps import keeps
from lsp_agent.sessions.permissions.path_patterns import Place, allowed_by, places_of
from lsp_agent.sessions.permissions.reading.reads import reads
from lsp_agent.sessions.permissions.secret_files import is_secret
from lsp_agent.sessions.permissions.shell.line import Command, Line
from lsp_agent.sessions.permissions.shell.parse import parse
from lsp_agent.sessions.permissions.surroundings import Disk
from lsp_agent.toolset.calls import ToolRequest
from lsp_agent.toolset.kinds import tool_kind
from lsp_agent.user_data.command_log import DecidedBy
from lsp_agent.workspace.disk.paths import Confinement, OutsideWorkspace, SafePath

_NUL = "Not run: the command has a NUL character, which nothing can be started with."
#: Of containers in each other, in a call's arguments, that can be shown to who may have to decide.
_DEEPEST = 100
_FOR_SECRETS = "(a file for secrets, whose text would go to the agent's model)"
#: With any of these a command line is more than one simple command, so that the ``*`` of a
#: person's own pattern could let something through which they never meant.
_COMPOUND = re.compile(r"[;&|`<>\n\r$(){}]")


@dataclass(slots=True)
class Grants:
    """What a person allowed for the rest of one session, however often its agent is restarted;
    ``patterns`` of commands, ``paths`` outside the workspace with whether they may be written.
    ``once`` are such paths for the call that runs now."""

    tools: set[str] = field(default_factory=set[str])
    patterns: set[str] = field(default_factory=set[str])
    paths: set[tuple[str, bool]] = field(default_factory=set[tuple[str, bool]])
    once: set[tuple[str, bool]] = field(default_factory=set[tuple[str, bool]])


@dataclass(frozen=True, slots=True)
class Judgement:
    """``reason`` is what the model reads where ``policy`` is "deny"; ``by_pattern``: it is "allow"
    only for a pattern, or since it only reads, so that nobody has read it; ``by``: who or what made
    it "allow" or "deny"; ``store``: of what is held, git's folder that it alone writes."""

    policy: CommandPolicy
    reason: str = ""
    by_pattern: bool = False
    by: DecidedBy = "settings"
    store: str | None = None


class Permissions:
    """Judges the calls of one session's agent. ``confinement`` is that of the folders as they
    are now, or, with ``anywhere=True``, of the whole file system but our own data and ``.git``.
    Of a command :meth:`judge`, :meth:`offer` and :meth:`is_covered` look at the disk, in any
    thread.
    """

    def __init__(
        self,
        cwd: str,
        settings: Callable[[], PermissionSettings],
        confinement: Callable[[bool], Confinement],
    ) -> None:
        self._cwd = cwd
        self._settings = settings
        self._confinement = confinement
        self._grants = Grants()
        self._environment: Mapping[str, str] = os.environ

    def surround(self, env: Mapping[str, str]) -> None:
        """``env`` is what the agent's commands have beside the server's own environment."""
        self._environment = {**os.environ, **env}

    def judge(self, request: ToolRequest) -> Judgement:
        if containers_at(dict(request.args), _DEEPEST):
            return Judgement("deny", "Not run: its arguments are nested too deeply.")
        kind, settings = tool_kind(request.tool), self._settings()
        if kind == "command" and "\0" in subject(request):
            return Judgement("deny", _NUL)
        policy = decide(request, settings, self._grants, self._places(request))
        if policy in ("ask", "sandbox") and kind == "command":
            return self._judge_line(subject(request), policy)
        if policy == "deny":
            return Judgement("deny", f'Not run: permissions.{kind} is "deny" in the settings.')
        if kind not in ("read", "edit"):
            if policy != "allow" or _configured(kind, settings) == "allow":
                return Judgement(policy)
            if self.granted(request):
                return Judgement(policy, by="session")
            return Judgement(policy, by_pattern=True, by="pattern")
        paths = paths_of(request)
        if len(paths) > 1:
            return Judgement("deny", "Not run: the call names several paths.")
        for path in paths:
            try:
                self.confine(path, write=kind == "edit")
            except OutsideWorkspace as error:
                if self._outside(path, write=kind == "edit") is None or settings.outside == "deny":
                    return Judgement("deny", str(error))
                return Judgement("ask")
        if policy == "allow" and self._is_secret(request) and not self._is_meant(request):
            return Judgement("ask")
        return Judgement(policy)

    def _judge_line(self, text: str, policy: CommandPolicy) -> Judgement:
        """Of a command that the settings alone do not let run."""
        if by := self._covered_by(text):
            return Judgement("allow", by_pattern=True, by=by)
        return Judgement(policy, store=self._store(text))

    def _is_secret(self, request: ToolRequest) -> bool:
        """As a command that reads it is asked about."""
        if tool_kind(request.tool) != "read":
            return False
        paths = paths_of(request)
        real = (self._outside(path, write=False) for path in paths)
        return any(map(is_secret, paths)) or any(
            each is not None and is_secret(each.path) for each in real
        )

    def _is_meant(self, request: ToolRequest) -> bool:
        """Whether a person has allowed all calls of its tool, or a pattern of theirs names it."""
        globs = _globs("read", self._settings().allow)
        return self.granted(request) or allowed_by(globs, self._places(request))

    def granted(self, request: ToolRequest) -> bool:
        """Whether a person has allowed all calls of its tool."""
        return _is_granted(request, self._grants)

    def subject(self, request: ToolRequest) -> str:
        """What a person is asked about: the command line, the path and where it leads, or the
        tool with its arguments."""
        kind = tool_kind(request.tool)
        if kind not in ("read", "edit"):
            return subject(request)
        path = "".join(paths_of(request)[:1])
        try:
            self._confinement(False).confine(path, self._cwd, write=kind == "edit")
        except OutsideWorkspace:
            outside = self._outside(path, write=kind == "edit")
            return f"{outside.path if outside else path} (outside the workspace)"
        return f"{self._named(path)} {_FOR_SECRETS}" if self._is_secret(request) else path

    def _named(self, path: str) -> str:
        """With where it leads, if that is called otherwise."""
        real = self._outside(path, write=False)
        if real is None or Path(real.path).name == Path(path).name:
            return path
        return f"{path}, which is {real.path}"

    def confine(self, path: str, *, write: bool) -> SafePath:
        """:raises OutsideWorkspace: for what is neither in the workspace nor granted"""
        try:
            return self._confinement(False).confine(path, self._cwd, write=write)
        except OutsideWorkspace:
            outside = self._outside(path, write=write)
            if outside is None or not self._is_granted(outside.path, write=write):
                raise
            return outside

    def _is_granted(self, path: str, *, write: bool) -> bool:
        policy = self._settings().outside
        grants = self._grants.paths | self._grants.once
        return policy == "allow" or (policy == "ask" and (path, write) in grants)

    def offer(self, request: ToolRequest) -> str | None:
        """The pattern, as ``git status*``, that a person may allow instead of one command."""
        if tool_kind(request.tool) != "command":
            return None
        line, disk = parse(subject(request)), self._disk()
        if line.unknown:
            return None
        reading = self._settings().command == "ask"
        patterns = self._grants.patterns
        lacking = [
            each
            for each in line.commands
            if not self._has_yes(each, disk, patterns, reading=reading)
        ]
        return offer(lacking, disk.may_write)

    def is_covered(self, request: ToolRequest, patterns: Collection[str]) -> bool:
        """Whether each command of the line has a yes by one of these patterns, or as it has without
        them."""
        line = parse(subject(request))
        return self._covers(line, self._disk(), {*self._grants.patterns, *patterns})

    def grant(
        self, request: ToolRequest, *, session: bool = False, pattern: str | None = None
    ) -> None:
        """A person has allowed the call: a file call's path until :meth:`spend`, with
        ``session`` for good and with it all calls of its tool, with ``pattern`` all commands that
        the offer of that pattern stands for."""
        if session and request.named:
            self._grants.tools.add(request.tool)
        if pattern is not None:
            self._grants.patterns.add(pattern)
        kind = tool_kind(request.tool)
        if kind not in ("read", "edit"):
            return
        for path in paths_of(request):
            outside = self._outside(path, write=kind == "edit")
            if outside is not None:
                granted = self._grants.paths if session else self._grants.once
                granted.add((outside.path, kind == "edit"))

    def spend(self) -> None:
        """The call that was allowed once has ended, or is made by the agent itself."""
        self._grants.once.clear()

    def _disk(self) -> Disk:
        return Disk(self._cwd, self._confinement(False), self._environment)

    def _covered_by(self, text: str) -> DecidedBy | None:
        line, disk, patterns = parse(text), self._disk(), self._grants.patterns
        if self._covers(line, disk, ()):
            return "reading"
        return "session" if patterns and self._covers(line, disk, patterns) else None

    def _store(self, text: str) -> str | None:
        """Of a line that is held and has git keep something, and does nothing else."""
        settings = self._settings()
        if settings.command != "sandbox" or not _trusts_tables(settings):
            return None
        found = keeps(parse(text), self._disk())
        return str(found) if found else None

    def _covers(self, line: Line, disk: Disk, patterns: Collection[str]) -> bool:
        """Whether each command of the line has a yes by a pattern, or only reads. In the sandbox
        what does nothing else is held as all is."""
        return (
            not line.unknown
            and bool(line.commands)
            and (
                self._settings().command == "ask"
                or any(_has_pattern(each, disk, patterns) for each in line.commands)
            )
            and all(self._has_yes(each, disk, patterns, reading=True) for each in line.commands)
        )

    def _has_yes(
        self, command: Command, disk: Disk, patterns: Collection[str], *, reading: bool
    ) -> bool:
        may_read = reading and _trusts_tables(self._settings())
        return (may_read and reads(command, disk)) or _has_pattern(command, disk, patterns)

    def _places(self, request: ToolRequest) -> list[Place]:
        """Of a file call, for the settings' patterns; none where it may not be in any case."""
        kind, paths = tool_kind(request.tool), paths_of(request)
        if kind not in ("read", "edit") or len(paths) != 1 or not self._settings().allow:
            return []
        real = self._outside(paths[0], write=kind == "edit")
        return places_of(paths[0], self._cwd, real.path) if real else []

    def _outside(self, path: str, *, write: bool) -> SafePath | None:
        """The path, if the settings could allow it at all."""
        try:
            return self._confinement(True).confine(path, self._cwd, write=write)
        except OutsideWorkspace:
            return None


def _trusts_tables(settings: PermissionSettings) -> bool:
    """Whether what is in our tables needs no question."""
    return settings.reading == "allow" and settings.read == "allow"


def _has_pattern(command: Command, disk: Disk, patterns: Collection[str]) -> bool:
    return bool(patterns) and pattern_of(command, disk.may_write) in patterns


def paths_of(request: ToolRequest) -> list[str]:
    """The paths that a file call names; the agent takes the key in any case."""
    return [
        value
        for key, value in request.args.items()
        if key.lower() == "path" and isinstance(value, str) and value
    ]


def subject(request: ToolRequest) -> str:
    """The command line, the path, or the tool with its arguments."""
    command = request.args.get("command")
    match tool_kind(request.tool):
        case "command" if isinstance(command, str):
            return command
        case "read" | "edit":
            return "".join(paths_of(request)[:1])
        case _:
            return f"{request.tool} {dict(request.args)}" if request.args else request.tool


def decide(
    request: ToolRequest, settings: PermissionSettings, grants: Grants, places: Sequence[Place]
) -> CommandPolicy:
    """The policy for one call, wherever its path lies; ``places`` are those of a file call.

    "deny" in the settings is final; grants and patterns only spare a question.
    """
    kind = tool_kind(request.tool)
    policy = _configured(kind, settings)
    if policy in ("allow", "deny"):
        return policy
    if kind in ("read", "edit"):
        fits = allowed_by(_globs(kind, settings.allow), places)
    else:
        fits = matches_pattern(kind, subject(request), settings.allow)
    return "allow" if fits or _is_granted(request, grants) else policy


def _is_granted(request: ToolRequest, grants: Grants) -> bool:
    return request.named and request.tool in grants.tools


def matches_pattern(kind: ToolKind, subject: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern such as ``command: git status*`` allows ``subject``, which is no path.

    A compound command line is matched only by a pattern that is equal to it.
    """
    line = subject.strip()
    return any(
        glob == line or (not _COMPOUND.search(subject) and fnmatchcase(line, glob))
        for glob in _globs(kind, patterns)
    )


def _globs(kind: ToolKind, patterns: Iterable[str]) -> Iterator[str]:
    """Of the patterns for that kind."""
    for pattern in patterns:
        its_kind, separator, glob = pattern.partition(":")
        if separator and its_kind.strip() == kind:
            yield glob.strip()


def _configured(kind: ToolKind, settings: PermissionSettings) -> CommandPolicy:
    match kind:
        case "read":
            return settings.read
        case "edit":
            return settings.edit
        case "command":
            return settings.command
        case "other":
            return settings.other
