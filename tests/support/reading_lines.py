"""Random command lines of the catalogue's programs, with options that it does not have as well."""

import random
import string

from lsp_agent.sessions.permissions.reading.builtins import BUILTINS, OTHERS
from lsp_agent.sessions.permissions.reading.catalogue import PROGRAMS
from lsp_agent.sessions.permissions.reading.git import COMMANDS
from lsp_agent.sessions.permissions.reading.options import Options

FILES = (
    "a",
    "b.py",
    "sub/c",
    "sub",
    ".",
    "*.py",
    "s*",
    "in",
    "leak",
    "../decoy/secret",
    "out/secret",
)
TEXTS = ("x", "1", "2", "'a b'", "%s", "HEAD", "HEAD:a", "master", "+1", "/x/p", "s/a/b/", "new")
_REDIRECTIONS = ("", "", "", "2>/dev/null", "< a", "> new", "2>&1", "< leak", ">> a")
_JOINS = (" && ", "; ", " | ", " || ", " & ", "\n")
_OF_FIND = ("-name", "-type", "f", "-print", "-delete", "-exec", "-maxdepth", "-newer", "-fprint",
            "-not", "-ls", "+", "';'", "-printf", "-o", "-regex", "-L", "-follow")  # fmt: skip
_OF_SED = ("-n", "-i", "-e", "-E", "1p", "'w new'", "'1,2p;q'", "s/a/b/w", "'e touch new'",
           "'s/[/]/gp;/w new/p'", "'s/[/]/x/;w new'", "'s|[^]|]|;|e touch new|p'", "'/[]/]/w new'",
           "'s/[a-z]*/b/g;2d'", "'s,a,b,w new'", "'$!N;P'", "'/x/,$s/a/b/pw new'")  # fmt: skip
_OF_PRINTF = ("x%n", "'%s%n'", "%s", "'%5s'", "%d", "'a[$(touch new)]'", "PATH", "-v")
_OF_GIT = ("--format=%h", "'--format=% G?'", "--format=%+GK", "'--format=%(refname)'",
           "'--format=%(signature)'", "--sort=signature", "--sort=-refname", "--pretty=%s",
           "--show-signature", "--submodule=diff", "--ext-diff", "--textconv", "-v")  # fmt: skip
_OF_TEST = ("-f", "-d", "-e", "=", "!", "-v", "'a[$(touch new)]'", "-eq", "-z", "-lt")
#: They take long, or read what nobody sends.
_SLOW = frozenset({"sleep", "seq"})


class Lines:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def line(self) -> str:
        pick = self._random
        line = self._command()
        for _ in range(pick.choice((0, 0, 0, 1, 2))):
            line += pick.choice(_JOINS) + self._command()
        match pick.randrange(12):
            case 0:
                return f"cd {pick.choice(('sub', 'in', 'out', '..', 'repo'))} && {line}"
            case 1:
                return f'for f in a *.py leak; do {line} "$f"; done'
            case 2:
                return f'echo "$({line})"'
            case 3:
                return f"if {line}; then {self._command()}; fi"
            case _:
                return line

    def _command(self) -> str:
        pick = self._random
        name = pick.choice(sorted({*PROGRAMS, *BUILTINS, *OTHERS, "find", "git"} - _SLOW))
        match name:
            case "git":
                key = pick.choice(sorted(COMMANDS))
                words = ["git", *key, *self._words(COMMANDS[key], _OF_GIT)]
            case "find":
                words = [name, *pick.choices(FILES, k=pick.randrange(2))]
                words += self._words(Options(), _OF_FIND)
            case "sed":
                words = [name, *self._words(Options(), _OF_SED)]
            case "printf":
                words = [name, *self._words(Options(), _OF_PRINTF)]
            case "test" | "[":
                words = [name, *self._words(Options(), _OF_TEST), *(["]"] if name == "[" else [])]
            case _:
                words = [name, *self._words(PROGRAMS.get(name, Options()), ())]
        return " ".join([*words, pick.choice(_REDIRECTIONS)]).strip()

    def _words(self, options: Options, others: tuple[str, ...]) -> list[str]:
        pick, words = self._random, list[str]()
        letters = sorted(options.letters) or list(string.ascii_letters)
        for _ in range(pick.randrange(4)):
            kind = pick.randrange(8)
            if others and kind < 4:
                words.append(pick.choice(others))
            elif kind < 3 and options.letters:
                words.append("-" + "".join(pick.choices(letters, k=pick.randrange(1, 3))))
            elif kind == 3 and options.names:
                name = pick.choice(sorted(options.names))
                words.append(f"--{name}" + pick.choice(("", "=1", "=x")))
            elif kind == 4:
                words.append("-" + pick.choice(string.ascii_letters))
            else:
                words.append(pick.choice(FILES + TEXTS))
        return words + pick.choices(FILES, k=pick.randrange(3))
