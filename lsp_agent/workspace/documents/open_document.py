"""One document as the editor shows it: its text, and what of it is saved.

The text changes with each content change; what the file on disk holds is looked at in a thread,
once after didOpen and after each didSave, and where a clean document changes, since an editor
tells of a reload as of typing. Positions are converted here, once.
"""

import contextlib
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import anyio

from lsp_agent.text.lines import Text, is_long, splice, split_lines
from lsp_agent.text.positions import Encoding, to_column
from lsp_agent.workspace.disk.files import FileProblem, NotText, decode, read_bytes
from lsp_agent.workspace.disk.paths import OutsideWorkspace, from_ledger

# Content changes whose times are remembered: an edit of ours with more may pass for typing.
_TYPED = 256
# Content changes that come together.
_MANY = 64
# How long after a clean document began to change it may still be a reload, which some editors tell
# of in pieces; in seconds.
_RELOADS = 1.0

# When the file was changed in nanoseconds, its size, and which one it is.
_Stamp = tuple[int, int, int]
# What the document showed, what the disk held, and whether the editor may have read that.
_Found = tuple[Text, Text | NotText | None, bool]

Span = tuple[int, int, int, int]
"""Start line and column, end line and column; 0-based."""


@dataclass(frozen=True, slots=True)
class ContentChange:
    """One content change: ``span`` of ``before`` was replaced by ``text``, giving ``after``.

    ``span`` is as the client sent it, columns in units of the negotiated encoding; None where
    the whole text came (full sync, or a didOpen of a reload).
    """

    before: Text
    span: Span | None
    text: str
    after: Text


Observer = Callable[[ContentChange], None]


class OpenDocument:
    """One document as the editor shows it.

    ``seq`` counts content changes, a repeated didOpen included. ``path`` is the real path, None
    where the URI is none of a file. ``typed_at`` is the ``clock``'s time of the last content
    change that was not found to be an edit of ours, ``closed_at`` that of the last didClose.
    ``tells`` is whether the client tells of changes: True when it has since didOpen, None until
    then, False where it is known not to. ``told_within`` is how many seconds it took to tell of the
    last edit that was sent.
    """

    def __init__(
        self,
        uri: str,
        path: str | None,
        encoding: Encoding = "utf-16",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.uri = uri
        self.position_encoding: Encoding = encoding
        self.clock = clock
        self.path = path
        self.version: int | None = None
        self.seq = 0
        self.closed = True
        self.closed_at = -math.inf
        self.tells: bool | None = None
        self.told_within = 0.0
        self._typed: deque[float] = deque([-math.inf], maxlen=_TYPED)
        self.lines: list[str] = []
        self._text: Text | None = None
        self._saved: Text | None = None
        # What the disk held where the editor shows it with other line ends, as ``_saved``.
        self._stored: Text | None = None
        self._dirty: tuple[int, bool] | None = None
        self._encoding = "utf-8"
        self._bom = False
        self._compared = threading.Event()
        self._found: _Found | None = None
        # The file as it was when it was last compared, and when what the editor has read of it was
        # written, in nanoseconds of the wall clock.
        self._stamp: _Stamp | None = None
        self._read_of = -math.inf
        # When it was opened, likewise in seconds, and that again if it showed the file then.
        self._opened_at = self._opened_as_on_disk = -math.inf
        # When it changed first since it was clean; None while it is.
        self._stirred_at: float | None = None
        self._observers: list[Observer] = []
        # How many of them tell edits that strayed by each single change.
        self._wanting_each = 0
        self._closings: list[Callable[[], None]] = []

    @property
    def text(self) -> Text:
        """A snapshot of the text, with the file's encoding and BOM; made once a change."""
        if self._text is None:
            self._text = Text(tuple(self.lines), self._encoding, bom=self._bom)
        return self._text

    @property
    def saved(self) -> Text | None:
        """What was last saved, or found on disk at didOpen; None if there was no file. Until the
        disk was compared (``compared``) it is None after a didOpen, all the text after a didSave.
        """
        self._settle()
        return self._saved

    @property
    def disk(self) -> Text | None:
        """``saved`` as the file holds it."""
        self._settle()
        return self._saved if self._stored is None else self._stored

    def has_read_since(self, written: float) -> bool:
        """Whether the editor was found to have read the file, by opening or a reload, when it was
        newer than that time of the wall clock, in seconds."""
        self._settle()
        return self._read_of > written * 1e9

    def opened_since(self, time: float) -> bool:
        """Whether it was opened after that time of the wall clock, in seconds, and was found to
        show its file: without what had never been on disk."""
        self._settle()
        return self._opened_as_on_disk > time

    def shown(self, disk: Text) -> Text:
        """The text that this editor shows of a file that holds ``disk``, as far as the last one
        compared tells: some make all line ends alike or keep them apart from the text."""
        self._settle()
        if self._stored is None or self._saved is None:
            return disk
        plain = disk.content.replace("\r\n", "\n")
        crlf = "\r\n" in self._saved.content
        return Text.of(plain.replace("\n", "\r\n") if crlf else plain, like=disk)

    def shows(self, disk: Text) -> bool:
        """Whether the text is the one of a file that holds ``disk``, opened and not changed."""
        return alike(self.text, self.shown(disk))

    def brought_in(self, disk: Text) -> None:
        """The text that came to the disk has gone into the document, or is a proposal for it:
        from here on it is ``saved``."""
        shown = self.shown(disk)
        self._take_encoding(disk)
        self._saved = self.text if self.shows(disk) else shown
        self._stored = None if self._stored is None else disk
        self._dirty = self._stirred_at = None

    @property
    def dirty(self) -> bool:
        """Whether there is unsaved text; also True until the disk was compared at didOpen."""
        self._settle()
        if self._dirty is None or self._dirty[0] != self.seq:
            self._dirty = (self.seq, self._saved is None or self._saved != self.text)
        return self._dirty[1]

    @property
    def unmade(self) -> bool:
        """Whether it is empty and has no file, new or deleted: it is ``dirty``, and a save would
        make the file, but there is no text that is unsaved."""
        return self.dirty and self._saved is None and self.text.shows_nothing

    async def compared(self) -> None:
        """Returns when what the last didOpen or didSave left on disk is known, so that ``dirty``
        is sure."""
        if not self._compared.is_set():
            await anyio.to_thread.run_sync(self._compared.wait)

    @property
    def observed(self) -> bool:
        return bool(self._observers)

    @contextlib.contextmanager
    def record(
        self,
        observer: Observer,
        closing: Callable[[], None] | None = None,
        *,
        each: bool = False,
    ) -> Generator[None]:
        """Calls ``observer`` right after every content change, within its didChange; and
        ``closing`` at didClose. Many changes of a long text that come together are one, unless
        somebody wants ``each``: every change costs two snapshots. A document that is opened again
        while recorded is the same object, and its didOpen counts as one change."""
        self._observers.append(observer)
        self._wanting_each += each
        if closing:
            self._closings.append(closing)
        try:
            yield
        finally:
            self._observers.remove(observer)
            self._wanting_each -= each
            if closing:
                self._closings.remove(closing)

    @contextlib.contextmanager
    def next_change(self) -> Generator[anyio.Event]:
        """An event that is set by the next content change or didClose. Register, then send."""
        event = anyio.Event()
        with self.record(lambda _: event.set(), event.set):
            yield event

    async def reopened(self, seconds: float) -> None:
        """Returns when it is open, again after a reload, or after ``seconds``."""
        if self.closed:
            with self.next_change() as opened, anyio.move_on_after(seconds):
                await opened.wait()

    @property
    def typed_at(self) -> float:
        return self._typed[-1]

    def not_typed(self, changes: int) -> None:
        """The last ``changes``, the one just observed among them, were an edit of ours."""
        for _ in range(min(changes, len(self._typed))):
            self._typed.pop()
        if not self._typed:
            self._typed.append(-math.inf)

    # What follows is called by Documents alone.

    def take_open(self, version: int | None, content: str) -> None:
        before = self.text if self.seq else None
        self.version = version
        self.closed = False
        self._opened_at = time.time()
        self.tells = None
        self._saved = self._dirty = None
        self.lines[:] = split_lines(content)
        self._changed(before, None, content)
        self._compare_with_disk(read=True)

    def take_changes(self, changes: Sequence[tuple[Span | None, str]]) -> None:
        """Each range is in the text that the one before it left."""
        if len(changes) <= _MANY or self._wanting_each or not is_long(self.lines):
            for span, text in changes:
                self._take(span, text)
        else:
            before = self.text if self._observers else None
            for span, text in changes:
                self._put(span, text)
            self._heard()
            self._changed(before, None, "".join(self.lines) if self._observers else "")
        if not is_long(self.lines) or not _is_a_key(changes):
            self._look_for_a_reload()

    def _take(self, span: Span | None, text: str) -> None:
        before = self.text if self._observers else None
        self._put(span, text)
        self._heard(typed=bool(text) or span is None or span[:2] != span[2:])
        self._changed(before, span, text)

    def _heard(self, *, typed: bool = True) -> None:
        self.tells = True
        if typed:
            self._typed.append(self.clock())

    def _put(self, span: Span | None, text: str) -> None:
        if span is None:
            self.lines[:] = split_lines(text)
        else:
            first, start, last, end = span
            splice(
                self.lines, first, self._column(first, start), last, self._column(last, end), text
            )

    def _changed(self, before: Text | None, span: Span | None, text: str) -> None:
        self.seq += 1
        self._text = None
        if self._observers and before is not None:
            change = ContentChange(before, span, text, self.text)
            for observer in tuple(self._observers):
                observer(change)

    def _column(self, line: int, units: int) -> int:
        if 0 <= line < len(self.lines):
            return to_column(self.lines[line], units, self.position_encoding)
        return 0

    def take_save(self) -> None:
        self._saved, self._dirty = self.text, None
        # What was typed while the file was written came first, and is not in it.
        self._compare_with_disk(read=False)

    def take_close(self) -> None:
        self.closed = True
        self.closed_at = self.clock()
        for closing in tuple(self._closings):
            closing()

    def _compare_with_disk(self, *, read: bool) -> None:
        """Reads the disk in a thread: the file may be large, or on a slow network."""
        self._found, self._stirred_at = None, None
        opened = self.text
        self._compare(lambda disk: (opened, disk, read))

    def _look_for_a_reload(self) -> None:
        """Where the document was clean and the file is not what it was, the change may have brought
        in what another program wrote: that is then ``saved``."""
        if self.path is None or not self._compared.is_set():
            return
        self._settle()
        now = self.clock()
        self._stirred_at = now if self._stirred_at is None else self._stirred_at
        if now - self._stirred_at > _RELOADS:
            return
        opened = self.text

        def found(disk: Text | NotText | None) -> _Found | None:
            shown = isinstance(disk, Text) and alike(opened, disk)
            return (opened, disk, True) if shown else None

        self._compare(found, since=self._stamp)

    def _compare(
        self,
        found: Callable[[Text | NotText | None], _Found | None],
        since: _Stamp | None = None,
    ) -> None:
        """What is ``found`` of the disk's text, if the file is not as it was ``since``."""
        compared = self._compared = threading.Event()
        path = self.path
        if path is None:
            compared.set()
            return

        def compare() -> None:
            try:
                stamp = _stamp(path)
                if since is None or stamp != since:
                    what = found(_disk_text(path))
                    if self._compared is compared and what is not None:
                        self._found, self._stamp = what, stamp
            finally:
                compared.set()

        threading.Thread(target=compare, name="compare-with-disk", daemon=True).start()

    def _settle(self) -> None:
        """Takes what the thread has found, in the loop's own thread."""
        if self._found is None or not self._compared.is_set():
            return
        opened, disk, read = self._found
        self._found = self._dirty = None
        if isinstance(disk, NotText):
            # The editor knows an encoding that we do not: it shows what it read.
            self._saved = opened
        elif disk is not None:
            self._take_encoding(disk)
            self._saved, self._stored = disk, None
            if alike(opened, disk):
                self._saved, self._stored = opened, None if opened == disk else disk
                self._stirred_at = None
                if read and self._stamp is not None:
                    self._read_of = self._stamp[0]
                    self._opened_as_on_disk = self._opened_at
            elif _without_cr(opened, disk):
                self._saved = Text.of(disk.content.replace("\r\n", "\n"), like=disk)
                self._stored = disk

    def _take_encoding(self, disk: Text) -> None:
        if (disk.encoding, disk.bom) != (self._encoding, self._bom):
            self._encoding, self._bom, self._text = disk.encoding, disk.bom, None


def _disk_text(path: str) -> Text | NotText | None:
    """What is on disk; None where there is no file that we could read."""
    try:
        return decode(read_bytes(from_ledger(path)))
    except NotText as error:
        return error
    except (FileProblem, OutsideWorkspace):  # as a folder that has become a link
        return None


def _is_a_key(changes: Sequence[tuple[Span | None, str]]) -> bool:
    return all(span is not None and len(text) <= 1 for span, text in changes)


def _stamp(path: str) -> _Stamp | None:
    try:
        now = os.lstat(path)
    except OSError:
        return None
    return now.st_mtime_ns, now.st_size, now.st_ino


def _without_cr(opened: Text, disk: Text) -> bool:
    """Whether the editor keeps the file's CR LF apart from its text."""
    return bool(opened.lines) and "\r" not in opened.content and "\r\n" in disk.content


def alike(opened: Text, disk: Text) -> bool:
    """Whether an editor that opens ``disk`` shows ``opened`` with no unsaved change: some make
    all line ends alike or keep them apart from the text, and Neovim shows no text as one line."""
    if opened == disk or (opened.content == "\n" and not disk.lines):
        return True
    shown, stored = (text.content.replace("\r\n", "\n") for text in (opened, disk))
    return shown == stored and opened.content in {shown, shown.replace("\n", "\r\n")}
