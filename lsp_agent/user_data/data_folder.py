"""Where lies what lsp-agent keeps for a person: for them alone, shared by all servers."""

import hashlib
import os
from pathlib import Path


def data_folder() -> Path:
    """Not made here; ``~/.local/share/lsp-agent`` on Linux."""
    from platformdirs import user_data_path  # noqa: PLC0415  at the call: start-up, tests

    return user_data_path("lsp-agent", appauthor=False)


def log_folder() -> Path:
    """Where logs are kept. Not made here; ``~/.local/state/lsp-agent/log`` on Linux."""
    from platformdirs import user_log_path  # noqa: PLC0415  as above

    return user_log_path("lsp-agent", appauthor=False)


def workspace_data(folders: list[str]) -> str:
    """One a workspace: named by the real path of its first folder, as those in ``folders`` are."""
    name = hashlib.sha256(os.fsencode(folders[0] if folders else "")).hexdigest()[:16]
    return str(data_folder() / "workspaces" / name)
