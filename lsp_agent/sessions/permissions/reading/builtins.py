"""What a shell does itself, and programs that have rules of their own."""

import re
from collections.abc import Callable, Mapping

from lsp_agent.sessions.permissions.reading.catalogue import PROGRAMS, word_set
from lsp_agent.sessions.permissions.reading.options import Taken, take
from lsp_agent.sessions.permissions.reading.sed import sed
from lsp_agent.sessions.permissions.shell.line import Command

_TESTS = word_set(
    "-b -c -d -e -f -g -h -k -L -p -r -s -S -u -w -x -O -G -nt -ot -ef -z -n = == != ! -a -o"
    " -eq -ne -lt -le -gt -ge"
)
_NUMBER = re.compile(r"-?\d+")
_NUMERIC = word_set("-eq -ne -lt -le -gt -ge")
#: No ``%n``, which sets a variable, and no numbers: some shells compute what they are given.
_FORMAT = re.compile(r"(?!-)(?:[^%]|%%|%-?\d*(?:\.\d+)?[sbcq])+", re.DOTALL)


def _said(command: Command) -> Taken | None:
    """Its words, whatever they are, are only said; a glob says which files there are. One in quotes
    has been looked for by a loop."""
    globs = [command.words[number] for number in sorted(command.globs - command.whole)]
    known = [word for word in globs if word is not None]
    return Taken(known) if len(known) == len(globs) else None


def _printf(command: Command) -> Taken | None:
    form = command.words[1] if len(command.words) > 1 else None
    is_form = form is not None and _FORMAT.fullmatch(form) and 1 not in command.globs
    return _said(command) if is_form else None


def _alone(command: Command) -> Taken | None:
    return Taken() if len(command.words) == 1 else None


def _pwd(command: Command) -> Taken | None:
    return Taken() if command.words[1:] in ((), ("-P",), ("-L",)) else None


def _exit(command: Command) -> Taken | None:
    code = command.words[1:]
    return Taken() if not code or (len(code) == 1 and (code[0] or "").isdecimal()) else None


def _cd(command: Command) -> Taken | None:
    folder = command.words[-1]
    return Taken([folder]) if folder is not None and len(command.words) > 1 else None


def _command(command: Command) -> Taken | None:
    literal = command.literal
    is_asked = literal is not None and literal[1:2] in (("-v",), ("-V",))
    return Taken() if is_asked and not command.globs else None


def _type(command: Command) -> Taken | None:
    return Taken() if command.literal is not None and not command.globs else None


def _date(command: Command) -> Taken | None:
    """One that only has a format: others may set the clock."""
    words = command.literal
    form = words is not None and all(w in ("-u", "-I", "-R") or w[:1] == "+" for w in words[1:])
    return Taken() if form and not command.globs else None


def _test(command: Command) -> Taken | None:
    """Of shells some run what stands in brackets of an operand of ``-v``, or in a variable that
    one of ``-eq`` names."""
    words = command.literal
    if words is None or command.globs or (words[0] == "[" and words[-1] != "]"):
        return None
    inner = words[1:-1] if words[0] == "[" else words[1:]
    if any("[" in word or "(" in word for word in inner):
        return None
    files: list[str] = []
    numeric = bool(_NUMERIC.intersection(inner))
    for word in inner:
        if word in _TESTS or (numeric and _NUMBER.fullmatch(word)):
            continue
        if numeric or (word.startswith("-") and len(word) < 4):
            return None
        files.append(word)
    return Taken([file for file in files if file])


BUILTINS: Mapping[str, Callable[[Command], Taken | None]] = {
    "echo": _said,
    "true": _said,
    "false": _said,
    ":": _said,
    "printf": _printf,
    "pwd": _pwd,
    "cd": _cd,
    "exit": _exit,
    "command": _command,
    "type": _type,
    "test": _test,
    "[": _test,
}


#: Programs, so that it matters which one is found.
def _tail(command: Command) -> Taken | None:
    """One of the old form, ``+1f``, goes on for ever."""
    taken = take(command, 1, PROGRAMS["tail"])
    is_old = taken is not None and any(each.startswith("+") for each in taken.operands)
    return None if is_old else taken


OTHERS: Mapping[str, Callable[[Command], Taken | None]] = {
    "date": _date,
    "uptime": _alone,
    "sed": sed,
    "tail": _tail,
}
