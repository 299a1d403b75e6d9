"""The watch on the editor's process (``processId`` in ``initialize``)."""

import logging
import os
import sys

import anyio

_POLL_SECONDS = 0.5

log = logging.getLogger(__name__)


async def gone(process_id: int) -> None:
    """Returns when the process, alive now, has ended; a zombie counts as alive.

    Waits for ever where the process cannot be seen from here (an editor outside of our
    container), and on Windows, which has no harmless way to ask in the standard library:
    there the end of stdin alone ends the server.
    """
    if sys.platform == "win32" or not _alive(process_id):
        log.info("the client's process %d is not watched", process_id)
        await anyio.sleep_forever()
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
