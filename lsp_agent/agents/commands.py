"""The arguments of the agent's ``bash`` tool, and what is put before a command."""

from collections.abc import Mapping
from dataclasses import dataclass

from lsp_agent.agents.first_lines import FirstLines

TOOL = "bash"


@dataclass(frozen=True, slots=True)
class Command:
    """``args`` as they came, with the one key ``command`` spelled so."""

    text: str
    args: Mapping[str, object]

    @property
    def timeout(self) -> float | None:
        """In seconds, None without a limit that can be kept."""
        limits = [value for key, value in self.args.items() if _is_limit(key, value)]
        last = limits[-1] if limits else 0
        return float(last) if isinstance(last, int | float) and last > 0 else None

    def allowed_args(self, first_line: str) -> dict[str, object]:
        """What runs at once, after a line of ours or ""."""
        return {**self.args, "command": first_line + self.text}

    def gated_args(self, gate_line: str) -> dict[str, object]:
        """What runs behind a gate. The agent's own limit would count the waiting, so it is left
        out; one of a wrong type stays, for the agent to refuse."""
        rest = {key: value for key, value in self.args.items() if not _is_limit(key, value)}
        return {**rest, "command": gate_line + self.text}


class AmbiguousCommand(Exception):
    """Several keys that the agent would all read as ``command``."""


def command_of(args: Mapping[str, object], lines: FirstLines) -> Command | None:
    """The command without lines of ours that the model copied; None if there is none to run.

    The agent matches keys without case. Raises AmbiguousCommand if what it would run cannot be
    told.
    """
    keys = [key for key in args if key.lower() == "command"]
    if len(keys) > 1:
        raise AmbiguousCommand
    text = args[keys[0]] if keys else None
    if not isinstance(text, str):
        return None
    text = lines.left_out(text)
    rest = {key: value for key, value in args.items() if key not in keys}
    return Command(text, {"command": text, **rest})


def _is_limit(key: str, value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return key.lower() == "timeout" and is_number
