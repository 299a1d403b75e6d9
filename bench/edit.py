"""An agent edits a line of a long document that is open in the editor."""

import asyncio
import gc
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.measure import Limit, Row, in_turns
from bench.setting import Setting
from bench.texts import long_text
from lsp_agent.text.diff import diff
from lsp_agent.text.edits import TextEdit
from lsp_agent.text.lines import Text, split_lines
from lsp_agent.toolset.arguments import Replacement
from lsp_agent.toolset.editing import edit_text
from lsp_agent.workspace.changing.file_host import FileHost, View
from lsp_agent.workspace.disk.paths import Confinement
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Applied, EditorTraits
from lsp_agent.workspace.ledger.change import Origin
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews


class InstantEditor:
    """Applies what it is sent before it answers, and takes no time for it."""

    traits = EditorTraits(can_sync=True)

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def apply(
        self,
        uri: str,
        version: int | None,
        edits: Sequence[TextEdit],
        label: str,  # noqa: ARG002 - a real editor shows it
    ) -> Applied:
        changes = [
            {
                "range": {
                    "start": {"line": edit.start_line, "character": edit.start_column},
                    "end": {"line": edit.end_line, "character": edit.end_column},
                },
                "text": edit.new_text,
            }
            for edit in reversed(edits)
        ]
        self._documents.change(uri, (version or 0) + 1, changes)
        return Applied(True)

    async def sync(self, uri: str) -> None:
        """Holds nothing back."""

    async def save(self, uri: str) -> bool:
        raise NotImplementedError(f"nothing here saves {uri}")

    async def reload(self, uri: str) -> bool:
        raise NotImplementedError(f"nothing here reloads {uri}")


class _Bench:
    """Made in a loop, since the ledger and the host use one."""

    def __init__(self, folder: Path, ledger: Path, lines: int) -> None:
        self._lines = lines
        path = folder / "long.py"
        path.write_text(long_text(lines), encoding="utf-8")
        self._documents = Documents("utf-32")
        self.ledger = Ledger(str(ledger))
        self._host = FileHost(
            self._documents, InstantEditor(self._documents), self.ledger, Reviews(self.ledger)
        )
        self._path = Confinement([str(folder)]).confine(path.name, str(folder), write=True)
        self._documents.open(path.as_uri(), 1, long_text(lines))
        self._edited = lines // 2

    def diff(self) -> float:
        """The floor: the next edit's two texts, as any differ is given them."""
        before = self._text().content
        replacement = self._replacement()
        after = before.replace(replacement.old, replacement.new)
        gc.collect()
        begun = time.perf_counter()
        hunks = diff(split_lines(before), split_lines(after))
        milliseconds = 1000 * (time.perf_counter() - begun)
        assert len(hunks) == 1
        return milliseconds

    async def edit(self) -> float:
        replacement = self._replacement()
        self._edited += 1 + (self._edited % 10 == 0)

        def resolve(view: View) -> Text:
            return edit_text("long.py", view.require_text(), (replacement,))

        gc.collect()
        begun = time.perf_counter()
        placed = await self._host.replace(
            self._path, Origin("bench"), resolve, review="after", save="never"
        )
        milliseconds = 1000 * (time.perf_counter() - begun)
        assert placed.status == "applied"
        assert replacement.new in self._text().content
        return milliseconds

    def _text(self) -> Text:
        document = self._documents.at(self._path.path)
        assert document is not None
        return document.text

    def _replacement(self) -> Replacement:
        number = self._edited + (self._edited % 10 == 0)  # every tenth line is blank
        old = f"compute({number}, scale=1.5)"
        return Replacement(old, old.replace("1.5", "2.5"))


def edit(setting: Setting) -> Row:
    """From ``replace`` to the proof that the edit is in, recorded in the ledger. The floor is
    a diff of the two texts, from strings to hunks."""
    lines, rounds = setting.sizes.lines, 3 * setting.sizes.rounds
    with (
        tempfile.TemporaryDirectory(dir=setting.home) as ledger,
        asyncio.Runner() as runner,
    ):
        bench = runner.run(_made(setting.folder, Path(ledger), lines))
        floor, ours = in_turns(rounds, bench.diff, lambda: runner.run(bench.edit()))
        bench.ledger.close()
    what = f"edit in {lines:,} lines, to its diff"
    return Row("edit", what, "ms", floor, ours, Limit(times=1.5))


async def _made(folder: Path, ledger: Path, lines: int) -> _Bench:
    return _Bench(folder, ledger, lines)
