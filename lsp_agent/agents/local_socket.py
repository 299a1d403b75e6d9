"""A local socket that is served within a task group.

asyncio's own server accepts in callbacks and tasks of its own, some rounds of the loop before the
first line of whoever serves the connection: at the end of the task group, or of the loop, such a
connection belonged to nobody. Here each one has its task from the moment it is accepted.
"""

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

Handler = Callable[[StreamReader, StreamWriter], Awaitable[None]]

_BACKLOG = 100
#: Until the next try where a connection cannot be accepted: no descriptor is free, for example.
_RETRY_SECONDS = 0.1


@contextmanager
def listening(path: Path) -> Generator[socket.socket]:
    """A socket that only this user may connect to. Who is not accepted at its end is let go."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.setblocking(False)
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(_BACKLOG)
        yield listener


async def accept(listener: socket.socket, tasks: TaskGroup, handler: Handler) -> None:
    """Serves each connection in a task of ``tasks``; ``handler`` closes its writer."""
    while True:
        # Only this waits, and nothing is accepted in it: a cancel loses no connection.
        await anyio.wait_readable(listener)
        try:
            connection, _ = listener.accept()
        except OSError:
            await anyio.sleep(_RETRY_SECONDS)
        else:
            tasks.start_soon(_serve, connection, handler)


async def _serve(connection: socket.socket, handler: Handler) -> None:
    with anyio.CancelScope(shield=True) as opening:  # a few rounds of the loop
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        opening.shield = False  # from here on the handler closes it
        await handler(reader, writer)
