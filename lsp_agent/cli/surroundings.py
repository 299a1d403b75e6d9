"""What a process is started with, and may be started without: standard streams, a folder."""

import os
import sys
from typing import cast

from lsp_agent.protocol.errors import UsageError


def hold_closed_streams() -> None:
    """Puts the null device where a standard stream is closed: the number would go to the next
    file that is opened, and a log be read as the client's messages. Before anything is opened."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one


def need_stdio(command: str) -> None:
    """Raises ``UsageError`` if stdin or stdout was closed before this process began."""
    for stream in ("stdin", "stdout"):
        if cast(object, getattr(sys, stream)) is None:
            raise UsageError(
                f"{stream} is closed, and `lsp-agent {command}` speaks on stdin and stdout: start"
                " it with a pipe for each, as an editor does"
            )


def need_folder() -> None:
    """Raises ``UsageError`` if the current folder does not exist any more."""
    try:
        os.getcwd()  # noqa: PTH109  pathlib costs start-up time
    except OSError as error:
        raise UsageError(
            f"the current folder is gone or cannot be entered ({error.strerror}): cd to one that"
            " exists and try again"
        ) from None
