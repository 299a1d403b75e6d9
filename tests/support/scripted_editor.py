"""An editor that does what it is told: a buffer with a policy, and a wire with a delay.

``Buffer`` is pure: the person's and the agent's changes go in, didChange params come out.
``ScriptedEditor`` puts it behind the ``Editor`` port on an event loop; ``run`` gives it a loop
whose time is virtual, so that seconds of waiting cost none.
"""

import asyncio
import functools
import re
import selectors
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from lsp_agent.text.edits import TextEdit
from lsp_agent.text.positions import Encoding, to_units
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Applied, EditorTraits
from lsp_agent.workspace.placing.deaf_client import NOTHING

Result = TypeVar("Result")

Point = Literal[
    "before send",
    "before apply",
    "unanswered",
    "same didChange",
    "before retry",
    "before save",
    "during save",
]
POINTS: tuple[Point, ...] = (
    "before send",
    "before apply",
    "unanswered",
    "same didChange",
    "before retry",
    "during save",
)

#: Why an edit is refused.
REFUSAL = "E21: Cannot make changes"

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Policy:
    """How a client behaves.

    ``checks``: an edit is refused unless its version is the buffer's (``version``), the last one
    sent (``sent``, as eglot does), unless it is older than the buffer but not 0 (``newer``, as
    Neovim does), or never. ``admits``: what it answers to an edit that it refused.
    ``debounce``: changes wait so long and go out together; ``restarts``: each key starts that
    anew, always or until the ``first`` flush. ``splits``: an edit goes out in two didChanges;
    ``joins``: what waits goes out as one content change. ``tells``: whether anything ever goes out,
    as nothing does from a Neovim that has let go of a buffer. ``lie``: what it says of and does
    with every edit; a ``late`` one is done after so many seconds. ``travel`` is the wire's delay,
    one way.
    """

    name: str
    checks: Literal["version", "newer", "sent", "never"] = "version"
    admits: bool = True
    first_version: int = 1
    debounce: float = 0.0
    restarts: Literal["never", "first", "always"] = "never"
    splits: bool = False
    joins: bool = False
    tells: bool = True
    answers: Literal["before", "after"] = "after"
    lie: Literal[
        "", "true, not done", "false, done", "silent, done", "silent, not done", "late", "refuses"
    ] = ""
    late: float = 8.0
    travel: float = 0.001
    traits: EditorTraits = field(default_factory=lambda: EditorTraits(can_save=True))


POLICIES = (
    Policy("checks, answers after its change"),
    Policy("checks, answers before its change", answers="before"),
    Policy("checks, coalesces 150 ms", debounce=0.15),
    Policy("checks, joins 150 ms of changes", debounce=0.15, joins=True),
    Policy("splits an edit", splits=True),
    Policy(
        "Neovim",
        checks="newer",
        admits=False,
        first_version=0,
        debounce=0.15,
        restarts="first",
        answers="before",
        traits=EditorTraits(min_version=1, can_save=True, may_be_deaf=True),
    ),
    Policy(
        "Neovim with the barrier",
        checks="newer",
        admits=False,
        first_version=0,
        debounce=0.15,
        restarts="first",
        answers="before",
        traits=EditorTraits(min_version=1, can_sync=True, can_save=True, may_be_deaf=True),
    ),
    Policy(
        "eglot",
        checks="sent",
        first_version=0,
        debounce=0.5,
        restarts="always",
        traits=EditorTraits(can_save=True, checks_versions=False),
    ),
    Policy(
        "checks nothing", checks="never", traits=EditorTraits(can_save=True, checks_versions=False)
    ),
    Policy(
        "checks nothing, coalesces 150 ms",
        checks="never",
        debounce=0.15,
        traits=EditorTraits(can_save=True, checks_versions=False),
    ),
)

#: It tells of an edit and of what was typed before as one change, at once, and of nothing else.
KAKOUNE = Policy(
    "Kakoune",
    checks="never",
    debounce=3600,
    joins=True,
    traits=EditorTraits(
        checks_versions=False, holds_back=True, tells_at_edits=True, selects_line_ends=True
    ),
)


class Buffer:
    """A text that a person and an agent edit, as an LSP client keeps it."""

    def __init__(self, text: str, encoding: Encoding, policy: Policy) -> None:
        self.text = text
        self.encoding: Encoding = encoding
        self.policy = policy
        self.version = policy.first_version
        self.sent_version = policy.first_version
        self.sent_text = text
        self.pending: list[dict[str, Any]] = []

    def type(self, offset: int, token: str) -> None:
        """The person inserts ``token``."""
        self.replace(offset, offset, token)

    def accepts(self, version: int | None) -> bool:
        match self.policy.checks:
            case "version":
                return version == self.version
            case "sent":
                return version == self.sent_version
            case "newer":
                return not version or version >= self.version
            case _:
                return True

    def apply(self, edits: Sequence[dict[str, Any]]) -> None:
        """LSP TextEdits of the present text, all at once; the last goes first."""
        if self.policy.traits.selects_line_ends:
            told = self.sent_text
            for edit in reversed(edits):
                if self._is_left_out(told, edit):
                    continue
                start, end = self._selected(**edit["range"])
                at_end = end == len(self.text) and end > start
                if at_end and start and self.text[start - 1] == "\n":
                    start -= 1  # Kakoune takes this line end for the last one
                self.replace(start, end, edit["newText"] + ("\n" if at_end else ""))
            return
        text = self.text
        spans = [
            (self.offset(text, edit["range"]["start"]), self.offset(text, edit["range"]["end"]))
            for edit in edits
        ]
        for (start, end), edit in sorted(
            zip(spans, edits, strict=True), key=lambda pair: pair[0], reverse=True
        ):
            if self.policy.splits and end > start and edit["newText"]:
                self.replace(start, end, "")
                self.replace(start, start, edit["newText"])
            else:
                self.replace(start, end, edit["newText"])

    def take(self) -> list[tuple[int, list[dict[str, Any]]]]:
        """What is to be sent, as didChanges' version and contentChanges."""
        if not self.pending:
            return []
        changes = [self._joined()] if self.policy.joins else self.pending
        self.pending = []
        self.sent_version, self.sent_text = self.version, self.text
        if self.policy.splits:
            first = self.version - len(changes) + 1
            return [(first + i, [change]) for i, change in enumerate(changes)]
        return [(self.version, changes)]

    def position(self, text: str, offset: int) -> dict[str, int]:
        ends = [m.end() for m in _LINE_END.finditer(text) if m.end() <= offset]
        return {"line": len(ends), "character": self._units(text[(ends or [0])[-1] : offset])}

    def offset(self, text: str, position: dict[str, int]) -> int:
        starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        if position["line"] >= len(starts):
            return len(text)
        offset, left = starts[position["line"]], position["character"]
        while left > 0 and offset < len(text) and text[offset] not in "\r\n":
            left -= self._units(text[offset])
            offset += 1
        return offset

    def _is_left_out(self, told: str, edit: dict[str, Any]) -> bool:
        """As kakoune-lsp does it, in the text that it has told of last: an edit of one line at
        columns that this does not have, or which changes nothing there."""
        start, end = edit["range"]["start"], edit["range"]["end"]
        if start["line"] != end["line"]:
            return False
        line = told.splitlines(keepends=True)[start["line"]]
        there = line[start["character"] : end["character"]]
        return end["character"] > len(line) or there == edit["newText"]

    def _selected(self, start: dict[str, int], end: dict[str, int]) -> tuple[int, int]:
        """As Kakoune does: the sign at a place behind a line's last one is the line end, and a
        selection takes its last sign, which in a range is the one before the end."""
        ends = [match.end() for match in _LINE_END.finditer(self.text)]

        def sign(line: int, column: int) -> int:
            if line >= len(ends):
                return len(self.text) - 1
            return min(self.offset(self.text, {"line": line, "character": column}), ends[line] - 1)

        first = sign(start["line"], start["character"])
        if start == end:
            return first, first
        if end["character"]:
            last = sign(end["line"], end["character"] - 1)
        else:
            last = ends[min(end["line"], len(ends)) - 1] - 1
        return first, max(last, first) + 1

    def _units(self, piece: str) -> int:
        if self.encoding == "utf-32":
            return len(piece)
        if self.encoding == "utf-8":
            return len(piece.encode())
        return len(piece.encode("utf-16-le")) // 2

    def replace(self, start: int, end: int, new: str) -> None:
        """One content change."""
        self.pending.append(self._content_change(self.text, start, end, new))
        self.text = self.text[:start] + new + self.text[end:]
        # Neovim's changedtick counts more than changes.
        self.version += 3 if self.policy.checks == "newer" else 1

    def _content_change(self, text: str, start: int, end: int, new: str) -> dict[str, Any]:
        span = {"start": self.position(text, start), "end": self.position(text, end)}
        return {"range": span, "text": new}

    def _joined(self) -> dict[str, Any]:
        old, new = self.sent_text, self.text
        start = 0
        while start < min(len(old), len(new)) and old[start] == new[start]:
            start += 1
        kept = 0
        while kept < min(len(old), len(new)) - start and old[-1 - kept] == new[-1 - kept]:
            kept += 1
        if start and old[start - 1] == "\r":  # a range never begins or ends inside \r\n
            start -= 1
        if kept and old[len(old) - kept] == "\n":
            kept -= 1
        return self._content_change(old, start, len(old) - kept, new[start : len(new) - kept])


class ScriptedEditor:
    """The ``Editor`` port over a ``Buffer``. ``keys`` says what is typed at each point: it is
    called with the point and the number of the send (from 1), and may use ``type``."""

    def __init__(
        self,
        documents: Documents,
        uri: str,
        text: str,
        policy: Policy,
        keys: "Callable[[ScriptedEditor, Point, int], None]" = lambda *_: None,
        on_save: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.documents = documents
        self.uri = uri
        self.policy = policy
        self.buffer = Buffer(text, documents.encoding, policy)
        self.sends = self.probes = 0
        self.in_flight = self.most_in_flight = 0
        self._keys = keys
        self._on_save = on_save
        self._wire: deque[Callable[[], None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._flushed = False
        documents.open(uri, policy.first_version, text)

    @property
    def traits(self) -> EditorTraits:
        return self.policy.traits

    def type(self, offset: int, token: str) -> None:
        """The person's key; goes out as the policy says."""
        self.buffer.type(offset, token)
        self._sometime(restart=True)

    def flush(self) -> None:
        """Sends what is held back, as on idle."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for version, changes in self.buffer.take():
            self._flushed = True
            if self.policy.tells:
                self._send(self._deliver(version, changes))

    async def settle(self) -> None:
        """Until all is sent and has arrived."""
        self.flush()
        await asyncio.sleep(2 * self.policy.travel)

    async def apply(
        self, uri: str, version: int | None, edits: Sequence[TextEdit], label: str
    ) -> Applied:
        document = self.documents.get(uri)
        assert document is not None
        assert uri == self.uri
        wire = [_to_lsp(document.lines, edit, self.documents.encoding) for edit in edits]
        if tuple(edits) == NOTHING:  # it is no send, and nothing is typed around it
            self.probes += 1
            send = 0
        else:
            send = self.sends = self.sends + 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.policy.travel)
            self._at("before apply", send)
            answer = self._process(version, wire, send)
            arrived = asyncio.get_running_loop().create_future()
            if answer is not None:
                self._send(lambda: None if arrived.done() else arrived.set_result(answer))
                if self.policy.answers == "before" and not self.policy.debounce:
                    self.flush()
            try:
                async with asyncio.timeout(20):
                    applied = await arrived
                    return Applied(applied, None if applied else REFUSAL)
            except TimeoutError:
                return Applied(None)
        finally:
            self.in_flight -= 1

    async def sync(self, uri: str) -> None:
        await asyncio.sleep(self.policy.travel)
        self.flush()
        await asyncio.sleep(self.policy.travel)

    async def save(self, uri: str, version: int | None = None, *, removes: bool = False) -> bool:
        await asyncio.sleep(self.policy.travel)
        self._keys(self, "before save", self.sends)
        if version is not None and not self.buffer.accepts(version):
            return False
        self._on_save(self.buffer.text)
        self.flush()
        self._send(lambda: self.documents.save(uri))
        self._keys(self, "during save", self.sends)
        await asyncio.sleep(2 * self.policy.travel)
        return True

    async def reload(self, uri: str) -> bool:
        return False

    def _process(self, version: int | None, wire: list[dict[str, Any]], send: int) -> bool | None:
        lie = self.policy.lie
        if lie == "refuses":
            return False
        if not self.buffer.accepts(version):
            asyncio.get_running_loop().call_later(
                self.policy.travel, self._at, "before retry", send
            )
            return not self.policy.admits
        if not lie.endswith("not done"):
            if lie == "late":
                asyncio.get_running_loop().call_later(self.policy.late, self._apply, wire, send)
                return None
            self._apply(wire, send)
        return {"t": True, "f": False, "s": None, "": True}[lie[:1]]

    def _apply(self, wire: list[dict[str, Any]], send: int) -> None:
        self.buffer.apply(wire)
        if self.traits.tells_at_edits:
            if self.buffer.text == self.buffer.sent_text:
                self.buffer.pending.clear()
            self.flush()
        self._at("same didChange", send)
        if self.policy.answers == "after" or self.policy.debounce or self.policy.lie:
            self._sometime(restart=False)
        self._at("unanswered", send)

    def _at(self, point: Point, send: int) -> None:
        if send:
            self._keys(self, point, send)

    def _sometime(self, *, restart: bool) -> None:
        if not self.policy.debounce:
            if self.policy.answers == "after" or restart:
                self.flush()
            return
        again = self.policy.restarts == "always" or (
            self.policy.restarts == "first" and not self._flushed
        )
        if self._timer is not None and restart and again:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.policy.debounce, self.flush)

    def _deliver(self, version: int, changes: list[dict[str, Any]]) -> Callable[[], None]:
        return lambda: self.documents.change(self.uri, version, changes)

    def _send(self, message: Callable[[], None]) -> None:
        """Messages arrive in the order in which they were sent."""

        def arrive() -> None:
            self._wire.popleft()()

        self._wire.append(message)
        asyncio.get_running_loop().call_later(self.policy.travel, arrive)


def _to_lsp(lines: Sequence[str], edit: TextEdit, encoding: Encoding) -> dict[str, Any]:
    def position(line: int, column: int) -> dict[str, int]:
        units = to_units(lines[line], column, encoding) if line < len(lines) else 0
        return {"line": line, "character": units}

    return {
        "range": {
            "start": position(edit.start_line, edit.start_column),
            "end": position(edit.end_line, edit.end_column),
        },
        "newText": edit.new_text,
    }


class VirtualClock:
    """The time of a loop that never sleeps: waiting moves it on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class _Selector(selectors.DefaultSelector):
    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout:
            self._clock.now += timeout
            timeout = 0
        return super().select(timeout)


def run(
    main: Callable[[VirtualClock], Coroutine[Any, Any, Result]],
) -> Result:
    """Runs ``main(clock)`` in virtual time; not for what works in threads."""
    clock = VirtualClock()
    loop = asyncio.SelectorEventLoop(_Selector(clock))
    loop.time = clock  # type: ignore[method-assign]
    failures: list[BaseException] = []
    loop.set_exception_handler(
        lambda _, context: failures.append(context.get("exception") or RuntimeError(str(context)))
    )
    try:
        result = loop.run_until_complete(main(clock))
        if failures:
            raise failures[0]
        return result
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def in_virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test whose sleeps take no time, so that no load changes what comes first."""

    @functools.wraps(test)
    def run_it(*args: Any, **kwargs: Any) -> None:
        run(lambda _: test(*args, **kwargs))

    return run_it
