"""The settings of each workspace folder, kept until something says that they changed."""

from collections.abc import Callable
from pathlib import Path

from lsp_agent.protocol.settings import Settings
from lsp_agent.protocol.settings_files import load_for_folder
from lsp_agent.protocol.settings_sources import Problem


class LiveSettings:
    """``report`` is called once with each problem, however often the files are read."""

    def __init__(self, initialization_options: object, report: Callable[[Problem], None]) -> None:
        self._initialization_options = initialization_options
        self._configurations: dict[str, object] = {}
        self._report = report
        self._loaded: dict[str, Settings] = {}
        self._reported: set[str] = set()

    def of(self, folder: str) -> Settings:
        """The settings of ``folder``; its files are read on first use and after ``forget``."""
        if folder not in self._loaded:
            loaded = load_for_folder(
                Path(folder),
                initialization_options=self._initialization_options,
                configuration=self._configurations.get(folder),
            )
            for problem in loaded.problems:
                if str(problem) not in self._reported:
                    self._reported.add(str(problem))
                    self._report(problem)
            self._loaded[folder] = loaded.settings
        return self._loaded[folder]

    def forget(self) -> None:
        """The files are read anew at the next use (each prompt forgets: they are small)."""
        self._loaded.clear()

    def configure(self, folder: str, configuration: object) -> None:
        """Takes what the client answered to ``workspace/configuration`` for ``folder``."""
        self._configurations[folder] = configuration
        self.forget()
