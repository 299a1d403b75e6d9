"""``find`` with tests and with what it prints: no ``-exec``, ``-delete``, ``-fprint``, ``-L``."""

from lsp_agent.sessions.permissions.reading.catalogue import word_set
from lsp_agent.sessions.permissions.reading.options import Taken
from lsp_agent.sessions.permissions.shell.line import Command

_ALONE = word_set(
    "-print -print0 -ls -prune -quit -empty -depth -mount -xdev -daystart -true -false -readable"
    " -writable -executable -not -a -and -o -or ! ( ) ,"
)
_WITH_TEXT = word_set(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -maxdepth"
    " -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -links -inum"
    " -printf"
)
_WITH_FILE = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})


def find(command: Command) -> Taken | None:
    literal = command.literal
    if literal is None:
        return None
    words = list(literal[1:])
    taken = Taken()
    number = 1
    while words and not words[0].startswith(("-", "(", "!")):
        taken.files.append(words.pop(0))
        number += 1
    if number <= max(command.globs, default=0):
        return None
    taken.files = taken.files or ["."]
    left = iter(words)
    for word in left:
        if word in _ALONE:
            continue
        value = next(left, None)
        if value is None or word not in _WITH_TEXT | _WITH_FILE:
            return None
        if word in _WITH_FILE:
            taken.files.append(value)
    return taken
