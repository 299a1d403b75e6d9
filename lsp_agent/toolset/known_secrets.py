"""The secrets of this machine that can be known: those of the environment, and of the ``.env``
files of some folders.
"""

import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lsp_agent.toolset.covering import secret_values, variables_in

#: A template has no secrets in it.
_ENV_FILE = re.compile(
    r"\.env(?:rc|\.(?!example$|sample$|template$|dist$|defaults$).*)?", re.IGNORECASE
)
#: Looked for by name, since a folder may be too large to be listed for each text.
_MODES = ("development", "dev", "test", "ci", "staging", "production", "prod")
_USUAL = (
    *(".env", ".envrc", ".env.local", ".env.secret", ".env.secrets"),
    *(f".env.{mode}" for mode in _MODES),
    *(f".env.{mode}.local" for mode in _MODES),
)
_MOST_BYTES = 1 << 18


def is_env_file(name: str) -> bool:
    return _ENV_FILE.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class _Read:
    stamp: tuple[int, int, int]
    values: Mapping[str, str]


class KnownSecrets:
    """Of ``environment``, and of what :meth:`know` is told. A file is read anew once it is another
    one. Any thread."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._told = secret_values(environment.items())
        self._files: dict[str, _Read] = {}

    def know(self, environment: Mapping[str, str]) -> None:
        self._told = {**self._told, **secret_values(environment.items())}

    def values(self, folders: Iterable[str]) -> dict[str, str]:
        """Their names, by value. Blocking; of the files those of usual names that lie right in
        ``folders``. What cannot be read now is as it was."""
        values = dict(self._told)
        for folder in folders:
            for name in _USUAL:
                values |= self._of_file(os.path.join(folder, name))  # noqa: PTH118
        return values

    def _of_file(self, path: str) -> Mapping[str, str]:
        known = self._files.get(path)
        try:
            status = os.stat(path)  # noqa: PTH116
            stamp = status.st_ino, status.st_mtime_ns, status.st_size
            if known is not None and known.stamp == stamp:
                return known.values
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
                return {}
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return known.values if known is not None else {}
        read = _Read(stamp, secret_values(variables_in(text)))
        self._files[path] = read
        return read.values
