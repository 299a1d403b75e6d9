"""The links below a folder, for programs that follow them. Blocking."""

import os
from collections.abc import Iterator
from pathlib import Path


class TooManyError(Exception):
    """More lies there than is looked at."""


def links_below(folder: str, most: int) -> Iterator[Path]:
    """None of what is no folder, nor of git's own. Raises OSError; TooManyError for more than
    ``most`` files."""
    left = [folder] if Path(folder).is_dir() else []
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                most -= 1
                if most < 0:
                    raise TooManyError
                if entry.is_symlink():
                    yield Path(entry.path)
                elif entry.is_dir() and entry.name != ".git":
                    left.append(entry.path)
