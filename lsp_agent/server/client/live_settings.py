"""The settings of each workspace folder, kept until something says that they changed."""

from collections.abc import Callable, Iterable
from pathlib import Path

from lsp_agent.protocol.settings.files import load_for_folder
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.protocol.settings.sources import Problem


class LiveSettings:
    """``report`` is called once with each problem, however often the files are read."""

    def __init__(self, initialization_options: object, report: Callable[[Problem], None]) -> None:
        self._initialization_options = initialization_options
        self._configurations: dict[str, object] = {}
        self._report = report
        self._folders: list[str] = []
        self._removed: set[str] = set()
        self._loaded: dict[str | None, Settings] = {}
        self._reported: set[str] = set()

    def follow(self, folders: Iterable[str]) -> None:
        """Takes the workspace folders, as real paths. What a removed one narrowed stays so for
        the sessions in it, unless another folder holds them."""
        before, self._folders = self._folders, list(folders)
        self._removed = (self._removed | set(before)) - set(self._folders)

    def of(self, path: str) -> Settings:
        """The settings of the workspace folder that holds the real ``path`` (the innermost); its
        files are read on first use and after ``forget``."""
        folder = _holding(self._folders, path) or _holding(self._removed, path)
        if folder not in self._loaded:
            loaded = load_for_folder(
                None if folder is None else Path(folder),
                initialization_options=self._initialization_options,
                configuration=None if folder is None else self._configurations.get(folder),
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


def _holding(folders: Iterable[str], path: str) -> str | None:
    holding = (folder for folder in folders if Path(path).is_relative_to(folder))
    return max(holding, key=len, default=None)
