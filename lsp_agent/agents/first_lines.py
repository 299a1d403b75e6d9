"""The line of ours before a command, and what of it a model has copied into a later one."""

import re
from collections.abc import Sequence

from lsp_agent.agents.private_folder import PREFIX


class FirstLines:
    """``unset`` are variables that no command may see; ``for_unread`` is one, with its value, for
    those that nobody has read."""

    def __init__(self, unset: Sequence[str], for_unread: tuple[str, str] | None) -> None:
        self._unset = f"unset {' '.join(unset)}" if unset else ""
        self._export = f"export {'='.join(for_unread)}" if for_unread else ""
        gate = rf"[^\n;&|]*/{PREFIX}\w+/gate'? \d+ \|\| exit"
        words = [re.escape(text) for text in (self._unset, self._export) if text]
        parts = "|".join([gate, *words])
        self._ours = re.compile(rf"(?:{parts})(?:; (?:{parts}))*\n")

    def of(self, gate: str = "", *, unread: bool = False) -> str:
        """The line, with its end; "" where there is nothing to say."""
        parts = (gate, self._unset, self._export if unread else "")
        line = "; ".join(filter(None, parts))
        return f"{line}\n" if line else ""

    def left_out(self, command: str) -> str:
        """``command`` without such lines at its beginning."""
        while match := self._ours.match(command):
            command = command[match.end() :]
        return command
