"""A workspace to try something in; nothing of it is left."""

import json
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from lsp_agent.user_data.conversations import forget_conversation
from lsp_agent.user_data.data_folder import workspace_data


@contextmanager
def scratch_workspace(prefix: str) -> Generator[Path]:
    """Its folder, by its real path. No server may run in it at the end."""
    with tempfile.TemporaryDirectory(prefix=prefix) as made:
        folder = Path(made).resolve()
        try:
            yield folder
        finally:
            # Of the folder's changes and sessions, too; there are none where no server came to it.
            data = Path(workspace_data([str(folder)]))
            for about in data.glob("sessions/*/about.json"):
                forget_conversation(json.loads(about.read_bytes()).get("ref"))
            shutil.rmtree(data, ignore_errors=True)
