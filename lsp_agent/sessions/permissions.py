"""Who may run what: decisions from the settings and what a person has granted."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from lsp_agent.agents.tool_host import ToolRequest
from lsp_agent.protocol.events import ToolKind
from lsp_agent.protocol.settings import PermissionSettings, Policy
from lsp_agent.wires.zot_messages import tool_kind
from lsp_agent.workspace.paths import Confinement, OutsideWorkspace, SafePath

#: With any of these a command line is more than one simple command, so that a pattern's ``*``
#: could let something through which its author never meant.
_COMPOUND = re.compile(r"[;&|`<>\n\r]|\$\(|\$\{")


@dataclass(slots=True)
class Grants:
    """What a person allowed for the rest of one session; ``paths`` outside the workspace."""

    kinds: set[ToolKind] = field(default_factory=set[ToolKind])
    paths: set[str] = field(default_factory=set[str])


@dataclass(frozen=True, slots=True)
class Judgement:
    """``reason`` is what the model reads where ``policy`` is "deny"."""

    policy: Policy
    reason: str = ""


class Permissions:
    """Judges the calls of one session's agent. ``confinement`` is that of the folders as they
    are now, or, with ``anywhere=True``, of the whole file system but our own data and ``.git``."""

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

    def judge(self, request: ToolRequest) -> Judgement:
        kind, settings = tool_kind(request.tool), self._settings()
        policy = decide(kind, subject(request), settings, self._grants)
        if policy == "deny":
            return Judgement("deny", f'Not run: permissions.{kind} is "deny" in the settings.')
        path = request.args.get("path")
        if kind not in ("read", "edit") or not isinstance(path, str) or not path:
            return Judgement(policy)
        try:
            self.confine(path, write=kind == "edit")
        except OutsideWorkspace as error:
            if self._outside(path, write=kind == "edit") is None or settings.outside == "deny":
                return Judgement("deny", str(error))
            return Judgement("ask")
        return Judgement(policy)

    def confine(self, path: str, *, write: bool) -> SafePath:
        """:raises OutsideWorkspace: for what is neither in the workspace nor granted"""
        try:
            return self._confinement(False).confine(path, self._cwd, write=write)
        except OutsideWorkspace:
            outside = self._outside(path, write=write)
            if outside and (
                self._settings().outside == "allow" or outside.path in self._grants.paths
            ):
                return outside
            raise

    def grant(self, request: ToolRequest, *, session: bool) -> None:
        """A person has allowed the call: its path, and with ``session`` all calls of its kind."""
        kind = tool_kind(request.tool)
        if session:
            self._grants.kinds.add(kind)
        path = request.args.get("path")
        if isinstance(path, str) and (outside := self._outside(path, write=kind == "edit")):
            self._grants.paths.add(outside.path)

    def _outside(self, path: str, *, write: bool) -> SafePath | None:
        """The path, if the settings could allow it at all."""
        try:
            return self._confinement(True).confine(path, self._cwd, write=write)
        except OutsideWorkspace:
            return None


def subject(request: ToolRequest) -> str:
    """What is asked about: the command line, the path, or the tool with its arguments."""
    for name in ("command", "path"):
        value = request.args.get(name)
        if isinstance(value, str) and tool_kind(request.tool) != "other":
            return value
    return f"{request.tool} {dict(request.args)}" if request.args else request.tool


def decide(kind: ToolKind, subject: str, settings: PermissionSettings, grants: Grants) -> Policy:
    """The policy for one call; ``subject`` is the command line or the tool's name.

    "deny" in the settings is final; grants and patterns only spare a question.
    """
    policy = _configured(kind, settings)
    if policy == "ask" and (kind in grants.kinds or matches_pattern(kind, subject, settings.allow)):
        return "allow"
    return policy


def matches_pattern(kind: ToolKind, subject: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern such as ``command: git status*`` allows ``subject``.

    A compound command line is matched only by a pattern that is equal to it.
    """
    for pattern in patterns:
        pattern_kind, separator, glob = pattern.partition(":")
        if not separator or pattern_kind.strip() != kind:
            continue
        glob = glob.strip()
        if glob == subject.strip():
            return True
        if not _COMPOUND.search(subject) and fnmatchcase(subject.strip(), glob):
            return True
    return False


def _configured(kind: ToolKind, settings: PermissionSettings) -> Policy:
    match kind:
        case "read":
            return settings.read
        case "edit":
            return settings.edit
        case "command":
            return settings.command
        case "other":
            return settings.other
