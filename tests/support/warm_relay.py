"""``lsp-agent`` as an editor starts it, without its imports: hands its standard descriptors to a
process that is forked by the tests (``warm_door.py``), and ends as that does.

Arguments: the address of the door, and the command's. Few imports, as it is there for speed.
"""

import _socket
import array
import json
import os
import signal
import sys


def pass_on(number: int, _frame: object) -> None:
    try:  # noqa: SIM105 - contextlib would be one more import
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # its exit code is on its way


request = {
    "arguments": sys.argv[2:],
    "cwd": os.getcwd(),  # noqa: PTH109 - so would pathlib
    "env": dict(os.environ),
    "umask": os.umask(0o077),
}
ended, tells = os.pipe()
door = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
door.connect(sys.argv[1])
descriptors = array.array("i", [0, 1, 2, tells])
rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)]
door.sendmsg([json.dumps(request).encode()], rights)
pid = int(door.recv(64))
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, pass_on)
for descriptor in (0, 1, 2, tells):
    os.close(descriptor)
code = int(os.read(ended, 64) or -signal.SIGKILL)
if code >= 0:
    os._exit(code)
if code != -signal.SIGKILL:
    signal.signal(-code, signal.SIG_DFL)
os.kill(os.getpid(), -code)
