"""What a session's agent and its commands change on disk by themselves: when to look, and where.

Before a call runs, what is on disk is not the agent's; after it, and once more when the turn
ends, what is new is.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import anyio
from anyio import lowlevel
from anyio.abc import TaskGroup

from lsp_agent.sessions.files.brought_in import BroughtIn
from lsp_agent.sessions.files.calls_at_work import Call, CallsAtWork, ToolCallSeen
from lsp_agent.sessions.files.looks import Looks
from lsp_agent.sessions.files.shown_to_agent import ShownToAgent
from lsp_agent.sessions.permissions.command_paths import command_paths
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.toolset.loose_json import frame
from lsp_agent.workspace.disk.paths import OutsideWorkspace
from lsp_agent.workspace.mirror.disk_change import DiskChange
from lsp_agent.workspace.mirror.watcher import Known

#: The agent lets a call wait 5 s for our answer.
_BEFORE_SECONDS = 2.0
#: How long the end of a turn may wait for the editor.
_SETTLE_SECONDS = 15.0


class Mirroring:
    """Of one session. ``confined`` gives the real place of a path that the agent may write, and
    raises OutsideWorkspace for any other. ``before`` is awaited before a call runs, ``called``
    and ``returned`` are told of what the wire says, ``settle`` is awaited at the end of each
    turn."""

    def __init__(
        self,
        services: Services,
        session: SessionView,
        served: ShownToAgent,
        confined: Callable[[str], str],
    ) -> None:
        self._services = services
        self._session = session
        self._served = served
        self._confined = confined
        self.brought_in = BroughtIn(services, session, served)
        self.known = Known()
        self._named: set[str] = set()
        self._calls = CallsAtWork()
        self._looks = Looks(session.emit)
        self._watch = ExitStack()
        self._watching = False

    def live_in(self, tasks: TaskGroup) -> None:
        self._looks.live_in(tasks)

    def turn_ended(self) -> None:
        self._calls.clear()
        self._watch.close()
        self._watching = False

    def _call_of(self, seen: ToolCallSeen) -> Call:
        given, what = seen.paths, "".join(seen.paths[:1])
        paths: list[str] = []
        outside: list[str] = []
        if seen.kind == "command":
            command = frame(seen.args).get("command")
            what = command if isinstance(command, str) else ""
            given = command_paths(what, self._session.cwd)
        for path in given:
            try:
                paths.append(self._confined(path))
            except OutsideWorkspace:
                outside.append(path)
        if seen.kind == "command":
            outside = []  # most words are no paths
        return Call(seen, what or seen.tool, tuple(dict.fromkeys(paths)), tuple(outside))

    async def before(self, seen: ToolCallSeen) -> None:
        """Remembers what is on disk before a call changes it. Bounded: a call must not fail
        because a disk is slow."""
        self._keep_watch()
        call = self._calls.asked_about(self._call_of(seen))
        with anyio.move_on_after(_BEFORE_SECONDS):
            await lowlevel.checkpoint()  # looks that were begun go first
            await self._look(self._calls.last, self._where(call, done=False), call.paths)
        self._begin(call)

    def called(self, seen: ToolCallSeen) -> None:
        """The wire told of a call that nobody asked us about: it may be at work already, so only
        what is not known at all is looked at."""
        if seen.call_id in self._calls:
            return
        self._keep_watch()
        call = self._call_of(seen)
        self._begin(call)
        self._looks.start(self._see_first, self._where(call, done=False))

    def was_ours(self, call_id: str) -> None:
        """A file call has come to us after all: what is new on disk is not its doing."""
        self._calls.drop(call_id)

    def returned(self, call_id: str, *, is_error: bool, asked: bool) -> None:
        """A call of the agent's own has its result: what is new on disk is brought in."""
        call = self._calls.returned(call_id)
        if call is None:
            return
        if call.seen.kind == "edit" and call.outside and not is_error and not asked:
            self.brought_in.tell_outside(call)
        self._looks.start(self._after, call, self._where(call, done=True))

    @property
    def busy(self) -> bool:
        """Whether there is something to settle before the turn ends."""
        return self._looks.busy or self._calls.last is not None

    async def settle(self) -> None:
        """Looks once more for what commands have left at work, and waits until all is brought
        in; bounded."""
        with anyio.move_on_after(_SETTLE_SECONDS):
            if (last := self._calls.last) is not None:
                try:
                    await self._looks.guarded(self._after, last, self._where(last, done=True))
                finally:
                    self._calls.settled(last)
            await self._looks.rest()

    # Looking.

    def _keep_watch(self) -> None:
        """From a turn's first call on to its end."""
        if not self._watching:
            self._watching = True
            self._watch.enter_context(self._services.mirror.watching(self))

    def _begin(self, call: Call) -> None:
        self._calls.begin(call)
        if not call.looks_everywhere:
            self._named.update(call.paths)

    def _where(self, call: Call, *, done: bool) -> list[str]:
        """The paths to look at before, or after, ``call``."""
        # What other calls are at, they may have half written: it is looked at after those. A call
        # that is to begin has waited for them where it names the same path.
        others = {path for each in self._calls.writing() for path in each.paths}
        if not done:
            others -= set(call.paths)
        if not call.looks_everywhere:
            return [path for path in call.paths if path not in others]
        paths = dict.fromkeys([*self._of_interest(), *call.paths])
        return [path for path in paths if path not in others]

    def _of_interest(self) -> list[str]:
        """The paths that any call of the session may change."""
        changed = self._services.ledger.changes(session_id=self._session.id)
        return [
            *self._open_paths(),
            *self._served.paths(),
            *(change.path for change in changed),
            *self._named,
            *self._calls.named(),
        ]

    def _open_paths(self) -> list[str]:
        """Of the documents that file tools may touch."""
        roots = tuple(folder.rstrip(os.sep) + os.sep for folder in self._services.folders())
        return [
            path
            for path in self._services.mirror.open_paths()
            if path.startswith(roots) and ".git" not in Path(path).parts
        ]

    async def _after(self, call: Call, paths: Collection[str]) -> None:
        """What is new is the doing of ``call``, or of what has begun since."""
        default = (self._calls.last or call) if call.looks_everywhere else call
        try:
            await self._look(default, paths, call.paths)
        finally:
            self._calls.looked_after(call)

    async def _see_first(self, paths: Collection[str]) -> None:
        """Looks at what is not known: that is no change."""
        look = self._services.mirror.look
        await look(self.known, paths, claim=lambda _path: False, only_unknown=True)

    async def _look(
        self, default: Call | None, paths: Collection[str], named: Collection[str]
    ) -> None:
        """What has changed is the doing of the file call that names it and is at work, else of
        ``default``; if there is none, it is not the agent's."""
        writing = self._calls.by_path()
        changes = await self._services.mirror.look(
            self.known,
            paths,
            named,
            claim=lambda path: path in writing or default is not None,
        )
        self._taken_by(writing, default, changes)
        self.known.keep_only([*self._of_interest(), *paths])

    def _taken_by(
        self, writing: Mapping[str, Call], default: Call | None, changes: Sequence[DiskChange]
    ) -> None:
        self._named.update(change.path for change in changes)
        by_call: dict[int, tuple[Call, list[DiskChange]]] = {}
        for change in changes:
            if (owner := writing.get(change.path, default)) is not None:
                by_call.setdefault(id(owner), (owner, []))[1].append(change)
        for owner, its in by_call.values():
            self._looks.start(self.brought_in.take, owner, its)

    # As a ``Watcher``: while another session looks.

    def claims(self, path: str) -> bool:
        return self._calls.last is not None or path in self._calls.by_path()

    def named(self) -> list[str]:
        return self._calls.named()

    def found(self, changes: Sequence[DiskChange]) -> None:
        self._taken_by(self._calls.by_path(), self._calls.last, changes)
