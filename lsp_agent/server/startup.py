"""A quick start: no garbage collection while hundreds of classes are made.

``lsp_agent.server`` and this module import nothing of weight; who starts the server calls
``begun`` before it imports the rest.
"""

import gc


def begun() -> None:
    """Turns the garbage collector off, until ``finished``."""
    gc.disable()


def finished() -> None:
    """Turns it on again, and takes what has been made so far out of its sight."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
