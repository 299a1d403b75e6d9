"""What agents are kept from even in a workspace, and where the settings allow other paths."""

import os
from collections.abc import Iterable
from pathlib import Path

from lsp_agent.agents import private_folder
from lsp_agent.protocol.settings_files import WORKSPACE_FILE, user_settings_path
from lsp_agent.workspace.paths import Reserved

_DATA = "belongs to lsp-agent's own data"
_SOCKETS = "belongs to the running lsp-agent"
_SETTINGS = "belongs to the user's own settings of lsp-agent, which agents neither see nor change"
_NARROWING = "narrows what agents may do in this folder; only the user changes it"


def reserved(data: str, folders: Iterable[str]) -> list[Reserved]:
    """For our data folder and the workspace folders.

    An agent that could write the person's settings could free itself of them, and reading them it
    would find keys. A folder's own settings only narrow, so an agent may make them; those that
    are there it could make narrow less.
    """
    settings = user_settings_path()
    narrowing = [str(Path(folder, WORKSPACE_FILE)) for folder in folders]
    return [
        Reserved(data, _DATA),
        Reserved(str(settings.parent), _SETTINGS),
        # The file itself too: it may be a link to where the person keeps such files.
        Reserved(str(settings), _SETTINGS),
        *(Reserved(start, _SOCKETS, prefix=True) for start in private_folder.starts()),
        *(Reserved(path, _NARROWING, readable=True) for path in narrowing if os.path.lexists(path)),
    ]
