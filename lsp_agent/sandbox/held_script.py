"""The shell's script that a held command is run by."""

import shlex
from collections.abc import Sequence

#: What comes behind the script's path, for what the command said to its standard error, and its
#: exit code.
SAID, CODE = ".said", ".code"
#: In blocks of 512 bytes: the most that is kept of what it said.
_MOST_SAID = 2048


def held_script(
    holder: Sequence[str],
    mount_points: Sequence[str],
    command: str,
    ask: str,
    seconds: float | None = None,
) -> str:
    """Runs ``command`` in the shell that its first argument names, behind the words of ``holder``;
    where it fails and ``ask``, shell words, exit with 0, once more without them. One that is ended
    by a signal to its group says so where it may take so many ``seconds``.

    bubblewrap makes what it mounts on. What was not there before is taken away again, also when
    the command is ended; where it is not empty it stays. What the script itself starts is the
    system's (``command -p``): PATH may lead to what a held command has written.
    """
    run = f'"$1" -c {shlex.quote(command)}'
    away = f"command -p rmdir -- {shlex.join(mount_points)} 2>/dev/null" if mount_points else ":"
    ended = f"echo '[ended: it took longer than {seconds:g} s]'; " if seconds else ""
    return f"""ended=
trap ended=1 HUP INT TERM
{{
    {{
        {shlex.join(holder)} {run}
        echo $? >"$0{CODE}"
    }} 2>&1 >&3 3>&- |
        (trap '' XFSZ; ulimit -f {_MOST_SAID}; command -p tee "$0{SAID}" >&2 2>/dev/null)
}} 3>&1
{away}
[ -z "$ended" ] || {{ {ended}exit 143; }}
read -r code <"$0{CODE}" || code=1
[ "$code" -ne 0 ] && {ask} || exit "$code"
exec {run}
"""
