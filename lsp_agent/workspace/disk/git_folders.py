"""What belongs to git, and what would make a folder one of git's.

Git takes any folder with a ``HEAD``, ``objects`` and ``refs`` for a repository, whatever it is
called, and runs what the ``config`` in it names. A linked work tree's has ``commondir`` in the
place of the last two.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

#: HFS+ leaves these out of names, so that ``.g\u200cit`` is ``.git`` there.
_NOT_IN_NAMES = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_HEAD = "HEAD"
_BESIDE_HEAD = ("objects", "refs", "commondir")


def is_git_name(name: str) -> bool:
    """Whether some system takes ``name`` for ``.git`` (git's own protectHFS and protectNTFS)."""
    return _plain(name) in {".git", "git~1"}


def is_git_folder(folder: Path) -> bool:
    """As git tells it: bare, or that of a work tree whose ``.git`` names it. Raises OSError where
    that cannot be told, which pathlib's own questions answer by no in some versions."""
    if not _has_head(folder):
        return False
    objects, refs, commondir = (_is_there(folder / name) for name in _BESIDE_HEAD)
    return (objects and refs) or commondir


def becomes_git_folder(real: str) -> Path | None:
    """The folder that a write to ``real`` would make one of git's, or nearly. Raises OSError.

    A ``HEAD`` beside any one of the others is too much: the rest may come by another way, as by an
    allowed ``mkdir``. Each alone is an ordinary name.
    """
    for folder, name, is_last in _places(real):
        if name == _HEAD.lower():
            if is_last and any(_is_there(folder / other) for other in _BESIDE_HEAD):
                return folder
        elif name in _BESIDE_HEAD and _has_head(folder):
            return folder
    return None


def become_git_folder(reals: Iterable[str]) -> Path | None:
    """The same of several writes at once, of which none is there yet."""
    heads: set[Path] = set()
    beside: set[Path] = set()
    for folder, name, is_last in (place for real in reals for place in _places(real)):
        if name == _HEAD.lower() and is_last:
            heads.add(folder)
        elif name in _BESIDE_HEAD:
            beside.add(folder)
    return next(iter(heads & beside), None)


def _places(real: str) -> Iterator[tuple[Path, str, bool]]:
    """Each folder on the way to ``real``, the plain name in it, and whether that is ``real``."""
    path = Path(real)
    for inner in (path, *path.parents):
        yield inner.parent, _plain(inner.name), inner is path


def _plain(name: str) -> str:
    """As the most forgiving of systems reads it: NTFS drops dots, blanks and streams."""
    return _NOT_IN_NAMES.sub("", name).partition(":")[0].rstrip(". ").casefold()


def _has_head(folder: Path) -> bool:
    """A link counts wherever it leads: git takes one that is called ``refs/heads/x``."""
    mode = _mode(folder / _HEAD)
    return mode != 0 and not stat.S_ISDIR(mode)


def _is_there(path: Path) -> bool:
    return _mode(path) != 0


def _mode(path: Path) -> int:
    """0 where there is nothing."""
    try:
        return os.stat(path, follow_symlinks=False).st_mode  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return 0
