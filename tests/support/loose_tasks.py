"""In place of a task group, whose tasks must be started by a task: what a scripted editor tells
comes by a timer of the loop."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class LooseTasks:
    """Their failures are the loop's."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start_soon(self, work: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None:
        task = asyncio.get_running_loop().create_task(work(*args))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
