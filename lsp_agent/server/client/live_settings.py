"""The settings of each workspace folder, kept until something says that they changed."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from lsp_agent.protocol.settings.files import (
    read_user_file,
    read_workspace_file,
    user_settings_path,
)
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.protocol.settings.sources import Problem, SettingsFile, load

_HOLDS = "what it said before holds, until it can be read or the server starts anew"


class LiveSettings:
    """``report`` is called once with each problem as long as it is there, however often the files
    are read."""

    def __init__(self, initialization_options: object, report: Callable[[Problem], None]) -> None:
        self._initialization_options = initialization_options
        self._configurations: dict[str, object] = {}
        self._report = report
        self._folders: list[str] = []
        self._removed: set[str] = set()
        self._loaded: dict[str | None, Settings] = {}
        self._reported: dict[str | None, set[str]] = {}
        #: What each file said when it could be read last.
        self._read: dict[str, SettingsFile] = {}

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
            self._loaded[folder] = self._load(folder)
        return self._loaded[folder]

    def _load(self, folder: str | None) -> Settings:
        own = None if folder is None else read_workspace_file(Path(folder))
        loaded = load(
            user_file=self._user_file(),
            initialization_options=self._initialization_options,
            configuration=None if folder is None else self._configurations.get(folder),
            workspace_file=own and self._held(own),
        )
        known = set[str]().union(*self._reported.values())
        self._reported[folder] = set(map(str, loaded.problems))
        for problem in loaded.problems:
            if str(problem) not in known:
                self._report(problem)
        return loaded.settings

    def _user_file(self) -> SettingsFile | None:
        """Between two steps of a save an editor may leave none, or nothing in it."""
        file = read_user_file()
        path = str(user_settings_path())
        if file is None and (before := self._read.get(path)) and before.values:
            file = SettingsFile(path, {}, (Problem(path, "", "it is gone, or empty"),))
        return file and self._held(file)

    def _held(self, file: SettingsFile) -> SettingsFile:
        """What it said when it could be read last, where it cannot be now: forgetting that could
        loosen something."""
        if not file.problems:
            self._read[file.path] = file
            return file
        before = self._read.get(file.path)
        if before is None:
            return file
        problems = (*file.problems, Problem(file.path, "", _HOLDS))
        return replace(before, problems=problems)

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
