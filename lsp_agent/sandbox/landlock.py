"""Holds a command by Landlock and seccomp, which the kernel has by itself (``starter/``)."""

import sys
from dataclasses import dataclass

from lsp_agent.sandbox import starting, trial
from lsp_agent.sandbox.hold import CannotHold, Hold

#: Others' files and sockets lie here; what a program needs of it is opened again.
_CLOSED = ("/tmp", "/var/tmp", "/run", "/dev")  # noqa: S108
_NEEDED = ("/run/current-system", "/run/systemd/resolve")
_TRIAL_SECONDS = 5.0
_FAILS = "Landlock needs Linux 6.12 or newer and Python on x86-64 or aarch64 ({fault})"


@dataclass(frozen=True, slots=True)
class Landlock:
    name = "Landlock"
    by_rights = True
    has_way = True
    leads_agents = False

    def words(self, hold: Hold, cwd: str) -> list[str]:
        hidden = [place.path for place in hold.hidden if place.kind == "folder"]
        closed = [place.path for place in hold.hidden if place.kind != "folder"]
        return [
            *(*starting.words("main"), f"in={cwd}"),
            *(f"write={folder}" for folder in hold.written),
            *(f"keep={place.path}" for place in hold.read_only),
            *(f"hide={path}" for path in hidden),
            *(f"close={path}" for path in (*closed, *_CLOSED)),
            *(f"open={path}" for path in (*_NEEDED, *(hold.folders if hold.store else ()))),
            *(["network"] if hold.network else []),
            *([f"door={hold.way.door}", f"ticket={hold.way.ticket}"] if hold.way else []),
            "--",
        ]

    def mount_points(self, hold: Hold) -> list[str]:  # noqa: ARG002  it makes none
        return []


def working() -> Landlock:
    """Raises CannotHold where this kernel cannot."""
    found = Landlock()
    if reason := fault(found):
        raise CannotHold(_FAILS.format(fault=reason))
    return found


def fault(holder: Landlock) -> str | None:
    """Why it cannot hold anything here. What killed commands have left is taken away first."""
    if sys.platform != "linux":
        return "this is not Linux"
    words = [*holder.words(trial.NOTHING, "/")[:-1], "tidy", "--", "true"]
    return trial.fault(words, _TRIAL_SECONDS)
