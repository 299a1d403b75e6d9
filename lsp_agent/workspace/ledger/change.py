"""One change of a file by an agent, as the ledger holds it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.text.lines import Text
from lsp_agent.workspace.ledger.records import ChangeStatus, Record

#: Changes whose review is over; they are the first to go when the ledger grows.
DECIDED: frozenset[ChangeStatus] = frozenset({"kept", "rejected", "superseded", "conflict", "lost"})
#: Of one that is still to go in, or to be decided on.
WAITING: frozenset[ChangeStatus] = frozenset({"pending", "proposed"})

# Shared by nearly all changes, and never written to.
NO_HUNKS: Mapping[int, EditStatus] = {}
_NOTHING: Mapping[str, tuple[int, ...]] = {}


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose change it is; opaque to the workspace. ``label`` is shown in the editor.
    ``takes_out``: see ``Change``."""

    session_id: str
    turn_id: str | None = None
    tool_call_id: str | None = None
    label: str = "agent"
    takes_out: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: _NOTHING, hash=False)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Texts:
    """Before and after a change, shared by all states of it that are held."""

    before: Text | None
    after: Text | None


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one file. ``path`` is real. ``pending``: recorded, not known to be in yet.
    ``time`` is seconds since the epoch. ``decided`` has the hunks that were decided one by one,
    by their place in ``diff(before.lines, after.lines)``; ``on_disk``: it has been on disk.
    ``takes_out``: of a revert, the hunks of earlier changes (by their ids) that it took out.
    ``texts`` are before and after, None while it is ``cold``."""

    id: str
    session_id: str
    turn_id: str | None
    tool_call_id: str | None
    path: str
    status: ChangeStatus
    time: float
    texts: Texts | None
    decided: Mapping[int, EditStatus] = field(default_factory=lambda: NO_HUNKS, hash=False)
    on_disk: bool = False
    takes_out: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: _NOTHING, hash=False)

    @staticmethod
    def of(record: Record, texts: Texts | None) -> "Change":
        return Change(
            id=record.id,
            session_id=record.session_id,
            turn_id=record.turn_id,
            tool_call_id=record.tool_call_id,
            path=record.path,
            status=record.status,
            time=record.time,
            texts=texts,
            decided=record.hunks or NO_HUNKS,
            on_disk=record.on_disk,
            takes_out=record.takes_out or _NOTHING,
        )

    @property
    def record(self) -> Record:
        """As the journal has it, without its texts."""
        return Record(
            id=self.id,
            session_id=self.session_id,
            turn_id=self.turn_id,
            tool_call_id=self.tool_call_id,
            path=self.path,
            status=self.status,
            time=self.time,
            before=None,
            after=None,
            hunks=self.decided,
            on_disk=self.on_disk,
            takes_out=self.takes_out,
        )

    @property
    def cold(self) -> bool:
        """Its texts are not in memory."""
        return self.texts is None

    @property
    def before(self) -> Text | None:
        """None for a new file. Raises RuntimeError while ``cold``."""
        return self._texts().before

    @property
    def after(self) -> Text | None:
        """None for a deleted file. Raises RuntimeError while ``cold``."""
        return self._texts().after

    def _texts(self) -> Texts:
        if self.texts is None:
            raise RuntimeError(f"change {self.id} is cold: its texts come by Ledger.loaded")
        return self.texts
