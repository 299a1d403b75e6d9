"""The lines of the ledger's journal, and what a journal says when they are read in order.

{"id": …, "path": …, "before": TextRef, …}    a change, in place of an earlier one of that id
{"id": …, "status": …}                        its new status
{"id": …, "hunks": {"0": "kept", …}}          decisions on some of its hunks
{"on_disk": [id, …]}                          these changes have been on disk
{"id": …, "dropped": true}                    it is forgotten
{"review": path, "base": TextRef, …}          the review of a path, in place of its last one;
                                              without ``base``: it is over
"""

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from types import UnionType
from typing import Any, Literal, cast, get_args

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.text.lines import Text
from lsp_agent.text.review_hunks import ReviewHunk
from lsp_agent.text.traces import Key, Trace
from lsp_agent.workspace.disk.files import ENCODINGS
from lsp_agent.workspace.disk.paths import is_os_text

_log = logging.getLogger(__name__)

ChangeStatus = EditStatus | Literal["pending"]

_HUNK_STATUSES: frozenset[str] = frozenset(get_args(EditStatus))
_STATUSES = _HUNK_STATUSES | {"pending"}
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class TextRef:
    """Where a text is kept; ``size`` in bytes."""

    sha256: str
    size: int
    encoding: str
    bom: bool


@dataclass(frozen=True, slots=True)
class Record:
    """A change. ``hunks`` are the decisions on some of its hunks, by their place in the diff;
    ``takes_out`` those of other changes that it took out."""

    id: str
    session_id: str
    turn_id: str | None
    tool_call_id: str | None
    path: str
    status: ChangeStatus
    time: float
    before: TextRef | None
    after: TextRef | None
    hunks: Mapping[int, EditStatus] = field(default_factory=dict[int, EditStatus])
    on_disk: bool = False
    takes_out: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    @property
    def texts(self) -> tuple[TextRef, ...]:
        return tuple(ref for ref in (self.before, self.after) if ref is not None)

    @property
    def size(self) -> int:
        return sum(ref.size for ref in self.texts)


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """The review of one path: ``text`` was seen last, ``base`` is it without the hunks' work;
    ``base_exists`` is False where without it there is no file. ``beside``: of the text on disk, or
    of what is unsaved, where that is another one. ``traces`` lie in ``text``."""

    base: Text
    text: Text
    base_exists: bool
    hunks: tuple[ReviewHunk, ...]
    beside: "ReviewRecord | None" = None
    traces: tuple[Trace, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether its hunks lie in its texts, one behind the other, and its traces."""
        base_at = at = 0
        for hunk in self.hunks:
            if not (base_at <= hunk.base_start <= hunk.base_end and at <= hunk.start <= hunk.end):
                return False
            base_at, at = hunk.base_end, hunk.end
        size = len(self.text.lines)
        if base_at > len(self.base.lines) or at > size:
            return False
        if not all(0 <= trace.start <= trace.end <= size for trace in self.traces):
            return False
        return self.beside is None or self.beside.is_sound


@dataclass(frozen=True, slots=True)
class ReviewEntry:
    """A review as it is kept: its texts are elsewhere."""

    base: TextRef
    text: TextRef
    base_exists: bool
    hunks: tuple[ReviewHunk, ...]
    beside: "ReviewEntry | None" = None
    traces: tuple[Trace, ...] = ()

    @property
    def texts(self) -> tuple[TextRef, ...]:
        return self.base, self.text, *(self.beside.texts if self.beside else ())


@dataclass(frozen=True, slots=True)
class Contents:
    """What a journal says: changes by their id in the order of their last full line, reviews by
    their path."""

    changes: dict[str, Record] = field(default_factory=dict[str, Record])
    reviews: dict[str, ReviewEntry] = field(default_factory=dict[str, ReviewEntry])


Line = dict[str, Any]


def change_line(record: Record) -> Line:
    return asdict(record)


def review_line(path: str, entry: ReviewEntry | None) -> Line:
    return {"review": path} | ({} if entry is None else _review_fields(entry))


def _review_fields(entry: ReviewEntry) -> Line:
    beside = {} if entry.beside is None else {"beside": _review_fields(entry.beside)}
    return {
        "base": asdict(entry.base),
        "text": asdict(entry.text),
        "base_exists": entry.base_exists,
        "hunks": [astuple(hunk) for hunk in entry.hunks],
        "traces": [astuple(trace) for trace in entry.traces],
    } | beside


def replayed(lines: Iterable[bytes]) -> Contents:
    """What a journal says. A line that is not whole (the last one, after a crash) or that no
    version of ours wrote is left out."""
    contents = Contents()
    for line in _whole(lines):
        try:
            _take(contents, line)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            _log.warning("a line in the ledger's journal is left out: %r", error)
    return contents


def _take(contents: Contents, line: Line) -> None:
    changes = contents.changes
    if "review" in line:
        if "base" in line:
            contents.reviews[_path(line["review"])] = _review(line)
        else:
            contents.reviews.pop(line["review"], None)
    elif "path" in line:
        record = _change(line)
        changes.pop(record.id, None)
        changes[record.id] = record
    elif "on_disk" in line:
        for change_id in line["on_disk"]:
            if change_id in changes:
                changes[change_id] = replace(changes[change_id], on_disk=True)
    elif line.get("dropped"):
        changes.pop(line["id"], None)
    elif "hunks" in line:
        record = changes[line["id"]]
        decided = {**record.hunks, **_decided(line["hunks"])}
        changes[record.id] = replace(record, hunks=decided)
    else:
        record = changes[line["id"]]
        changes[record.id] = replace(record, status=_status(line["status"]))


def _change(line: Line) -> Record:
    for side in ("before", "after"):
        line[side] = _text_ref(line[side]) if line[side] else None
    line["status"] = _status(line["status"])
    line["hunks"] = _decided(line.get("hunks", {}))
    taken = line.get("takes_out", {})
    line["takes_out"] = {change_id: tuple(map(int, hunks)) for change_id, hunks in taken.items()}
    record = Record(**line)
    _require(str, record.id, record.session_id)
    _require(str | None, record.turn_id, record.tool_call_id)
    _require(float | int, record.time)
    _require(bool, record.on_disk)
    return replace(record, path=_path(record.path))


def _text_ref(value: Line) -> TextRef:
    ref = TextRef(**value)
    _require(int, ref.size)
    _require(bool, ref.bom)
    if not _SHA256.fullmatch(ref.sha256) or ref.encoding not in ENCODINGS:
        raise ValueError(f"no such text: {ref}")
    return ref


def _review(line: Line) -> ReviewEntry:
    hunks = tuple(map(_review_hunk, line["hunks"]))
    _require(bool, line["base_exists"])
    beside = _review(line["beside"]) if "beside" in line else None
    base, text = _text_ref(line["base"]), _text_ref(line["text"])
    traces = tuple(map(_trace, line.get("traces", ())))
    return ReviewEntry(base, text, line["base_exists"], hunks, beside, traces)


def _review_hunk(hunk: list[Any]) -> ReviewHunk:
    change_id, *place, left = hunk[:7]
    over = tuple((over_id, index) for over_id, index in hunk[8]) if len(hunk) > 8 else ()
    lines = None if left is None else tuple(left)
    replaced = tuple(hunk[9]) if len(hunk) > 9 else ()
    by = _key(hunk[10]) if len(hunk) > 10 and hunk[10] else None
    _require(str, change_id, *(over_id for over_id, _ in over), *(lines or ()), *replaced)
    _require(int, *place, *(index for _, index in over))
    mixed = any(hunk[7:8])
    return ReviewHunk(
        change_id, *place, left=lines, mixed=mixed, over=over, replaced=replaced, by=by
    )


def _trace(fields: list[Any]) -> Trace:
    key, over, start, end, lines, stood, left, mixed, beside, by = fields
    _require(str, *lines, *stood, *(left or ()))
    _require(int, start, end)
    _require(bool, mixed)
    return Trace(
        _key(key),
        tuple(map(_key, over)),
        start,
        end,
        tuple(lines),
        tuple(stood),
        None if left is None else tuple(left),
        mixed,
        tuple(map(_key, beside)),
        None if by is None else _key(by),
    )


def _key(key: list[Any]) -> Key:
    change_id, index = key
    _require(str, change_id)
    _require(int, index)
    return change_id, index


def _path(value: object) -> str:
    if not isinstance(value, str) or not value.startswith("/") or not is_os_text(value):
        raise ValueError(f"no path: {value!r}")
    return value


def _require(kind: type | UnionType, *values: object) -> None:
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(f"{value!r} is no {kind}")


def _decided(hunks: dict[str, str]) -> dict[int, EditStatus]:
    if not _HUNK_STATUSES.issuperset(hunks.values()):
        raise ValueError(f"no such status: {hunks}")
    return {int(index): cast("EditStatus", status) for index, status in hunks.items()}


def _status(status: str) -> ChangeStatus:
    if status not in _STATUSES:
        raise ValueError(f"no such status: {status}")
    return cast("ChangeStatus", status)


def _whole(lines: Iterable[bytes]) -> Iterator[Line]:
    for line in lines:
        try:
            value: Any = json.loads(line)
        except (ValueError, RecursionError):
            _log.warning("a torn line in the ledger's journal is left out")
            continue
        if isinstance(value, dict):
            yield value
