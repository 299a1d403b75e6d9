"""The settings' patterns for paths, such as ``read: docs/*``: they see where a path leads."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Place:
    """An absolute path without ``.`` and ``..``, and the folder that patterns are taken from."""

    path: str
    folder: str

    def fits(self, glob: str) -> bool:
        """A relative glob is for what is called so from ``folder``, an absolute one for the whole
        path. One that is the very path may have any signs in it."""
        name = self.path if glob.startswith(os.sep) else os.path.relpath(self.path, self.folder)
        glob = glob.removeprefix("./")
        return name == glob or fnmatchcase(name, glob)


def places_of(path: str, cwd: str, real: str) -> list[Place]:
    """What ``path`` is as it is written, and where it leads to: ``real``."""
    plain = os.path.normpath(os.path.join(cwd, path))  # noqa: PTH118
    return [Place(plain, cwd), Place(real, os.path.realpath(cwd))]


def allowed_by(globs: Iterable[str], places: Sequence[Place]) -> bool:
    """Whether each of the places, of which there are some, fits one of the ``globs``."""
    tried = list(globs)
    return bool(places) and all(any(place.fits(glob) for glob in tried) for place in places)
