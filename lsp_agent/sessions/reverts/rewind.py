"""Back to an earlier prompt of a session, its files as well where that is wanted."""

from dataclasses import dataclass

from lsp_agent.protocol.events import Notice
from lsp_agent.sessions.reverts.reverts import Reverted, Reverts
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.sessions import Sessions
from lsp_agent.sessions.stored.cut import Asked

_TOLD = "The conversation goes on from an earlier prompt; what came after is a session of its own."


@dataclass(frozen=True, slots=True)
class WentBack:
    """``left_id`` is the session in which what was left is kept; ``reverted`` is None where the
    files were to stay."""

    to: Asked
    left_id: str
    reverted: Reverted | None


async def rewind(
    sessions: Sessions, reverts: Reverts, session: Session, turn_id: str | None, *, files: bool
) -> WentBack:
    """To before that turn, or the last one; with ``files`` what was changed since is taken back,
    as far as the person's own work allows.

    :raises RequestFailed: "busy", or as ``Sessions.rewind`` does
    """
    async with reverts.one_at_a_time, session.at_rest():
        cut, left_id = await sessions.rewind(session, turn_id)
        session.emit(Notice("info", _TOLD, "lsp-agent"), None)
        reverted = None
        if files:
            reverted = await reverts.take_back(session.id, cut.turns, cut.asked.time)
    return WentBack(cut.asked, left_id, reverted)
