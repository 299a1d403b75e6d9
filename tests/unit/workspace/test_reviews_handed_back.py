"""Whose a hunk is once the change that took it over was taken out of the file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_agent.text.lines import Text
from lsp_agent.workspace.ledger.change import Origin
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews


class File:
    """What one file shows, its ledger and its review."""

    def __init__(self, folder: Path, content: str) -> None:
        self.ledger = Ledger(str(folder / "ledger"))
        self.reviews = Reviews(self.ledger)
        self.path = str(folder / "a")
        self.text = Text.of(content)

    async def edited(self, content: str) -> str:
        """An agent's change; returns its id."""
        before, self.text = self.text, Text.of(content)
        change = await self.ledger.record(Origin("s"), self.path, before, self.text, "applied")
        return change.id

    def typed(self, content: str) -> None:
        self.text = Text.of(content)

    async def reverted(self, content: str, *ids: str) -> None:
        """These changes are taken out, which makes ``content`` of the file."""
        before, self.text = self.text, Text.of(content)
        await self.ledger.record(Origin("s", "r-1"), self.path, before, self.text, "kept")
        for change_id in ids:
            self.ledger.set_status(change_id, "rejected")

    def open(self) -> list[tuple[str, str]]:
        """Of each open hunk its change and what undoing it alone makes of the file."""
        review = self.reviews.current(self.path, self.text)
        return [(h.change_id, review.undo([h.key]).text.content) for h in review.hunks]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    file = File(tmp_path, "a\nb\nc\nd\n")
    yield file
    file.ledger.close()


@pytest.mark.asyncio
async def test_a_change_that_was_taken_over_is_open_again_once_the_later_one_is_out(
    file: File,
) -> None:
    earlier = await file.edited("a\nB\nc\nd\n")
    later = await file.edited("a\nB2\nc\nd\n")
    await file.reverted("a\nB\nc\nd\n", later)
    assert file.open() == [(earlier, "a\nb\nc\nd\n")]


@pytest.mark.asyncio
async def test_a_change_stays_open_where_a_revert_joined_its_hunk_to_an_older_ones(
    file: File,
) -> None:
    older = await file.edited("A\nb\nc\nd\n")
    stays = await file.edited("A\nB\nc\nd\n")
    newer = await file.edited("A\nB2\nc\nd\n")
    await file.reverted("a\nB\nc\nd\n", older, newer)
    assert file.open() == [(stays, "a\nb\nc\nd\n")]


@pytest.mark.asyncio
async def test_each_hunk_goes_back_to_the_change_that_it_took_over_and_to_no_other(
    file: File,
) -> None:
    stays = await file.edited("a\nb\nc\nD\n")
    one = await file.edited("A\nb\nc\nD\n")
    other = await file.edited("A\nb\nc\nD2\n")
    file.typed("Amine\nb\nc\nD2\n")
    await file.reverted("amine\nb\nc\nD\n", one, other)
    assert file.open() == [(stays, "amine\nb\nc\nd\n")]
