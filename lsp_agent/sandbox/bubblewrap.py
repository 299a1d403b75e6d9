"""Holds a command by bubblewrap (https://github.com/containers/bubblewrap, its bwrap(1))."""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsp_agent.sandbox import starting, trial
from lsp_agent.sandbox.hold import CannotHold, Hold, Place, Store, lies_in
from lsp_agent.sandbox.starter.temporary import caches_at_home

#: Not the person's PATH, on which a repository may have put a folder of its own.
_PROGRAMS = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin"
_TEMPORARY = "/tmp"  # noqa: S108  a place in the sandbox, as those below
#: Emptied for each command: of sockets and what others keep there.
_OWN = (_TEMPORARY, "/var/tmp", "/run")  # noqa: S108
#: Of the above what programs need to be started, and to find a host's address.
_NEEDED = ("/run/current-system", "/run/systemd/resolve")

#: In the sandbox; its own ``/run`` is there in any case.
_DOOR = "/run/lsp-agent/door"

_TRIAL_SECONDS = 2.5

NEEDED = "install bubblewrap 0.8 or newer (the program bwrap)"
_FAILS = (
    "bubblewrap fails ({fault}); it needs version 0.8 or newer, and the right to make namespaces,"
    " which the system's administrator gives"
)


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    program: str
    name = "bubblewrap"
    by_rights = False
    has_way = True
    leads_agents = True

    def words(self, hold: Hold, cwd: str) -> list[str]:
        return arguments(self.program, hold, cwd)

    def mount_points(self, hold: Hold) -> list[str]:
        spared = hold.store.spared if hold.store else ()
        return [place.path for place in (*hold.read_only, *spared) if place.kind == "missing"]


def working() -> Bubblewrap:
    """Raises CannotHold where it is missing or fails."""
    found = program()
    if found is None:
        raise CannotHold(NEEDED)
    if reason := fault(found):
        raise CannotHold(_FAILS.format(fault=reason))
    return Bubblewrap(found)


def program() -> str | None:
    """Where it is, if it is installed."""
    return shutil.which("bwrap", path=_PROGRAMS)


def fault(program: str) -> str | None:
    """Why it cannot hold anything here. Tried on nothing of the person's, since what it mounts on
    would stay there."""
    return trial.fault([*arguments(program, trial.NOTHING, "/"), "true"], _TRIAL_SECONDS)


def arguments(bwrap: str, hold: Hold, cwd: str) -> list[str]:
    """What goes before the command. A later mount covers an earlier one, so the order counts:
    a folder may lie in what is hidden, and what is hidden in a folder."""
    hidden = _outermost(hold.hidden)
    outer = [place for place in hidden if not lies_in(place.path, hold.folders)]
    inner = [place for place in hidden if lies_in(place.path, hold.folders)]
    bind = "--ro-bind" if hold.store else "--bind"
    return [
        *(bwrap, "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        # As root of one of its own a command could put the mounts below out of its way.
        *("--unshare-user", "--disable-userns"),
        *([] if hold.network else ["--unshare-net"]),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *(word for path in _OWN for word in ("--tmpfs", path)),
        *(word for path in _NEEDED for word in ("--ro-bind-try", path, path)),
        *(word for place in outer for word in _hidden(place)),
        *(word for folder in hold.folders for word in (bind, folder, folder)),
        *(word for folder in _above(hold) for word in (bind, folder, folder)),
        *(_written_alone(hold.store) if hold.store else []),
        *(word for place in hold.read_only for word in _read_only(place)),
        *(word for place in inner for word in _hidden(place)),
        # Last, since what lies in it needs a place to be mounted on.
        *(word for place in hidden if place.kind == "folder" for word in _sealed(place)),
        *(["--ro-bind", hold.way.door, _DOOR] if hold.way else []),
        *("--setenv", "TMPDIR", _TEMPORARY),
        *(
            word
            for cache in caches_at_home(_TEMPORARY, os.environ).items()
            for word in ("--setenv", *cache)
        ),
        *("--chdir", cwd, "--"),
        *([*starting.words("network"), _DOOR, hold.way.ticket] if hold.way else []),
    ]


def _above(hold: Hold) -> Iterator[str]:
    """The folders between a workspace folder and what is held in it: as mounts of their own they
    cannot be renamed, which would put what is held out of the way."""
    held = [*hold.read_only, *hold.hidden]
    found: set[str] = set()
    for folder in hold.folders:
        for place in held:
            parent = place.path.rpartition("/")[0]
            while parent != folder and lies_in(parent, [folder]):
                found.add(parent)
                parent = parent.rpartition("/")[0]
    return iter(sorted(found))


def _written_alone(store: Store) -> list[str]:
    """As a mount of its own it cannot be renamed."""
    spared = [word for place in store.spared for word in _read_only(place)]
    return ["--bind", store.path, store.path, *spared]


def _hidden(place: Place) -> list[str]:
    if place.kind == "file":
        return ["--ro-bind", "/dev/null", place.path]
    return ["--tmpfs", place.path]


def _sealed(place: Place) -> list[str]:
    return ["--remount-ro", place.path]


def _outermost(places: Sequence[Place]) -> list[Place]:
    """Without those that lie in another."""
    folders = {place.path for place in places if place.kind == "folder"}
    return [place for place in places if not lies_in(place.path, [*folders - {place.path}])]


def _read_only(place: Place) -> list[str]:
    if place.kind == "missing":
        return ["--tmpfs", place.path, *_sealed(place)]
    return ["--ro-bind", place.path, place.path]
