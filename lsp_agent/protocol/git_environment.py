"""What any git that is run by us, or by an agent that we started, is told by its environment.

Of a repository's own configuration git runs much: monitors, hooks, pagers. What an environment
says stands above it, and is added to what the person's already says. One that only looks does not
write its index on the way.
"""

from collections.abc import Mapping

_COUNT = "GIT_CONFIG_COUNT"
#: For every git: nothing that a person would miss. Without ``explicit`` any folder of the workspace
#: could be a repository, with a configuration that is a file like others.
_ALWAYS = (
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", ""),
    ("diff.submodule", "short"),
    ("diff.autoRefreshIndex", "false"),
    ("log.showSignature", "false"),
)
#: For a git that nobody has read: hooks may lie in the workspace, where an agent edits them, and
#: what tidies up goes on beyond it.
_UNREAD = (("core.hooksPath", "/dev/null"), ("maintenance.auto", "false"), ("gc.auto", "0"))


def git_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What to add to ``environment``. What is for a command that nobody has read is there as well,
    but counts only with :func:`unread`."""
    first = _count(environment)
    told = {_COUNT: str(first + len(_ALWAYS)), "GIT_PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0"}
    for number, (key, value) in enumerate(_ALWAYS + _UNREAD, first):
        told |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return told


def unread(environment: Mapping[str, str]) -> tuple[str, str]:
    """The variable, with its value, that makes the rest count too in an ``environment`` that has
    what :func:`git_environment` says."""
    return _COUNT, str(_count(environment) + len(_UNREAD))


def _count(environment: Mapping[str, str]) -> int:
    given = environment.get(_COUNT, "")
    return int(given) if given.isdecimal() else 0
