"""Code of a repository's that an agent would run by itself, and that no switch of its own stops.

opencode loads what lies in ``.opencode/plugin`` and ``.opencode/tool`` (both also in the plural) of
the folder it starts in and of those above, up to the repository's root (tried with 1.18.33, with
``OPENCODE_DISABLE_PROJECT_CONFIG`` and ``OPENCODE_PURE`` set).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lsp_agent.protocol.errors import RequestFailed

#: In an agent's ``env``, which only the person's own settings can set: it may run such code.
CONSENT = "LSP_AGENT_REPOSITORY_CODE"
_FOLDERS = ("plugin", "plugins", "tool", "tools")


def require_none(agent: str, command: Sequence[str], env: Mapping[str, str], cwd: str) -> None:
    """Blocking. :raises RequestFailed: "notConfigured" where there is such code"""
    if not any("opencode" in word for word in command) or env.get(CONSENT) == "1":
        return
    found = next(_code(Path(cwd)), None)
    if found is not None:
        raise RequestFailed(
            "notConfigured",
            f"{agent} would run the code in {found}, which the repository brings. Remove it, or"
            f' read it and set agents.{agent}.env.{CONSENT} = "1" in your own settings.',
            {"agent": agent},
        )


def _code(cwd: Path) -> Iterator[Path]:
    for folder in (cwd, *cwd.parents):
        for name in _FOLDERS:
            place = folder / ".opencode" / name
            if place.is_symlink() or (place.exists() and (not place.is_dir() or _holds(place))):
                yield place
        if (folder / ".git").exists():
            return


def _holds(place: Path) -> bool:
    return next(place.iterdir(), None) is not None
