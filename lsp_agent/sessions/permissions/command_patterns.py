"""How far a person's yes to one command line may be widened: ``git status*``.

A pattern is offered only for programs in the tables below, so that nobody widens an interpreter,
a wrapper (``env``, ``sudo``, ``xargs``) or anything else whose arguments are code or another
command. It keeps the words that say what is done; its ``*`` begins a new word and covers further
arguments, but

- no other command of the same line, each of which has its own yes, and no redirection;
- no path outside the workspace, in ``.git`` or in our own data, links followed, whether it is
  named, attached to an option (``-aF/etc/passwd``) or found by a glob;
- no option that writes a file of its choice, follows links or a list of names that nobody looks
  at, runs another program or turns to another server.

Programs that build or test the workspace run its code, which the agent may edit: allowing them
is allowing that, with or without a pattern.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lsp_agent.sessions.permissions.shell.line import Command, Way
from lsp_agent.text.plain import is_seen

#: A word of a pattern itself: nothing that a shell or a glob would read as more than its letters.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@%+/-]*")
#: In characters; no system has a file with a longer name. A commit's message is often longer.
_LONGEST_NAME = 255
#: As in ``--report=html:out,xml:out``, or ``@out`` for the arguments that a file holds.
_PARTS = re.compile(r"[=:,@]")
_GLOB = re.compile(r"[*?\[]")
#: What may be options of one letter, with the value of the last: each letter could be the last.
_LETTERS = re.compile(r"-[^\s=:,/]*")
#: As globs: those that are hidden too.
_ALL_IN_IT = ("*", ".*")
#: ``.*`` may become ``..``.
_HIDDEN_GLOB = re.compile(r"(^|/)\.[^/]*[*?\[]")


@dataclass(frozen=True, slots=True)
class _Family:
    """Commands that begin alike. ``uncovered`` are options that ``*`` does not stand for; with
    ``named`` the next word belongs to the pattern too (``npm run build``); with ``exact`` all
    words do, and there is no ``*``. ``lists``: of a folder that is named, the files in it are
    opened as if they were named. Without ``slashed`` no further word has a slash, as one would
    that names another kind of thing."""

    uncovered: tuple[str, ...] = ()
    named: bool = False
    exact: bool = False
    lists: bool = False
    slashed: bool = True


def _each(prefix: str, words: str, family: _Family) -> dict[tuple[str, ...], _Family]:
    return {(*prefix.split(), word): family for word in words.split()}


_PLAIN_FAMILY = _Family()
_GIT = _Family(
    ("--output", "--open-files-in-pager", "-O", "--ext-diff", "--textconv", "--no-index")
)
_RG_PROGRAMS = ("--pre", "--hostname-bin", "--search-zip", "-z")
_CARGO = _Family(("--config", "-C", "-Z"))
_GO_TOOLS = ("exec", "toolexec", "vettool", "overlay", "modfile", "compiler")
_GO = _Family((*_GO_TOOLS, "asmflags", "gcflags", "gccgoflags", "ldflags", "C", "o", "http"))
_NPM_SETTINGS = ("--script-shell", "--node-options", "--userconfig", "--globalconfig")
_NPM_SERVERS = ("--registry", "--proxy", "--https-proxy", "--noproxy")
_NPM_FILES = ("--prefix", "-C", "--dir", "--cwd", "--logs-dir", "--cache")
_NPM = (*_NPM_SETTINGS, *_NPM_SERVERS, *_NPM_FILES)
_PIP_SERVERS = ("--index-url", "--extra-index-url", "--pypi-url", "-i", "--proxy")
_PIP_PROGRAMS = ("--python", "--keyring-provider")
_PIP = _Family((*_PIP_PROGRAMS, *_PIP_SERVERS, "--log", "--log-file", "--local-log"))
_SUM = _Family(("--check", "-c"))
_DOCKER = _Family(("--host", "-H", "--context", "-c", "--config"))
_OTHER_CLUSTER = ("--kubeconfig", "--server", "-s", "--context", "--cluster", "--user", "--as")
_KUBECTL_FILES = ("--profile", "--profile-output", "--cache-dir", "--log-dir", "--log-file")
_KUBECTL_SOURCES = ("--kuberc", "--raw", "--filename", "-f", "--kustomize", "-k")
_KUBECTL_UNCOVERED = (*_OTHER_CLUSTER, *_KUBECTL_FILES, *_KUBECTL_SOURCES)
_KUBECTL = _Family(_KUBECTL_UNCOVERED, named=True, slashed=False)
_PYTEST = _Family(("--pastebin", "--junitxml", "--junit-xml", "--debug"))
_FLAKE8 = _Family(("--output-file",))
_RUFF = _Family(("--output-file", "-o"))
#: Beside those that end so: ``--html-report``, ``--txt-report``.
_MYPY_FILES = ("--junit-xml", "--cache-dir", "--sqlite-cache", "--shadow-file")
_MYPY_REPORTS = tuple(
    f"--{kind}-report"
    for kind in ("any-exprs", "cobertura-xml", "html", "linecount", "linecoverage",
                 "lineprecision", "txt", "xml", "xslt-html", "xslt-txt")
)  # fmt: skip
_MYPY = _Family(("--python-executable", "--install-types", *_MYPY_FILES, *_MYPY_REPORTS))

#: No isort among them: it follows links out of the workspace, and writes there.
_BEFORE_TOOLS = ((), ("python", "-m"), ("python3", "-m"), ("uv", "run"))

_FAMILIES: Mapping[tuple[str, ...], _Family] = {
    # What only reads, or adds a folder or an empty file.
    **_each("", "basename cat cmp cut df dirname head", _PLAIN_FAMILY),
    **_each("", "mkdir nl od readlink realpath stat tail touch which", _PLAIN_FAMILY),
    **_each("", "md5sum sha256sum", _SUM),
    **_each("", "diff", _Family(("--recursive", "-r"), lists=True)),
    **_each("", "ls", _Family(("--dereference", "-L"))),
    **_each("", "grep", _Family(("--dereference-recursive", "-R", "-S"))),
    **_each("", "rg", _Family((*_RG_PROGRAMS, "--follow", "-L"))),
    **_each("", "sort", _Family(("--output", "-o", "--compress-program", "--files0-from"))),
    **_each("", "du", _Family(("--files0-from", "--dereference", "-L"))),
    **_each("", "wc", _Family(("--files0-from",))),
    **_each("", "tree", _Family(("-o", "-R", "-l"))),
    **_each("", "file", _Family(("--compile", "-C", "--files-from", "-f"))),
    **_each("git", "add blame commit describe diff grep log ls-files merge-base rev-list", _GIT),
    **_each("git", "rev-parse shortlog show status", _GIT),
    **_each("docker", "images logs ps stats top version", _DOCKER),
    **_each("kubectl", "describe explain get logs top", _KUBECTL),
    **_each("pip", "check freeze list show", _PIP),
    # It runs the workspace's own Python, and asks servers that its settings name.
    **_each("uv pip", "check freeze list show tree", _Family(exact=True)),
    # What builds or tests the workspace.
    **_each("", "black jest prettier tsc vitest", _PLAIN_FAMILY),
    **_each("python -m", "black unittest", _PLAIN_FAMILY),
    **_each("python3 -m", "black unittest", _PLAIN_FAMILY),
    **_each("uv run", "black", _PLAIN_FAMILY),
    **{(*before, "flake8"): _FLAKE8 for before in _BEFORE_TOOLS},
    **{(*before, "ruff"): _RUFF for before in _BEFORE_TOOLS},
    **_each("", "pytest", _PYTEST),
    **_each("python -m", "pytest", _PYTEST),
    **_each("python3 -m", "pytest", _PYTEST),
    **_each("uv run", "pytest", _PYTEST),
    **_each("", "eslint", _Family(("--output-file", "-o"))),
    **_each("", "mypy", _MYPY),
    **_each("", "pyright", _Family(("--pythonpath",))),
    **_each("cargo", "bench build check clippy doc fmt metadata run test tree", _CARGO),
    **_each("go", "build doc fmt test vet", _GO),
    # Of modules it asks a server, by whatever name it is given.
    **_each("go", "list", _Family((*_GO.uncovered, "m", "u", "mod", "versions", "retracted"))),
    **_each("npm", "ls test", _Family(_NPM)),
    **_each("npm", "run", _Family(_NPM, named=True)),
    **_each("pnpm", "list test", _Family(_NPM)),
    **_each("pnpm", "run", _Family(_NPM, named=True)),
    **_each("yarn", "list test", _Family(_NPM)),
    **_each("yarn", "run", _Family(_NPM, named=True)),
    # Any setting may be an option of it, among them where it sends the person's token.
    **_each("npm", "outdated", _Family(exact=True)),
    **_each("pnpm", "outdated", _Family(exact=True)),
    **_each("yarn", "outdated", _Family(exact=True)),
    # Its further words are targets and variables, each as much as the first.
    **_each("", "make", _Family(exact=True)),
}
_LONGEST_KEY = max(map(len, _FAMILIES))


def pattern_of(command: Command, inside: Callable[[Way, str], bool]) -> str | None:
    """The one pattern that covers the ``command``, as ``git status*``; None if none does.

    A granted pattern covers exactly the commands that this function gives it for. ``inside`` says
    whether a path may be named, relative to a folder that the command may run in.
    """
    words, source = command.literal, command.source
    if words is None or command.reads or command.writes or "\\" in source or not is_seen(source):
        return None
    key = next((k for k in _keys(words) if k in _FAMILIES), None)
    if key is None:
        return None
    family = _FAMILIES[key]
    kept = len(words) if family.exact else len(key) + family.named
    pattern, rest = " ".join(words[:kept]), words[len(key) :]
    if (
        len(words) < kept
        or not all(_PLAIN.fullmatch(word) for word in words[len(key) : kept])
        # Written otherwise (quotes, two spaces), it is not what the pattern shows.
        or not (source + " ").startswith(pattern + " ")
        or not all(
            _is_covered(word, family, partial(inside, way)) for way in command.ways for word in rest
        )
    ):
        return None
    return pattern if family.exact else f"{pattern}*"


def offer(commands: Iterable[Command], inside: Callable[[Way, str], bool]) -> str | None:
    """The pattern that a person may allow instead, who is asked for the sake of ``commands``:
    one for all of them."""
    patterns = {_offered(command, inside) for command in commands}
    return patterns.pop() if len(patterns) == 1 else None


def _offered(command: Command, inside: Callable[[Way, str], bool]) -> str | None:
    pattern = pattern_of(command, inside)
    # Of a bare `ls` nobody knows which arguments were meant.
    bare = pattern == f"{command.source}*" and " " not in command.source
    return None if bare else pattern


def _keys(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for length in range(min(_LONGEST_KEY, len(words)), 0, -1):
        yield tuple(words[:length])


def _is_covered(word: str, family: _Family, inside: Callable[[str], bool]) -> bool:
    name = word.partition("=")[0]
    if word.startswith("-") and (
        _GLOB.search(name) or any(_means(name, option) for option in family.uncovered)
    ):
        return False
    if word.startswith("=") or not (family.slashed or word.startswith("-") or "/" not in word):
        return False  # to zsh the first is where that program lies
    paths = [path for path in dict.fromkeys(_possible_paths(word)) if path]
    if any(path.startswith("~") or _HIDDEN_GLOB.search(path) for path in paths):
        return False
    paths = [path for path in paths if not _is_too_long_a_name(path)]
    listed = [f"{path}/{each}" for path in paths for each in _ALL_IN_IT if family.lists]
    return all(inside(path) for path in paths + listed)


def _means(name: str, option: str) -> bool:
    """Whether ``name`` could be ``option``: abbreviated, with ``_`` for ``-`` as kubectl takes it,
    or among others as in ``-xyz``. An option without dashes in the table is one that may have one
    or two, and is not abbreviated."""
    name = name.replace("_", "-")
    if not option.startswith("-"):
        return name.lstrip("-") == option
    if option.startswith("--"):
        return name.startswith("--") and len(name) > 2 and option.startswith(name)
    return not name.startswith("--") and option[1] in name


def _is_too_long_a_name(path: str) -> bool:
    return len(path) > _LONGEST_NAME and "/" not in path and not _GLOB.search(path)


def _possible_paths(word: str) -> Iterator[str]:
    """The word, or what may be an option's value in it, and its parts."""
    for text in _values(word):
        yield text
        yield from _PARTS.split(text)


def _values(word: str) -> Iterator[str]:
    letters = _LETTERS.match(word)
    if letters is None:
        yield word
    elif word.startswith("--"):
        yield word[2:]
    else:
        yield from (word[start:] for start in range(2, letters.end() + 1))
