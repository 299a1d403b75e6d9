"""Who may run what: pure decisions from the settings and what a person has granted."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from lsp_agent.protocol.events import ToolKind
from lsp_agent.protocol.settings import PermissionSettings, Policy

#: With any of these a command line is more than one simple command, so that a pattern's ``*``
#: could let something through which its author never meant.
_COMPOUND = re.compile(r"[;&|`<>\n\r]|\$\(|\$\{")


@dataclass(slots=True)
class Grants:
    """What a person allowed for the rest of one session."""

    kinds: set[ToolKind] = field(default_factory=set[ToolKind])


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
