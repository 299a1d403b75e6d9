"""Holds a command by sandbox-exec(1) of macOS. **Untried**: nobody has run it there.

So it is believed only once it has held a command that tries what it must not.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from lsp_agent.sandbox import trial
from lsp_agent.sandbox.hold import CannotHold, Hold, Place, lies_in

_PROGRAM = "/usr/bin/sandbox-exec"
#: A folder of the command's own, removed after it; then the folder to start in, and the profile.
_START = f"""
own=$(/usr/bin/mktemp -d /private/tmp/lsp-agent-held-XXXXXX) || exit 125
trap '/bin/rm -rf -- "$own"' EXIT
cd -- "$1" || exit 125
profile=$2
shift 2
TMPDIR=$own {_PROGRAM} -D "OWN=$own" -p "$profile" "$@"
"""
_TRIAL = "echo x >../outside; echo x >.git/x; cat ../hidden/key; echo x >inside; :"
_TRIAL_SECONDS = 10.0
#: Services that know secrets, and that start programs which nothing holds.
_SERVICES = ("com.apple.SecurityServer", "com.apple.securityd.xpc", "com.apple.pasteboard.1")
_DNS = "/private/var/run/mDNSResponder"
_FAILS = "sandbox-exec does not hold a command here ({fault})"


@dataclass(frozen=True, slots=True)
class Seatbelt:
    name = "sandbox-exec"
    by_rights = True
    has_way = False
    leads_agents = False

    def words(self, hold: Hold, cwd: str) -> list[str]:
        return ["/bin/sh", "-c", _START, "sh", cwd, profile(hold)]

    def mount_points(self, hold: Hold) -> list[str]:  # noqa: ARG002  it makes none
        return []


def working() -> Seatbelt:
    """Raises CannotHold where it does not hold what it should."""
    found = Seatbelt()
    if reason := fault(found):
        raise CannotHold(_FAILS.format(fault=reason))
    return found


def fault(holder: Seatbelt) -> str | None:
    """What it does not hold of a command that tries all, or why it cannot be tried."""
    if sys.platform != "darwin":
        return "this is not macOS"
    with tempfile.TemporaryDirectory() as made:
        base = Path(made).resolve()
        work, git, key = base / "work", base / "work" / ".git", base / "hidden" / "key"
        for folder in (git, key.parent):
            folder.mkdir(parents=True)
        key.write_text("seen")
        hold = Hold(
            folders=(str(work),),
            read_only=(Place(str(git), "folder"),),
            hidden=(Place(str(key.parent), "folder"),),
            network=False,
        )
        try:
            command = [*holder.words(hold, str(work)), "/bin/sh", "-c", _TRIAL]
            done = trial.run(command, _TRIAL_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if not (work / "inside").exists():
            return trial.words_of(done)
        escaped = (base / "outside").exists() or (git / "x").exists() or b"seen" in done.stdout
        return "it holds nothing" if escaped else None


def profile(hold: Hold) -> str:
    """In its language the last rule that fits counts."""
    return "\n".join(_rules(hold)) + "\n"


def _rules(hold: Hold) -> Iterator[str]:
    inner = [place for place in hold.hidden if lies_in(place.path, hold.folders)]
    outer = [place for place in hold.hidden if place not in inner]
    seen, written = (
        " ".join(f"(subpath {_text(folder)})" for folder in folders)
        for folders in (hold.folders, hold.written)
    )
    kept = (*hold.read_only, *(hold.store.spared if hold.store else ()))
    own = '(subpath (param "OWN"))'
    yield from ("(version 1)", "(allow default)", "(deny file-write*)")
    yield from ("(deny appleevent-send)", "(deny lsopen)", "(deny job-creation)")
    yield from ("(deny signal)", "(allow signal (target same-sandbox))")
    yield from (f'(deny mach-lookup (global-name "{name}"))' for name in _SERVICES)
    yield '(deny file-read* (subpath "/private/tmp"))'
    yield from (f"(deny file-read* (subpath {_text(place.path)}))" for place in outer)
    if hold.store:
        yield f"(allow file-read* {seen})"
    yield f"(allow file-read* file-write* {own} {written})"
    yield '(allow file-write* (literal "/dev/null") (literal "/dev/zero"))'
    for place in kept:
        yield f"(deny file-write* (subpath {_text(place.path)}))"
    yield from (f"(deny file-read* file-write* (subpath {_text(place.path)}))" for place in inner)
    # What is above cannot be put out of the way with it.
    above = {str(folder) for place in (*kept, *inner) for folder in _above(place, hold)}
    yield from (f"(deny file-write-unlink (literal {_text(path)}))" for path in sorted(above))
    if hold.network:
        yield "(deny network-outbound (remote unix-socket))"
        yield f"(allow network-outbound (literal {_text(_DNS)}))"
    else:
        yield "(deny network*)"


def _above(place: Place, hold: Hold) -> Iterator[PurePath]:
    for folder in PurePath(place.path).parents:
        if any(folder.is_relative_to(root) and str(folder) != root for root in hold.folders):
            yield folder


def _text(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
