"""``bash``: the line of a command that runs elsewhere, and what is answered of one that was run."""

import os
import re
import shlex
from dataclasses import dataclass

from lsp_agent.toolset.reading import MAX_BYTES, MAX_LINES

_EXIT = re.compile(r"\n\[exit (-?\d+)\](?: \(full output: [^\n]*\))?  Took (\S+)\Z")
_NEVER_RAN = "\n[not run]"


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """What is shown of a command's output; ``full_path`` names a file with all of it, if it was
    cut and there is one. ``more`` comes after the notes of where it was cut: "" or whole lines."""

    text: str = ""
    cut_lines: bool = False
    cut_bytes: bool = False
    full_path: str | None = None
    more: str = ""


def run_in(folder: str, command: str, cwd: str) -> str:
    """The line that does in ``cwd`` what ``command`` does in ``folder``, which may be relative."""
    if os.path.normpath(os.path.join(cwd, folder)) == os.path.normpath(cwd):  # noqa: PTH118
        return command
    return f"cd {shlex.quote(folder)} && {command}"


def bash_result(command: str, output: CommandOutput, exit_code: int | None, seconds: float) -> str:
    """What ``bash`` answers with; ``exit_code`` is -1 for a command that was ended, None for one
    that never ran."""
    text = f"$ {command}\n"
    if output.text:
        text += f"\n{output.text}" + ("" if output.text.endswith("\n") else "\n")
    text += _cut_notes(lines=output.cut_lines, size=output.cut_bytes)
    text += output.more
    if exit_code is None:
        return text + _NEVER_RAN
    text += f"\n[exit {exit_code}]"
    if output.full_path is not None:
        text += f" (full output: {output.full_path})"
    return f"{text}  Took {_duration(seconds)}"


def exit_code(result: str) -> int | None:
    """The one that a result of ``bash`` tells, if any."""
    match = _EXIT.search(result)
    return int(match[1]) if match else None


def without_the_wait(result: str, seconds: float | None) -> str:
    """A result of ``bash`` by an agent that has counted how long a person was asked: the command
    ran for ``seconds``, or with None never did."""
    match = _EXIT.search(result)
    if match is None:
        return result
    if seconds is None:
        return result[: match.start()] + _NEVER_RAN
    return result[: match.start(2)] + _duration(seconds)


def _duration(seconds: float) -> str:
    """``0.3s``, ``1m11s``, ``1h2m``."""
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest}s"
    return f"{minutes // 60}h{minutes % 60}m"


def _cut_notes(*, lines: bool, size: bool) -> str:
    return (f"... [truncated at {MAX_LINES} lines]\n" if lines else "") + (
        f"... [truncated at {MAX_BYTES} bytes]\n" if size else ""
    )
