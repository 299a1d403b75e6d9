"""What the agent proposes or says as a file, for editors that can open files and nothing else."""

import hashlib
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio.to_thread

from lsp_agent.text.plain import escaped_line

#: Of a file's name, in code points; with the ending at most 255 bytes in UTF-8.
_NAME_LENGTH = 60


class PreviewFiles:
    """Read-only files in a folder that only the person can enter, gone when the server ends.

    A file's place depends on what is previewed, so that an editor that has it open takes the
    newer text. After ``close`` nothing is written any more.
    """

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None
        self._lock = anyio.Lock()
        self._closed = False

    async def write(self, key: str, name: str, text: str, ending: str = ".diff") -> str:
        """Writes ``text`` as ``<name><ending>`` in a folder for ``key``; the file's path.

        Raises OSError.
        """
        async with self._lock:
            return await anyio.to_thread.run_sync(self._write, key, file_name(name) + ending, text)

    async def close(self) -> None:
        async with self._lock:
            self._closed = True
            if self._folder is not None:
                await anyio.to_thread.run_sync(self._folder.cleanup)

    def _write(self, key: str, name: str, text: str) -> str:
        if self._closed:
            raise FileNotFoundError("the server ends")
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="lsp-agent-preview-")
        folder = Path(self._folder.name) / hashlib.sha256(key.encode()).hexdigest()[:16]
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / name
        # Renamed into place: the one that is there cannot be written to.
        fresh = folder / "new.tmp"
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "wb") as file:
            file.write(text.encode(errors="backslashreplace"))
        fresh.replace(path)
        return str(path)


def file_name(name: str) -> str:
    """A name that can be shown and written: odd characters escaped, long names shortened."""
    return escaped_line(name).replace("/", "_")[-_NAME_LENGTH:] or "proposal"
