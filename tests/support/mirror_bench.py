"""A workspace folder, an editor that may reload what changes on disk, and a session that looks.

Times are real and short: looking happens in threads.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

from lsp_agent.text.lines import Text
from lsp_agent.workspace.changing.file_host import FileHost, Origin, View
from lsp_agent.workspace.disk.paths import Confinement, path_to_uri
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import EditorTraits
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.mirror.disk_change import Brought, DiskChange, Waits
from lsp_agent.workspace.mirror.mirror import Mirror
from lsp_agent.workspace.mirror.watcher import Known
from lsp_agent.workspace.placing.flight import Timings
from support.scripted_editor import Policy, ScriptedEditor

WAITS = Waits(reload=0.2, save=0.05, saved=0.1, busy=0.4, reloaded=0.2)
QUICK = Timings(tick=0.01, align_within=0.03, align_wait=0.04, quiet=0.08, unknown=0.6, late=5.0)
PLAIN = Policy("plain")
TEXT = "one\ntwo\nthree\nfour\nfive\n"
ORIGIN = Origin("s1", "t1", "c1", "agent: bash")

Style = Literal["a change", "a new didOpen"]


class MirrorEditor(ScriptedEditor):
    """``disk`` is what it last read or wrote. A clean buffer is reloaded ``reloads`` seconds
    after the disk has changed, if it still is clean then."""

    disk: str = ""
    reloads: float | None = None
    style: Style = "a change"
    line_ends: Literal["as on disk", "apart"] = "as on disk"
    asked_to_reload = 0

    def shown(self, data: bytes) -> str:
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
        return text.replace("\r\n", "\n") if self.line_ends == "apart" else text

    @property
    def clean(self) -> bool:
        return self.buffer.text == self.disk

    def load(self, path: Path) -> None:
        """Takes the text on disk, as a reload does."""
        self.disk = self.shown(path.read_bytes())
        if self.buffer.text == self.disk:
            return
        if self.style == "a change":
            self.buffer.replace(0, len(self.buffer.text), self.disk)
            self._sometime(restart=True)
            return
        self.buffer.text = self.disk
        self.buffer.version = self.policy.first_version
        self._send(lambda: self.documents.close(self.uri))
        self._send(lambda: self.documents.open(self.uri, self.buffer.version, self.disk))

    async def reload(self, uri: str) -> bool:
        self.asked_to_reload += 1
        await asyncio.sleep(self.policy.travel)
        self.load(Path(uri.removeprefix("file://")))
        return True


class MirrorBench:
    """``a.py`` holds ``TEXT``; ``known`` is what the session knows of the disk."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "w"
        self.root.mkdir()
        self.file = self.root / "a.py"
        self.file.write_bytes(TEXT.encode())
        self.documents = Documents()
        self.ledger = Ledger(str(folder / "ledger"))
        self.editor: MirrorEditor | None = None
        self.known = Known()
        self.origin = ORIGIN
        self.wanted = True
        self._stack = ExitStack()
        self._connect(None)

    def _connect(self, editor: MirrorEditor | None) -> None:
        port = editor or _NoEditor()
        self.reviews = Reviews(self.ledger)
        self.host = FileHost(self.documents, port, self.ledger, self.reviews, QUICK)
        self.mirror = Mirror(self.documents, port, self.host, self.ledger, self.reviews, WAITS)
        self._stack.close()
        self._stack.enter_context(self.mirror.watching())

    def close(self) -> None:
        self._stack.close()
        self.ledger.close()

    async def open(
        self,
        text: str | None = None,
        *,
        policy: Policy = PLAIN,
        reloads: float | None = None,
        style: Style = "a change",
        line_ends: Literal["as on disk", "apart"] = "as on disk",
    ) -> MirrorEditor:
        """``text`` is unsaved text that the editor restored."""
        data = self.file.read_bytes() if self.file.exists() else b""
        MirrorEditor.line_ends = "as on disk"
        shown = data.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
        shown = shown.replace("\r\n", "\n") if line_ends == "apart" else shown
        uri = path_to_uri(str(self.file))
        editor = MirrorEditor(
            self.documents, uri, shown if text is None else text, policy, on_save=self._save
        )
        editor.disk, editor.reloads, editor.style = shown, reloads, style
        editor.line_ends = line_ends
        self.editor = editor
        self._connect(editor)
        await self.document.compared()
        return editor

    def _save(self, text: str) -> None:
        self.file.write_bytes(text.encode())
        if self.editor:
            self.editor.disk = text

    @property
    def document(self) -> OpenDocument:
        document = self.documents.at(str(self.file))
        assert document is not None
        return document

    @property
    def shown(self) -> str:
        return self.document.text.content

    def path(self, name: str) -> str:
        return str(self.root / name)

    # The agent's side

    async def before(self, *names: str) -> None:
        """What is on disk before a call is not the agent's."""
        await self.look(*names, claim=False)

    def writes(self, content: str | bytes, name: str = "a.py") -> None:
        """The agent writes the disk itself; the editor may see it."""
        path = self.root / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        editor = self.editor
        if editor is not None and editor.reloads is not None and path == self.file:

            def reload() -> None:
                if editor.clean:
                    editor.load(path)

            asyncio.get_running_loop().call_later(editor.reloads, reload)

    async def look(self, *names: str, claim: bool = True) -> list[DiskChange]:
        paths = [self.path(name) for name in names or ("a.py",)]
        return await self.mirror.look(self.known, paths, paths, claim=lambda _: claim)

    async def after(self, *names: str) -> list[Brought]:
        """What the call has changed is brought in."""
        changes = await self.look(*names)
        taken = [
            self.mirror.take(change, self.origin, still_wanted=lambda: self.wanted)
            for change in changes
        ]
        return list(await asyncio.gather(*taken))

    async def agent(self, content: str | bytes) -> list[Brought]:
        """One call that writes a.py."""
        await self.before()
        self.writes(content)
        return await self.after()

    # What came of it

    def changes(self) -> list[Change]:
        return self.ledger.changes()

    async def texts(self) -> list[tuple[str, str | None, str | None]]:
        """Of each change: status, before, after."""
        found: list[tuple[str, str | None, str | None]] = []
        for change in self.ledger.changes():
            full = await self.ledger.loaded(change.id)
            found.append((full.status, _content(full.before), _content(full.after)))
        return found

    async def hosted_edit(self, old: str, new: str) -> None:
        def resolve(view: View) -> Text:
            text = view.require_text()
            return Text.of(text.content.replace(old, new), like=text)

        path = Confinement([str(self.root)]).confine("a.py", str(self.root), write=True)
        await self.host.replace(path, Origin("s2"), resolve, review="after", save="clean")


def _content(text: Text | None) -> str | None:
    return None if text is None else text.content


class _NoEditor:
    """Nothing is open, so nothing may be asked of it."""

    traits = EditorTraits()

    async def apply(self, *_: Any, **__: Any) -> Any:
        raise AssertionError

    sync = save = reload = apply


async def eventually(what: Callable[[], bool], seconds: float = 3.0) -> bool:
    for _ in range(round(seconds / 0.01)):
        if what():
            break
        await asyncio.sleep(0.01)
    return what()


def backdate(path: Path, seconds: float = 10.0) -> None:
    """As if it had been written some time ago, so that its stamp can be trusted."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - int(seconds * 1e9)))
