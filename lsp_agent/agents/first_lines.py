"""The line of ours before a command, and what of it a model has copied into a later one."""

import re
from collections.abc import Sequence

from lsp_agent.agents.private_folder import PREFIX
from lsp_agent.protocol.environment import GATE_VARIABLE

#: What is behind a gate cannot speak for it.
_BEHIND_GATE = f"unset {GATE_VARIABLE}"


class FirstLines:
    """``unset`` are variables that no command may see; ``for_unread`` is one, with its value, for
    those that nobody has read."""

    def __init__(self, unset: Sequence[str], for_unread: tuple[str, str] | None) -> None:
        self._unset = f"unset {' '.join(unset)}" if unset else ""
        self._export = f"export {'='.join(for_unread)}" if for_unread else ""
        gate = rf"[^\n;&|]*/{PREFIX}\w+/gate'? \d+ \|\| exit"
        # The shell becomes another; the command after it stands there to be shown alone.
        held = rf"exec /bin/sh [^\n;&|]*/{PREFIX}\w+/held-\d+'? \"\$0\"; exit"
        words = [re.escape(text) for text in (_BEHIND_GATE, self._unset, self._export) if text]
        parts = "|".join([gate, held, *words])
        self._ours = re.compile(rf"(?:{parts})(?:; (?:{parts}))*\n")

    def of(self, gate: str = "", *, unread: bool = False, held: str = "") -> str:
        """The line, with its end; "" where there is nothing to say."""
        behind = _BEHIND_GATE if gate else ""
        parts = (gate, behind, self._unset, self._export if unread else "", held)
        line = "; ".join(filter(None, parts))
        return f"{line}\n" if line else ""

    def left_out(self, command: str) -> str:
        """``command`` without such lines at its beginning."""
        while match := self._ours.match(command):
            command = command[match.end() :]
        return command
