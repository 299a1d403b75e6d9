"""A quick start: no garbage collection while hundreds of classes are made, and its signals.

``lsp_agent.server`` and this module import nothing of weight; who starts the server calls
``begun`` before it imports the rest.
"""

import gc
import os
import signal
import sys
from typing import NoReturn


def begun() -> None:
    """Turns the garbage collector off, until ``finished``."""
    gc.disable()


def ends_on_signal() -> None:
    """Until the loop takes signals there is nothing to clean up: one ends the process as it does
    later, with exit code 1."""
    if sys.platform != "win32":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _exit)


def _exit(_number: int, _frame: object) -> NoReturn:
    os._exit(1)  # an exception could be taken for a failed import, and be told at length


def finished() -> None:
    """Turns it on again, and takes what has been made so far out of its sight."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
