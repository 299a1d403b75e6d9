"""What a word of a command may stand for once the shell has expanded its globs.

Rather too much than too little: of a name with a glob only the beginning and the end are compared,
so that neither locales nor what is in brackets matter. The work is bounded; where the bound is
reached, nothing is known.
"""

import os
import re
from collections.abc import Iterator

#: Names that are looked at for one command line.
MOST_ENTRIES = 2000
#: Paths that the words of one command line may stand for.
_MOST_PATHS = 1000
#: A name with a glob: what is before the first and after the last sign of one.
_GLOB = re.compile(r"([^*?\[]*)[*?\[](?:.*[*?\]])?(.*)", re.DOTALL)


class Globs:
    """Of one command line that runs in ``cwd``. Blocking, as long as the bounds allow."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._entries = MOST_ENTRIES
        self._paths = _MOST_PATHS

    def paths(self, word: str) -> list[str] | None:
        """The word and all that it may stand for; None where that cannot be told, or where one of
        them would be taken for an option."""
        if "**" in word:  # in some shells that is all that lies below
            return None
        try:
            found = [word, *(path for path in self._expanded(word) if path != word)]
        except (OSError, _TooMany):
            return None
        self._paths -= len(found)
        if self._paths < 0 or any(path.startswith("-") for path in found[1:]):
            return None
        return found

    def _expanded(self, word: str) -> list[str]:
        """Raises OSError, _TooMany."""
        folders = [""]
        for name in word.split("/"):
            glob = _GLOB.fullmatch(name)
            folders = [
                f"{folder}{one}/"
                for folder in folders
                for one in ([name] if glob is None else self._fitting(folder, *glob.groups()))
            ]
        return [folder.removesuffix("/") for folder in folders]

    def _fitting(self, folder: str, start: str, end: str) -> Iterator[str]:
        """As a shell does it, no hidden name unless its dot is given."""
        try:
            with os.scandir(os.path.join(self._cwd, folder)) as entries:  # noqa: PTH118
                for entry in entries:
                    self._entries -= 1
                    if self._entries < 0:
                        raise _TooMany
                    name = entry.name
                    is_hidden = name.startswith(".") and not start
                    if name.startswith(start) and name.endswith(end) and not is_hidden:
                        yield name
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return  # a shell finds nothing there either


class _TooMany(Exception):
    """More names than are looked at."""
