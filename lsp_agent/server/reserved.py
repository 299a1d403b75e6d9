"""What agents are kept from even in a workspace, and where the settings allow other paths."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from lsp_agent.agents import private_folder
from lsp_agent.protocol.settings.files import WORKSPACE_FILE, user_settings_path
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.server.runs_from import agents_code, agents_extensions, server_code
from lsp_agent.user_data.data_folder import log_folder
from lsp_agent.workspace.disk.paths import Reserved

_DATA = "belongs to lsp-agent's own data"
_LOGS = "belongs to lsp-agent's own logs"
_SOCKETS = "belongs to the running lsp-agent"
_SETTINGS = "belongs to the user's own settings of lsp-agent, which agents neither see nor change"
_NARROWING = "narrows what agents may do in this folder; only the user changes it"


class ReservedPlaces:
    """``data`` is our data folder, ``log_file`` what this server logs to, if to a file, and
    ``settings`` are those of a folder."""

    def __init__(
        self, data: str, log_file: Path | None, settings: Callable[[str], Settings]
    ) -> None:
        self._settings = settings
        own = user_settings_path()
        self._ours = [
            Reserved(data, _DATA),
            Reserved(str(log_folder()), _LOGS),
            *([Reserved(str(log_file), _LOGS)] if log_file else []),
            Reserved(str(own.parent), _SETTINGS),
            # The file itself too: it may be a link to where the person keeps such files.
            Reserved(str(own), _SETTINGS),
            *(Reserved(start, _SOCKETS, prefix=True) for start in private_folder.starts()),
            *server_code(),
        ]
        self._agents: list[Reserved] = []
        self._agents_of: tuple[Settings, Sequence[str]] | None = None

    def of(self, folders: Sequence[str]) -> list[Reserved]:
        """For the workspace folders.

        An agent that could write the person's settings could free itself of them, and reading them
        it would find keys. A folder's own settings only narrow, so an agent may make them; those
        that are there it could make narrow less.
        """
        narrowing = [str(Path(folder, WORKSPACE_FILE)) for folder in folders]
        limits = [
            Reserved(path, _NARROWING, readable=True) for path in narrowing if os.path.lexists(path)
        ]
        return [*self._ours, *limits, *self._agents_code(folders)]

    def _agents_code(self, folders: Sequence[str]) -> list[Reserved]:
        """Looked for anew where the settings were read anew, which each prompt has done."""
        settings = self._settings(folders[0] if folders else os.sep)
        known = self._agents_of
        if known is None or known[0] is not settings or known[1] != folders:
            agents = settings.agents.values()
            self._agents = [*agents_code(agents, folders), *agents_extensions(agents)]
            self._agents_of = settings, folders
        return self._agents
