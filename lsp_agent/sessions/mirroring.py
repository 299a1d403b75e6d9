"""What a session's agent and its commands change on disk by themselves: when to look, where, and
what the person is told of it.

Before a call runs, what is on disk is not the agent's; after it, and once more when the turn
ends, what is new is.
"""

import logging
import os
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from anyio import lowlevel
from anyio.abc import TaskGroup

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.protocol.events import Notice, ToolKind
from lsp_agent.protocol.settings import Settings
from lsp_agent.sessions.command_paths import command_paths
from lsp_agent.sessions.disk_notices import disk_notices
from lsp_agent.sessions.questions import Emitter
from lsp_agent.sessions.served import Served
from lsp_agent.sessions.services import Services
from lsp_agent.text.lines import Text
from lsp_agent.text.plain import escaped_line
from lsp_agent.wires.frames import frame
from lsp_agent.workspace.file_host import Origin
from lsp_agent.workspace.mirror import Brought, DiskChange, Known
from lsp_agent.workspace.paths import OutsideWorkspace

_log = logging.getLogger(__name__)

#: The agent lets a call wait 5 s for our answer.
_BEFORE_SECONDS = 2.0
#: How long the end of a turn may wait for the editor.
_SETTLE_SECONDS = 15.0
_BEFORE = (
    "Commands change files on disk by themselves, which `review = before` cannot hold back: what"
    " they changed is in already and can be kept or undone."
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the agent's. ``paths`` are the real ones that it names, within the workspace;
    ``outside`` those that are not, as given. ``asked``: it waits until we let it begin."""

    id: str | None
    tool: str
    kind: ToolKind
    turn_id: str | None
    what: str
    paths: tuple[str, ...]
    outside: tuple[str, ...] = ()
    asked: bool = False

    @property
    def looks_everywhere(self) -> bool:
        """It can change files that it does not name."""
        return self.kind not in ("read", "edit")


class Mirroring:
    """Of one session. ``confined`` gives the real place of a path that the agent may write, and
    raises OutsideWorkspace for any other. ``before`` is awaited before a call runs, ``called``
    and ``returned`` are told of what the wire says, ``settle`` is awaited at the end of each
    turn."""

    def __init__(
        self,
        services: Services,
        session_id: str,
        cwd: str,
        served: Served,
        *,
        emit: Emitter,
        settings: Callable[[], Settings],
        confined: Callable[[str], str],
        still_wanted: Callable[[], Callable[[], bool]],
    ) -> None:
        self._services = services
        self._session_id = session_id
        self._cwd = cwd
        self._served = served
        self._emit = emit
        self._settings = settings
        self._confined = confined
        self._still_wanted = still_wanted
        #: Whether a command of this session has changed a file.
        self.commands_change_files = False
        self._told_of_before = False
        self.known = Known()
        self._named: set[str] = set()
        self._calls: dict[str, Call] = {}
        #: Calls that have their result and are yet to be looked after.
        self._returned: list[Call] = []
        #: The turn's calls that could change any file; what is new is the last one's doing.
        self._anywhere: list[Call] = []
        self._tasks: TaskGroup | None = None
        self._at_work = 0
        self._rest = anyio.Event()
        self._watch = ExitStack()
        self._watching = False

    def live_in(self, tasks: TaskGroup) -> None:
        self._tasks = tasks

    def turn_ended(self) -> None:
        self._calls.clear()
        self._returned.clear()
        self._anywhere.clear()
        self._watch.close()
        self._watching = False

    def _call_of(
        self,
        tool: str,
        kind: ToolKind,
        args: object,
        named: Sequence[str],
        call_id: str | None,
        turn_id: str | None,
    ) -> Call:
        given, what = named, "".join(named[:1])
        paths: list[str] = []
        outside: list[str] = []
        if kind == "command":
            command = frame(args).get("command")
            what = command if isinstance(command, str) else ""
            given = command_paths(what, self._cwd)
        for path in given:
            try:
                paths.append(self._confined(path))
            except OutsideWorkspace:
                outside.append(path)
        if kind == "command":
            outside = []  # most words are no paths
        return Call(
            call_id, tool, kind, turn_id, what or tool, tuple(dict.fromkeys(paths)), tuple(outside)
        )

    async def before(
        self,
        tool: str,
        kind: ToolKind,
        args: object,
        named: Sequence[str],
        call_id: str | None,
        turn_id: str | None,
    ) -> None:
        """Remembers what is on disk before a call changes it; ``named`` are the paths that it
        names, as given. Bounded: a call must not fail because a disk is slow."""
        self._keep_watch()
        call = self._call_of(tool, kind, args, named, call_id, turn_id)
        told = self._calls.get(call_id or "")
        # Each of several files is asked about, some of them when the call is at work already.
        paths = tuple(dict.fromkeys([*(told.paths if told else ()), *call.paths]))
        call = replace(call, paths=paths, asked=True)
        if told is not None and not told.asked:
            # It has not begun: what is new is not its doing.
            self._calls.pop(told.id or "")
            self._anywhere = [each for each in self._anywhere if each is not told]
        with anyio.move_on_after(_BEFORE_SECONDS):
            await lowlevel.checkpoint()  # looks that were begun go first
            await self._look(self._last, self._where(call, done=False), call.paths)
        self._note(call)

    def called(
        self,
        tool: str,
        kind: ToolKind,
        args: object,
        named: Sequence[str],
        call_id: str,
        turn_id: str | None,
    ) -> None:
        """The wire told of a call that nobody asked us about: it may be at work already, so only
        what is not known at all is looked at."""
        if call_id in self._calls:
            return
        self._keep_watch()
        call = self._call_of(tool, kind, args, named, call_id, turn_id)
        self._note(call)
        self._start(self._see_first, self._where(call, done=False))

    def was_ours(self, call_id: str) -> None:
        """A file call has come to us after all: what is new on disk is not its doing."""
        self._calls.pop(call_id, None)

    def returned(self, call_id: str, *, is_error: bool, asked: bool) -> None:
        """A call of the agent's own has its result: what is new on disk is brought in."""
        call = self._calls.pop(call_id, None)
        if call is None:
            return
        if call.kind == "edit" and call.outside and not is_error and not asked:
            self._tell_outside(call)
        self._returned.append(call)
        self._start(self._after, call, self._where(call, done=True))

    @property
    def busy(self) -> bool:
        """Whether there is something to settle before the turn ends."""
        return self._at_work > 0 or self._last is not None

    async def settle(self) -> None:
        """Looks once more for what commands have left at work, and waits until all is brought
        in; bounded."""
        with anyio.move_on_after(_SETTLE_SECONDS):
            if self._last is not None:
                last = self._last
                try:
                    await self._guarded(self._after, last, self._where(last, done=True))
                finally:
                    if self._last is last:
                        self._anywhere.clear()
            while self._at_work:
                self._rest = anyio.Event()
                await self._rest.wait()

    # Looking.

    @property
    def _last(self) -> Call | None:
        return self._anywhere[-1] if self._anywhere else None

    def _keep_watch(self) -> None:
        """From a turn's first call on to its end."""
        if not self._watching:
            self._watching = True
            self._watch.enter_context(self._services.mirror.watching(self))

    def _note(self, call: Call) -> None:
        """From here on what is new may be its doing."""
        if call.id is not None:
            self._calls[call.id] = call
        if call.looks_everywhere:
            self._anywhere.append(call)
        else:
            self._named.update(call.paths)

    def _where(self, call: Call, *, done: bool) -> list[str]:
        """The paths to look at before, or after, ``call``."""
        # What other calls are at, they may have half written: it is looked at after those. A call
        # that is to begin has waited for them where it names the same path.
        others = {path for each in self._writing() for path in each.paths}
        if not done:
            others -= set(call.paths)
        if not call.looks_everywhere:
            return [path for path in call.paths if path not in others]
        paths = dict.fromkeys([*self._of_interest(), *call.paths])
        return [path for path in paths if path not in others]

    def _of_interest(self) -> list[str]:
        """The paths that any call of the session may change."""
        changed = self._services.ledger.changes(session_id=self._session_id)
        return [
            *self._open_paths(),
            *self._served.paths(),
            *(change.path for change in changed),
            *self._named,
            *self.named(),
        ]

    def _at_work_or_returned(self) -> list[Call]:
        last = [self._last] if self._last else []
        return [*self._calls.values(), *self._returned, *last]

    def _writing(self) -> list[Call]:
        """File calls that have no result yet."""
        return [call for call in self._calls.values() if not call.looks_everywhere]

    def _by_path(self) -> dict[str, Call]:
        return {path: call for call in self._writing() for path in call.paths}

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
        default = (self._last or call) if call.looks_everywhere else call
        try:
            await self._look(default, paths, call.paths)
        finally:
            if call in self._returned:
                self._returned.remove(call)

    async def _see_first(self, paths: Collection[str]) -> None:
        """Looks at what is not known: that is no change."""
        look = self._services.mirror.look
        await look(self.known, paths, claim=lambda _path: False, only_unknown=True)

    async def _look(
        self, default: Call | None, paths: Collection[str], named: Collection[str]
    ) -> None:
        """What has changed is the doing of the file call that names it and is at work, else of
        ``default``; if there is none, it is not the agent's."""
        writing = self._by_path()
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
            self._start(self._take, owner, its)

    # As a ``Watcher``: while another session looks.

    def claims(self, path: str) -> bool:
        return self._last is not None or path in self._by_path()

    def named(self) -> list[str]:
        return [path for call in self._at_work_or_returned() for path in call.paths]

    def found(self, changes: Sequence[DiskChange]) -> None:
        self._taken_by(self._by_path(), self._last, changes)

    async def _take(self, call: Call, changes: Sequence[DiskChange]) -> None:
        if call.kind == "command":
            self.commands_change_files = True
            self._tell_before_does_not_hold(call)
        wanted = self._still_wanted()
        brought: list[Brought] = []
        async with anyio.create_task_group() as tasks:
            for change in changes:
                tasks.start_soon(self._take_one, call, change, wanted, brought)
        for notice in disk_notices(brought, call.tool, call.what, self._cwd):
            self._emit(notice, call.turn_id)

    async def _take_one(
        self, call: Call, change: DiskChange, wanted: Callable[[], bool], brought: list[Brought]
    ) -> None:
        name = "" if call.kind == "command" else f" {Path(change.path).name}"
        result = await self._services.mirror.take(
            change,
            Origin(self._session_id, call.turn_id, call.id, f"agent: {call.tool}{name}"),
            kept=self._settings().edits.review == "off",
            still_wanted=wanted,
        )
        brought.append(result)
        if call.kind != "command" and isinstance(change.now, Text):
            # The agent knows what it wrote; what a command made of a file it does not.
            self._served.wrote(change.path, change.now)

    # What the person is told.

    def _tell_before_does_not_hold(self, call: Call) -> None:
        if self._settings().edits.review == "before" and not self._told_of_before:
            self._told_of_before = True
            self._emit(Notice("warning", _BEFORE, "lsp-agent"), call.turn_id)

    def _tell_outside(self, call: Call) -> None:
        names = ", ".join(escaped_line(path) for path in call.outside)
        message = f"The agent's {escaped_line(call.tool)} wrote outside the workspace: {names}."
        self._emit(Notice("warning", message, "lsp-agent"), call.turn_id)

    # Small helpers.

    def _start(self, function: Callable[..., Awaitable[None]], *args: object) -> None:
        if self._tasks is None:
            return
        self._at_work += 1
        self._tasks.start_soon(self._work, function, *args)

    async def _work(self, function: Callable[..., Awaitable[None]], *args: object) -> None:
        try:
            await self._guarded(function, *args)
        finally:
            self._at_work -= 1
            if not self._at_work:
                self._rest.set()

    async def _guarded(self, function: Callable[..., Awaitable[None]], *args: object) -> None:
        """The disk is as it is: what cannot be brought in is said, and the session goes on."""
        try:
            await function(*args)
        except (LspAgentError, OSError) as error:
            _log.exception("a change on disk could not be brought in")
            message = f"A change on disk could not be brought in: {error}"
            self._emit(Notice("error", message, "lsp-agent"), None)
