"""The shell's script that a held command is run by."""

import re
import shlex
from collections.abc import Sequence

#: What comes behind the script's path, for what the command said, and its exit code.
SAID, CODE = ".said", ".code"
#: In blocks of 512 bytes: the most that is kept of what it said.
_MOST_SAID = 2048
#: Behind a pipe, the last command's exit code stands for all.
_PIPE = re.compile(r"(?<![|\\])\|(?!\|)")
_TEE = f'command -p tee -a "$0{SAID}" 2>/dev/null'


def held_script(
    holder: Sequence[str],
    mount_points: Sequence[str],
    command: str,
    ask: str,
    seconds: float | None = None,
    unset: Sequence[str] = (),
) -> str:
    """Runs ``command`` in the shell that its first argument names, behind the words of ``holder``
    without the variables ``unset``; where it fails and ``ask``, shell words, exit with 0, once more
    as any other; one with a pipe asks in any case. One that is ended by a signal to its group says
    so where it may take so many ``seconds``.

    bubblewrap makes what it mounts on. What was not there before is taken away again, also when
    the command is ended; where it is not empty it stays. What the script itself starts is the
    system's (``command -p``): PATH may lead to what a held command has written. Where both
    streams are one, they stay in order; what passes them on lives until the command has ended.
    """
    run = f'"$1" -c {shlex.quote(command)}'
    away = f"command -p rmdir -- {shlex.join(mount_points)} 2>/dev/null" if mount_points else ":"
    keep = f"(trap '' HUP INT TERM XFSZ; ulimit -f {_MOST_SAID}; {_TEE})"
    ended = f"echo '[ended: it took longer than {seconds:g} s]'; " if seconds else ""
    without = f"unset -v {' '.join(unset)}" if unset else ":"
    failed = "" if _PIPE.search(command) else '[ "$code" -ne 0 ] && '
    return f"""ended=
trap ended=1 HUP INT TERM
held() {{  # in a shell of its own, as the first part of a pipe
    {without}
    {shlex.join(holder)} {run}
    echo $? >"$0{CODE}"
}}
if [ /dev/fd/1 -ef /dev/fd/2 ]; then
    held "$1" 2>&1 | {keep}
else
    {{ held "$1" 2>&1 >&3 3>&- | {keep} >&2 3>&-; }} 3>&1 | {keep}
fi
{away}
[ -z "$ended" ] || {{ {ended}exit 143; }}
read -r code <"$0{CODE}" || code=1
{failed}{ask} || exit "$code"
exec {run}
"""
