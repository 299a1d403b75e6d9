"""Which files and folders are named to Landlock.

It only gives, to all that lies below a folder, and takes nothing away. So where something in a
folder is to be left out, the folder is not named, but each thing in it that is neither left out nor
above what is.
"""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def parts(root: str, left_out: "Iterable[str]") -> "Iterator[str]":
    """The fewest paths that all of ``root`` lies in, as it is now, but what is ``left_out``. Links
    are none of them: where one leads is asked about by that path."""
    left_out = list(left_out)
    if root in left_out:
        return
    below = [path for path in left_out if is_in(path, root)]
    if not below:
        yield root
        return
    try:
        entries = list(posix.scandir(root))
    except OSError:
        return  # what cannot be listed is not given
    for entry in entries:
        if not entry.is_symlink():
            yield from parts(entry.path, below)


def is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
