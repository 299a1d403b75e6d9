"""Run as a process: an agent's change of a closed file that is killed (-9) at one point.

crash_job.py FOLDER POINT CREATE|CHANGE|DELETE
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.restarts import LINES, TWO, a_run

from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.workspace.changing.file_host import Origin
from lsp_agent.workspace.disk import files
from lsp_agent.workspace.disk.paths import SafePath
from lsp_agent.workspace.ledger.ledger import Ledger


def die(*_args: object, **_more: object) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at_ours(source: str, *args: Any, **more: Any) -> None:
    """In place of ``os.replace``, which the journal needs too."""
    if str(source).startswith(".lsp-agent-"):
        die()
    os.rename(source, *args, **more)  # noqa: PTH104


def die_half_way(descriptor: int, data: bytes) -> None:
    os.write(descriptor, data[: len(data) // 2])
    die()


def put(module: Any, death: Callable[..., Any], *names: str) -> None:
    for name in names:
        setattr(module, name, death)


#: Each puts the death in place; in the order in which the edit passes them.
POINTS: dict[str, Callable[[], None]] = {
    "before it is recorded": lambda: put(Ledger, die, "record"),
    "before anything is written": lambda: put(files, die, "_replace", "remove"),
    "the temporary file is empty": lambda: put(files, die, "_write_all"),
    "the temporary file is half written": lambda: put(files, die_half_way, "_write_all"),
    "the temporary file is whole": lambda: put(os, die, "fsync"),
    "before the rename": lambda: put(os, die_at_ours, "replace", "link"),
    "after the rename": lambda: put(files, die, "_sync_folder"),
    "before its status is told": lambda: put(Ledger, die, "set_status"),
    "before it is noted to be on disk": lambda: put(Ledger, die, "mark_on_disk"),
    "after all of it": lambda: None,
}


async def main(folder: Path, point: str, what: str) -> None:
    async with a_run(folder) as run:
        after = {"create": LINES, "change": TWO, "delete": None}[what]
        if what != "create":
            run.file.write_text(LINES)
        POINTS[point]()
        await run.host.replace(
            SafePath(str(run.file), "a.txt"),
            Origin("s", "t"),
            lambda _view: EMPTY if after is None else Text.of(after),
            review="after",
            save="clean",
            deletes=after is None,
        )
        die()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
