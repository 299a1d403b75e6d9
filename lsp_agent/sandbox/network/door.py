"""Where what starts a held command hands over the socket that the command reaches us by.

It connects, sends its ticket and the socket, and reads the variables that lead programs there. Its
connection stays open as long as the command runs. A ticket is taken once: the command itself, which
may come here as well, has none.
"""

import os
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from lsp_agent.sandbox.network.hosts import name_of, plain
from lsp_agent.sandbox.network.proxy import Proxy, accepted

_BACKLOG = 16
#: A held command may come here as often as it likes, and say nothing.
_MOST_GREETED = 16
_HELLO_SECONDS = 2.0
_TICKET_BYTES = 16
_LONGEST_HELLO = 256
_OWN = ("localhost", "127.0.0.1", "::1")


@dataclass(slots=True)
class Door:
    """Of one session's agent, at ``path``, in a folder that is this user's alone. ``tickets`` are
    those not taken yet, with who is told of a host that is refused; ``led`` counts commands."""

    path: str
    proxy: Proxy
    led: int = 0
    tickets: dict[str, Callable[[str], None]] = field(
        default_factory=dict[str, Callable[[str], None]]
    )

    def ticket(self, refused: Callable[[str], None]) -> str:
        made = secrets.token_hex(_TICKET_BYTES)
        self.tickets[made] = refused
        return made

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Until it is cancelled. Raises OSError where it cannot begin."""
        with socket.socket(socket.AF_UNIX) as listener:
            listener.setblocking(False)
            listener.bind(self.path)
            os.chmod(self.path, 0o600)  # noqa: PTH101
            listener.listen(_BACKLOG)
            async with anyio.create_task_group() as tasks:
                task_status.started()
                await self._accept(listener, tasks)

    async def _accept(self, listener: socket.socket, tasks: TaskGroup) -> None:
        greeted = anyio.Semaphore(_MOST_GREETED)
        while True:
            await greeted.acquire()
            tasks.start_soon(self._come, await accepted(listener), greeted)

    async def _come(self, connection: socket.socket, greeted: anyio.Semaphore) -> None:
        with connection, suppress(OSError):
            with anyio.move_on_after(_HELLO_SECONDS):
                await anyio.wait_readable(connection)
            greeted.release()
            ticket, handed, _, _ = socket.recv_fds(connection, _LONGEST_HELLO, 1)
            refused = self.tickets.pop(ticket.decode("latin-1"), None)
            if refused is None or not handed:
                for descriptor in handed:
                    os.close(descriptor)
                return
            with socket.socket(fileno=handed[0]) as listener:
                await self._lead(connection, listener, refused)

    async def _lead(
        self, connection: socket.socket, listener: socket.socket, refused: Callable[[str], None]
    ) -> None:
        """Until the other end of ``connection`` is closed."""
        listener.setblocking(False)
        token = secrets.token_hex(_TICKET_BYTES)
        port = listener.getsockname()[1]
        named = environment(port, token, self.proxy.named())
        connection.send("\n".join(f"{name}={value}" for name, value in named.items()).encode())
        connection.shutdown(socket.SHUT_WR)
        self.led += 1
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.proxy.serve, listener, token, refused)
                await anyio.wait_readable(connection)
                tasks.cancel_scope.cancel()
        finally:
            self.led -= 1


def environment(port: int, token: str, named: Sequence[str]) -> dict[str, str]:
    """In the words of as many programs as possible. What a command serves itself it reaches by
    itself."""
    address = f"http://held:{token}@127.0.0.1:{port}"
    own = ",".join(host for host in _OWN if host not in map(plain, map(name_of, named)))
    leading = {f"{scheme}_proxy": address for scheme in ("http", "https", "all")} | {
        "no_proxy": own
    }
    capitals = {name.upper(): value for name, value in leading.items()}
    return {**leading, **capitals, "NODE_USE_ENV_PROXY": "1"}
