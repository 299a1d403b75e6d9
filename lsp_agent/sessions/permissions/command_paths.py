"""The paths that a command line names, as far as they can be told without running it."""

import itertools
import os
import re
import shlex
from collections.abc import Iterator

#: In characters. The lexer is slow, and of one long word slower than its length.
_MAX_LENGTH = 8192
_MAX_WORDS = 200
_MAX_FOLDERS = 8
_MAX_PATHS = 200
_ROUGHLY = re.compile(r"[\s;&|<>()\"'`]+")


def command_paths(command: str, cwd: str) -> list[str]:
    """Absolute paths of what could be files or folders: each word, the value of ``key=value``
    and of ``--option=value``, from ``cwd`` and from each folder that the command changes to. Of a
    long command, the first ones."""
    words = _words(command)
    folders = [cwd]
    for before, word in itertools.pairwise(words):
        if before in ("cd", "pushd", "-C") and len(folders) < _MAX_FOLDERS:
            folders += _joined(folders[-1], word)
    names = dict.fromkeys(name for word in words for name in _names(word))
    paths = (path for name in names for folder in folders for path in _joined(folder, name))
    return list(dict.fromkeys(itertools.islice(paths, _MAX_PATHS)))


def _words(command: str) -> list[str]:
    command = command[:_MAX_LENGTH]
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(itertools.islice(lexer, _MAX_WORDS))
    except ValueError:  # an open quote: a here-document, say, or one that is cut
        return _ROUGHLY.split(command, _MAX_WORDS)[:_MAX_WORDS]


def _names(word: str) -> Iterator[str]:
    name = word.partition("=")[2] if "=" in word else word
    if name and not name.startswith("-") and "\0" not in name and re.search(r"\w", name):
        yield name


def _joined(folder: str, name: str) -> list[str]:
    """None in the homes of others: they lie outside, and a system may take long to say where."""
    if name.startswith("~"):
        home, (user, _, rest) = os.environ.get("HOME"), name.partition("/")
        if user != "~" or not home:
            return []
        folder, name = home, rest.lstrip("/")
    return [os.path.normpath(os.path.join(folder, name))]  # noqa: PTH118
