"""A session, as what works for its agent sees it."""

from collections.abc import Callable
from dataclasses import dataclass

from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.sessions.shared.confinement import Confinement
from lsp_agent.sessions.shared.questions import Emitter
from lsp_agent.sessions.shared.turn import Turn


@dataclass(frozen=True, slots=True)
class SessionView:
    """Made once a session, whose agent the settings call ``agent``. ``settings_now`` and
    ``turn_now`` are asked each time: both change."""

    id: str
    cwd: str
    emit: Emitter
    settings_now: Callable[[], Settings]
    turn_now: Callable[[], Turn | None]
    agent: str

    @property
    def settings(self) -> Settings:
        return self.settings_now()

    @property
    def turn_id(self) -> str | None:
        turn = self.turn_now()
        return turn.id if turn else None

    @property
    def confinement(self) -> Confinement | None:
        """Of the turn that runs."""
        turn = self.turn_now()
        return turn.confinement if turn else None

    @property
    def stopped(self) -> bool:
        """Nothing of the agent's may be done: its turn was stopped, or none runs."""
        turn = self.turn_now()
        return turn is None or turn.aborted

    def still_wanted(self) -> Callable[[], bool]:
        """Whether the turn that runs now still wants what it asked for."""
        turn = self.turn_now()
        return lambda: self.turn_now() is turn and not self.stopped
