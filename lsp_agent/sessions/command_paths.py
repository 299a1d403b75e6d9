"""The paths that a command line names, as far as they can be told without running it."""

import itertools
import os
import re
import shlex
from collections.abc import Iterator

_MAX_WORDS = 200
_ROUGHLY = re.compile(r"[\s;&|<>()\"'`]+")


def command_paths(command: str, cwd: str) -> list[str]:
    """Absolute paths of what could be files or folders: each word, the value of ``key=value``
    and of ``--option=value``, from ``cwd`` and from each folder that the command changes to."""
    words = _words(command)
    folders = [cwd]
    for before, word in itertools.pairwise(words):
        if before in ("cd", "pushd", "-C"):
            folders.append(_joined(folders[-1], word))
    names = dict.fromkeys(name for word in words for name in _names(word))
    paths = (_joined(folder, name) for name in names for folder in folders)
    return list(dict.fromkeys(paths))


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # an open quote: a here-document, say
        words = _ROUGHLY.split(command)
    return words[:_MAX_WORDS]


def _names(word: str) -> Iterator[str]:
    name = word.partition("=")[2] if "=" in word else word
    if name and not name.startswith("-") and "\0" not in name and re.search(r"\w", name):
        yield name


def _joined(folder: str, name: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(name)))  # noqa: PTH111, PTH118
