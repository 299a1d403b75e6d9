"""Which turns are meant, and of which session: of those that changed nothing as well."""

from collections import OrderedDict

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Rewound, StampedEvent, TurnEnded
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.sessions import Sessions
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.ledger import Ledger

#: A turn that changed nothing is known for as long as it is among the last ones.
_TURNS = 4096


class KnownTurns:
    """Of one server."""

    def __init__(self, ledger: Ledger, sessions: Sessions) -> None:
        self._ledger = ledger
        self._sessions = sessions
        self._turns: OrderedDict[str, str] = OrderedDict()

    def take(self, stamped: StampedEvent) -> None:
        """Subscribes to each session's log: a turn that changed nothing is known, too."""
        match stamped.event:
            case TurnEnded() if stamped.turn_id is not None:
                self.know(stamped.turn_id, stamped.session_id)
            case Rewound(turn_id):
                for left in [turn_id, *self.since(turn_id)]:
                    self._turns.pop(left, None)
            case _:
                pass

    async def recall(self, session_id: str | None, turn_id: str | None) -> None:
        """The turns of an earlier run, where one is meant that changed nothing."""
        if session_id is None or turn_id is None or turn_id in self._turns:
            return
        if any(change.turn_id == turn_id for change in self._ledger.changes()):
            return
        past = await self._sessions.past_turns(session_id)
        self._turns = OrderedDict(dict.fromkeys(past, session_id) | self._turns)

    def session_of(self, session_id: str | None, turn_id: str | None) -> str | None:
        """None where there is no default session yet."""
        if session_id is not None and not self.changes_of(session_id):
            self._sessions.get(session_id)
        if turn_id is None:
            default = self._sessions.to_stop(session_id, None) if session_id is None else None
            return session_id or (default.id if default else None)
        running = next((s.id for s in self._sessions.all() if s.has_turn(turn_id)), None)
        made = (c.session_id for c in self._ledger.changes() if c.turn_id == turn_id)
        found = running or self._turns.get(turn_id) or next(made, None)
        if found is None or session_id not in {None, found}:
            whose = "" if session_id is None else f" of session {session_id!r}"
            raise RequestFailed("unknownTurn", f"There is no turn {turn_id!r}{whose}.")
        return found

    def living(self, session_id: str) -> Session | None:
        return next((s for s in self._sessions.all() if s.id == session_id), None)

    def changes_of(self, session_id: str) -> list[Change]:
        """Oldest first."""
        changes = self._ledger.changes(session_id=session_id)
        return sorted(changes, key=lambda change: change.time)

    def know(self, turn_id: str, session_id: str) -> None:
        self._turns[turn_id] = session_id
        while len(self._turns) > _TURNS:
            self._turns.popitem(last=False)

    def since(self, turn_id: str | None) -> list[str]:
        """The turns of its session that ended after it: it may have changed nothing itself."""
        known = list(self._turns)
        if turn_id is None or turn_id not in known:
            return []
        later = known[known.index(turn_id) + 1 :]
        return [each for each in later if self._turns[each] == self._turns[turn_id]]
