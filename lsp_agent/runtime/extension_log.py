"""One log an extension: what it wrote to stderr, and what we have to say of it."""

import os
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from lsp_agent.protocol.data_folder import log_folder
from lsp_agent.protocol.private_files import make_private

#: A log of this size is put aside, and the one that was put aside before is dropped.
LOG_BYTES = 1 << 20


def log_path(name: str) -> Path:
    """Where the log of the extension ``name`` is; what was put aside lies beside it, ``.log.1``."""
    return log_folder() / f"ext-{name}.log"


class ExtensionLog:
    """Appends; blocking, in any thread. Where no log can be kept, an extension runs without one.

    Several agents may write to one log at a time; each puts aside what it finds too large.
    """

    def __init__(self, name: str) -> None:
        self._path = log_path(name)
        self._file: BinaryIO | None = None
        self._using = Lock()

    def write(self, text: bytes) -> None:
        with self._using, suppress(OSError):
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
        if ours:  # else another agent has put it aside already
            self._path.replace(self._path.with_suffix(".log.1"))
        self._close()
