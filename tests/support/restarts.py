"""One folder, one file in it, and runs of a server's workspace part one after the other."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.abc

from lsp_agent.text.lines import Text
from lsp_agent.workspace.changing.file_host import FileHost
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import EditorTraits
from lsp_agent.workspace.ledger.change import Origin
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.records import ChangeStatus
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.ledger.saves import Saves
from lsp_agent.workspace.recovery import Recovery

LINES = "one\ntwo\nthree\nfour\nfive\n"
TWO = LINES.replace("two", "TWO")
BOTH = TWO.replace("four", "FOUR")


class _NoEditor:
    traits = EditorTraits()

    async def apply(self, *_: object) -> None:
        raise AssertionError

    sync = save = reload = apply


class Run:
    """One run of a server on a folder with ``a.txt`` in it."""

    def __init__(self, folder: Path, ledger: Ledger, tasks: anyio.abc.TaskGroup) -> None:
        self.file = folder / "a.txt"
        self.ledger = ledger
        self.reviews = Reviews(ledger)
        self.documents = Documents()
        self.host = FileHost(self.documents, _NoEditor(), ledger, self.reviews)
        self.said: list[str] = []
        self._tasks = tasks
        self._saves = Saves(ledger, self.documents, tasks)
        self.recovery: Recovery | None = None

    async def start(self) -> None:
        await self.reviews.book.restore()
        self.recovery = Recovery(
            self.ledger, self.reviews, self.documents, self.host, self._tasks, self.said.append
        )

    async def judge(self) -> None:
        assert self.recovery
        await self.recovery.run()

    async def open(self, text: str) -> None:
        assert self.recovery
        uri = self.file.as_uri()
        self.documents.open(uri, 1, text)
        self.recovery.opened(uri)
        await settle()

    async def save(self, text: str, *, disk: str | None = None) -> None:
        assert self.recovery
        uri = self.file.as_uri()
        if self.documents.get(uri) is None:
            self.documents.open(uri, 1, text)
        self.file.write_text(text if disk is None else disk)
        self.documents.save(uri)
        await settle()

    async def change(
        self, before: str | None, after: str | None, status: ChangeStatus, *, on_disk: bool = False
    ) -> str:
        sides = [None if side is None else Text.of(side) for side in (before, after)]
        change = await self.ledger.record(Origin("s", "t"), str(self.file), *sides)
        if status != "pending":
            self.ledger.set_status(change.id, status)
        if on_disk:
            self.ledger.mark_on_disk([change.id])
        return change.id

    def statuses(self) -> list[str]:
        return [change.status for change in self.ledger.changes()]

    def marks(self, now: str) -> list[str]:
        review = self.reviews.current(str(self.file), Text.of(now))
        return ["".join(review.lines_of(hunk)) for hunk in review.hunks]


async def settle() -> None:
    for _ in range(50):
        await anyio.sleep(0.002)


@contextlib.asynccontextmanager
async def a_run(folder: Path) -> AsyncIterator[Run]:
    """Ends as a kill would: nothing is tidied up."""
    ledger = Ledger(str(folder / "ledger"))
    try:
        async with anyio.create_task_group() as tasks:
            run = Run(folder, ledger, tasks)
            await run.start()
            yield run
            tasks.cancel_scope.cancel()
    finally:
        ledger.close()
