"""One file in one state, and all that an edit of it goes through, in virtual time."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
from anyio.abc import TaskGroup
from matrix_clients import CLIENTS, Client, ClientEditor
from matrix_model import AGENTS, WORDS, Cell, agents_bytes, agents_text, start, typed
from support.scripted_editor import Point, ScriptedEditor, VirtualClock
from support.storm_world import Desk

from lsp_agent.protocol.errors import LspAgentError, RequestFailed
from lsp_agent.protocol.questions import Answer
from lsp_agent.protocol.settings.settings import EditSettings, Settings
from lsp_agent.sessions.files.hosted_tools import HostedTools
from lsp_agent.sessions.shared.covers import Covers
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.toolset.calls import Block, ToolRequest
from lsp_agent.workspace.changing.file_host import FileHost
from lsp_agent.workspace.disk.paths import Confinement, path_to_uri
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Editor
from lsp_agent.workspace.ledger.change import Origin
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.mirror.disk_change import Brought, DiskChange
from lsp_agent.workspace.mirror.mirror import Mirror
from lsp_agent.workspace.mirror.watcher import Known
from lsp_agent.workspace.review.edits import Edits

#: Seconds after which a client has done all that it does by itself.
RESTS = 5.0


class Bench:
    """One file in one state, and all that an edit of it goes through."""

    def __init__(
        self,
        folder: Path,
        cell: Cell,
        clock: VirtualClock,
        tasks: TaskGroup,
        client: Client = CLIENTS[0],
    ) -> None:
        self.client = client
        self.keys: Callable[[ScriptedEditor, Point, int], None] = lambda *_: None
        self.before_take: Callable[[], None] = lambda: None
        self.caller = anyio.CancelScope()
        self.wanted = True
        self.known = Known()
        self.answered = ""
        self.cell = cell
        self.root = folder / "w"
        self.root.mkdir()
        self.named = self.file = self.root / "doc.txt"
        self._on_disk(folder)
        self.documents = Documents("utf-16", clock)
        self.desk = Desk(client.policy)
        editor = cast(Editor, self.desk)
        self.ledger = Ledger(str(folder / "ledger"))
        reviews = Reviews(self.ledger)
        self.host = FileHost(self.documents, editor, self.ledger, reviews)
        self.mirror = Mirror(self.documents, editor, self.host, self.ledger, reviews)
        review = cast(Any, cell.review.partition(":")[0])
        settings = Settings(edits=EditSettings(review=review, save="clean"))
        self.edits = Edits(self.ledger, self.host, self.documents, reviews, lambda _: settings)
        confinement = Confinement([str(self.root)])

        async def declined(*_: object, **__: object) -> Answer:
            return Answer("deny" if cell.review == "before: rejected" else "allow")

        services = SimpleNamespace(
            documents=self.documents,
            editor=editor,
            host=self.host,
            ledger=self.ledger,
            edits=self.edits,
            questions=SimpleNamespace(ask=declined),
            folders=lambda: [str(self.root)],
            confinement=lambda _: confinement,
            tasks=tasks,
            diagnostics=None,
            covers=Covers(list),
        )
        turn = Turn("t1", "", "")

        class View(SessionView):
            def still_wanted(_) -> Callable[[], bool]:
                return lambda: self.wanted

        view = View("s1", str(self.root), lambda *_: None, lambda: settings, lambda: turn, "a")
        self.tools = HostedTools(
            cast(Any, services), view, lambda: cell.way == "hosted", lambda: False
        )

    def _on_disk(self, folder: Path) -> None:
        data = start(self.cell.state)
        if self.cell.state == "symlink inside":
            self.file = self.root / "real.txt"
        elif self.cell.state == "symlink outside":
            self.file = folder / "outside.txt"
        if data is not None:
            self.file.write_bytes(data)
        if self.file != self.named:
            self.named.symlink_to(self.file)
        if self.cell.state == "hard link":
            os.link(self.file, self.root / "other.txt")
        if self.cell.state == "read-only":
            self.file.chmod(0o444)

    def open(self) -> None:
        """The editor shows the file, and the person has typed or not."""
        wanted = typed(self.cell.state)
        if wanted is None:
            return
        text = self.file.read_bytes().decode()
        uri = path_to_uri(str(self.file))
        editor = self.desk.shown = ClientEditor(
            self.documents, uri, text, self.client, self.file, self._press
        )
        for old, new in zip(text.splitlines(), wanted.splitlines(), strict=True):
            if old != new:
                at = editor.buffer.text.index(old)
                editor.buffer.replace(at, at + len(old), new)
        editor.flush()

    def _press(self, editor: ScriptedEditor, point: Point, send: int) -> None:
        self.keys(editor, point, send)

    async def call(self, tool: str, **args: object) -> str | None:
        """What the agent is told if the call fails."""
        request = ToolRequest(tool, {"path": "doc.txt", **args}, "c1")
        try:
            answer = await self.tools.run(request)
            self.answered = answer.text
        except LspAgentError as error:  # the bridge answers with it
            return str(error)
        return answer.text if answer.is_error else None

    async def hosted(self) -> str | None:
        if self.cell.action == "edit":
            self.open()
            await self._settle()
            pairs = [{"oldText": WORDS[index], "newText": new} for index, new in AGENTS.items()]
            return await self.call("edit", edits=pairs)
        if self.cell.action == "write":
            await self.call("read")
        self.open()
        await self._settle()
        return await self.call("write", content=agents_text(self.cell.state))

    async def decide(self) -> str | None:
        """What the person is told if the decision cannot be carried out."""
        try:
            await self._decide(self.cell.review.partition(": ")[2])
        except RequestFailed as error:
            return str(error)
        return None

    async def _decide(self, what: str) -> None:
        for edit in await self.edits.find():
            if what == "accepted":
                await self.edits.apply(edit.edit_id)
            elif what == "rejected":
                await self.edits.reject(edit.edit_id)
            elif what == "partly":
                await self.edits.apply(edit.edit_id, ["0"])
                rest = [hunk.hunk_id for hunk in edit.hunks[1:]]
                if rest:
                    await self.edits.reject(edit.edit_id, rest)

    async def on_disk(self) -> str | None:
        """The agent, or its command, changes the disk itself; if it may."""
        if self.cell.review.startswith("before"):
            request = ToolRequest("write", {"path": "doc.txt", "content": ""}, "c1")
            decision = await self.tools.consent.decide(request)
            if isinstance(decision, Block):
                self.open()
                return decision.reason
        with self.mirror.watching():
            await self.is_at_work()
            await self.brings_in()
        return None

    async def is_at_work(self) -> None:
        self.open()
        await self._settle()
        await self._look(claim=False)
        self.acts()
        if self.desk.shown is not None:
            self.desk.shown.sees_the_disk()

    async def brings_in(self) -> list[Brought]:
        """What came to the disk since it was looked at last."""
        changes = await self._look(claim=True)
        self.before_take()
        kept, origin = self.cell.review == "off", Origin("s1", "t1", "c1", "agent")
        return [
            await self.mirror.take(change, origin, kept=kept, still_wanted=lambda: self.wanted)
            for change in changes
        ]

    async def _look(self, *, claim: bool) -> list[DiskChange]:
        paths = [str(self.file), str(self.root / "moved.txt")]
        return await self.mirror.look(self.known, paths, paths, claim=lambda _: claim)

    def acts(self) -> None:
        moved = self.root / "moved.txt"
        match self.cell.action:
            case "delete":
                self.file.unlink()
            case "rename":
                self.file.rename(moved)
            case "write":
                beside = self.root / ".beside"
                beside.write_bytes(agents_bytes(self.cell.state))
                beside.replace(self.file)
            case _:
                if self.file.exists():
                    self.file.chmod(0o644)
                self.file.write_bytes(agents_bytes(self.cell.state))

    async def _settle(self) -> None:
        if self.desk.shown is not None:
            await self.desk.shown.settle()

    async def found(self) -> tuple[str | None, bytes | None, tuple[str, ...]]:
        await self._settle()
        await anyio.sleep(RESTS)
        editor = self.desk.shown
        if editor is not None:
            document = self.documents.get(editor.uri)
            assert document is not None
            assert document.text.content == editor.buffer.text
        disk = self.file.read_bytes() if self.file.exists() else None
        statuses = tuple(change.status for change in self.ledger.changes())
        return editor.buffer.text if editor else None, disk, statuses
