"""A workspace to try something in, of which nothing is left, and an agent that follows a script."""

import json
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lsp_agent.protocol.settings.settings import EditSettings, PermissionSettings
from lsp_agent.protocol.settings.sources import builtin_command
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


def scripted_options(name: str, script: Path) -> dict[str, Any]:
    """The options of a server whose agent follows ``script``. What a person lets agents do is not
    what is tried with it, so their own edits and permissions do not hold."""
    agent = {
        "wire": "zot",
        "command": [*builtin_command(), "--script", str(script)],
        "provider": "script",
    }
    return {
        "agent": name,
        "agents": {name: agent},
        "edits": EditSettings().model_dump(),
        "permissions": PermissionSettings().model_dump(),
    }
