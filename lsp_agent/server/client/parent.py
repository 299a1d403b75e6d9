"""The watch on the editor's process (``processId`` in ``initialize``)."""

import os
import sys

_POLL_SECONDS = 0.5


def can_watch(process_id: int) -> bool:
    """Whether the process can be seen from here, now that it is certainly alive.

    Not so for an editor outside of our container, and on Windows, which has no harmless way to
    ask in the standard library: there the end of stdin alone ends the server.
    """
    return sys.platform != "win32" and _alive(process_id)


async def gone(process_id: int) -> None:
    """Returns when the process has ended; a zombie counts as alive."""
    import anyio  # noqa: PLC0415  not before the first answer (welcome.py)

    while _alive(process_id):  # noqa: ASYNC110 - there is no event for another's process
        await anyio.sleep(_POLL_SECONDS)


def _alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
