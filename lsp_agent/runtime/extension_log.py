"""One log an extension: what it wrote to stderr, and what we have to say of it."""

from contextlib import suppress
from pathlib import Path

from lsp_agent.user_data.data_folder import log_folder
from lsp_agent.user_data.private_log import PrivateLog


def log_path(name: str) -> Path:
    """Where the log of the extension ``name`` is."""
    return log_folder() / f"ext-{name}.log"


class ExtensionLog(PrivateLog):
    """Where no log can be kept, an extension runs without one."""

    def __init__(self, name: str) -> None:
        super().__init__(log_path(name))

    def write(self, text: bytes) -> None:
        with suppress(OSError):
            super().write(text)
