"""An agent that starts processes of every kind that likes to stay, and answers when it has.

    spawner.py TAG

Lines: ``{"do": "spawn"}``, ``echo``, ``flood`` (for ``bytes``), ``garbage``, ``stderr``,
``close`` (its stdout), ``hang`` (reads no more), ``exit``.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

STAY = 'trap "" TERM HUP INT; sleep 600 & wait; sleep 600'


def spawn(tag):
    """A plain one, a TERM-ignoring one in its own group, a setsid one, a double-forked one, and
    one that knows nothing of its past."""
    shell = ["/bin/sh", "-c", STAY, tag]
    subprocess.Popen(shell)
    subprocess.Popen(shell, process_group=0)
    subprocess.Popen(shell, start_new_session=True)
    subprocess.call(["/bin/sh", "-c", f"(setsid /bin/sh -c '{STAY}' {tag} &) & exit 0"])
    subprocess.call(
        ["/bin/sh", "-c", f"(env -i TAG={tag} setsid /bin/sh -c '{STAY}' {tag} &) & exit 0"]
    )
    time.sleep(0.15)


def say(**frame):
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def main():
    tag = sys.argv[1]
    say(ready=True)
    for line in sys.stdin:
        frame = json.loads(line)
        match frame["do"]:
            case "spawn":
                spawn(tag)
                say(spawned=True)
            case "spawn one":
                subprocess.Popen(["/bin/sh", "-c", STAY, tag], start_new_session=True)
                time.sleep(0.1)
                say(spawned=True)
            case "echo":
                say(**frame)
            case "facts":
                say(
                    cwd=str(Path.cwd()),
                    given=os.environ.get("GIVEN"),
                    descriptors=sorted(int(fd.name) for fd in Path("/proc/self/fd").iterdir())[:-1],
                    defaults=[
                        signal.getsignal(number) == signal.SIG_DFL
                        for number in (signal.SIGTERM, signal.SIGHUP)
                    ],
                )
            case "flood":
                chunk = (json.dumps({"text": "x" * 1000}) + "\n") * 1000
                for _ in range(frame["bytes"] // len(chunk)):
                    sys.stdout.write(chunk)
                say(flooded=True)
            case "garbage":
                sys.stdout.buffer.write(frame["text"].encode("latin-1"))
                sys.stdout.flush()
            case "stderr":
                sys.stderr.write(frame["text"])
                sys.stderr.flush()
                say(written=True)
            case "close":
                sys.stdout.flush()
                os.close(1)
            case "hang":
                signal.pause()
            case "exit":
                sys.stdout.flush()
                os._exit(frame["code"])


main()
if "--stay" in sys.argv:
    time.sleep(600)
