"""A log for one person alone, bounded in size: what is put aside replaces what was before."""

import os
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from lsp_agent.user_data.private_files import make_private

#: A log of this size is put aside.
LOG_BYTES = 1 << 20


def put_aside(path: Path) -> Path:
    """Where what was put aside of the log at ``path`` lies: beside it, ``.log.1``."""
    return path.with_suffix(f"{path.suffix}.1")


class PrivateLog:
    """Appends; blocking, in any thread. Several processes may write to one log at a time; each
    puts aside what it finds too large."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._using = Lock()

    def write(self, text: bytes) -> None:
        """Raises OSError."""
        with self._using:
            if self._file is None:
                make_private(self._path.parent)
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                self._file = os.fdopen(os.open(self._path, flags, 0o600), "ab", buffering=0)
            self._file.write(text[-LOG_BYTES:])
            if os.fstat(self._file.fileno()).st_size > LOG_BYTES:
                self._put_aside(self._file)

    def close(self) -> None:
        with self._using:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _put_aside(self, file: BinaryIO) -> None:
        try:
            ours = os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except FileNotFoundError:
            ours = False
        if ours:  # else another process has put it aside already
            self._path.replace(put_aside(self._path))
        self._close()
