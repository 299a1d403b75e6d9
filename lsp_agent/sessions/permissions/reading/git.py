"""Git's commands that only read, in the environment that a git of an agent's is given.

An operand may be a revision or a file: all are judged as files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lsp_agent.sessions.permissions.reading.catalogue import options
from lsp_agent.sessions.permissions.reading.git_formats import are_plain
from lsp_agent.sessions.permissions.reading.options import Options, Taken, take
from lsp_agent.sessions.permissions.shell.line import Command

_DIFF = (
    "stat? name-only name-status cached staged shortstat numstat summary color? no-color word-diff?"
    " unified? ignore-all-space ignore-space-change ignore-blank-lines ignore-space-at-eol"
    " diff-filter? find-renames? no-renames find-copies? check patch no-patch minimal histogram"
    " patience exit-code quiet raw binary full-index abbrev? relative? merge-base no-ext-diff"
    " no-textconv function-context inter-hunk-context? dirstat? compact-summary diff-algorithm?"
    " ignore-submodules? text no-prefix patch-with-stat reverse"
)
_LOG = _DIFF + (
    " oneline graph decorate? no-decorate format? pretty? max-count? since? until? after? before?"
    " author? committer? grep? all branches? tags? remotes? reverse no-merges merges first-parent"
    " follow date? abbrev-commit skip? topo-order date-order full-history left-right cherry not"
    " simplify-by-decoration invert-grep regexp-ignore-case all-match pickaxe-regex walk-reflogs"
    " source parents show-pulls no-notes"
)
_REFS = (
    "sort? format? count? contains? no-contains? merged? no-merged? points-at? column? no-column"
)
# A value that may be a word of its own counts as an operand then.
_OF_DIFF = options("abcpRsuwWz", names=_DIFF, attached="BCGMSUXl")
_OF_LOG = options("abcgimpPqRsuwWzEF", names=_LOG, attached="BCGLMSUXln", numbers=True)
_OF_BRANCH = options(
    "alrv", names=f"all list remotes show-current verbose {_REFS}", operands="none"
)

COMMANDS: Mapping[tuple[str, ...], Options] = {
    ("status",): options(
        "sbvz",
        names="short branch porcelain? untracked-files? ignored? long show-stash ahead-behind"
        " no-ahead-behind no-renames verbose null",
        attached="u",
    ),
    ("diff",): _OF_DIFF,
    ("diff-tree",): options("abcmprRstuwWz", names=f"{_DIFF} root no-commit-id", attached="CMU"),
    ("log",): _OF_LOG,
    ("show",): _OF_LOG,
    ("reflog", "show"): _OF_LOG,
    ("reflog",): replace(_OF_LOG, operands="none"),
    ("stash", "show"): _OF_DIFF,
    ("stash", "list"): _OF_LOG,
    ("shortlog",): options("ensc", names=f"numbered summary email {_LOG}", numbers=True),
    ("branch",): _OF_BRANCH,
    ("tag",): options("l", names=f"list {_REFS}", attached="n", operands="none"),
    ("tag", "-l"): options(names=_REFS, attached="n"),
    ("tag", "--list"): options(names=_REFS, attached="n"),
    # Without `-v`: an address may have a password in it.
    ("remote",): options(operands="none"),
    ("worktree", "list"): options("vz", names="porcelain verbose", operands="none"),
    ("rev-parse",): options(
        "q",
        names="abbrev-ref? short? show-toplevel verify quiet git-dir git-common-dir show-prefix"
        " is-inside-work-tree is-bare-repository symbolic-full-name show-cdup all branches? tags?",
    ),
    ("rev-list",): options("n", names=f"count {_LOG} objects", attached="n", numbers=True),
    ("merge-base",): options("a", names="all is-ancestor fork-point octopus"),
    ("name-rev",): options(names="tags name-only always"),
    ("describe",): options(
        names="tags always abbrev? long all match? exclude? exact-match first-parent"
    ),
    ("ls-files",): options(
        "cdmostuvz",
        names="cached deleted modified others stage exclude-standard error-unmatch full-name"
        " directory unmerged killed ignored deduplicate",
    ),
    ("ls-tree",): options("rdtlz", names="name-only name-status long full-tree full-name abbrev?"),
    ("cat-file",): options("epst"),
    ("show-ref",): options("dqsh", names="head heads tags verify hash? abbrev? dereference quiet"),
    ("for-each-ref",): options(names=_REFS),
    ("count-objects",): options("vH", names="verbose human-readable", operands="none"),
    ("check-ignore",): options("qvnz", names="verbose quiet non-matching no-index"),
    ("blame",): options(
        "bcefilnpstw", names="root show-stats date? porcelain show-email abbrev?", attached="CLM"
    ),
    ("grep",): options(
        "abcEFGhHiIlLnopPqrvwWz",
        "ABCm",
        "cached line-number ignore-case count files-with-matches name-only text quiet"
        " files-without-match only-matching word-regexp extended-regexp fixed-strings"
        " perl-regexp basic-regexp invert-match show-function function-context color? heading"
        " break column full-name and or not no-color",
        patterns="e",
        texts=1,
        numbers=True,
        reach="shown",
    ),
}
_LONGEST_KEY = max(map(len, COMMANDS))
_PLAIN = ("--no-pager", "-P")


def git(command: Command) -> tuple[Command, Taken] | None:
    """The ``git`` without what stands before its command, where it runs by ``-C``; None for one
    that is not known to only read."""
    words = command.words
    first, ways = 1, command.ways
    while first < len(words) and (word := words[first]) is not None and word.startswith("-"):
        folder = words[first + 1] if first + 1 < len(words) else None
        if word == "-C" and folder and first + 1 not in command.globs:
            ways = frozenset((*way, folder) for way in ways)
            first += 1
        elif word not in _PLAIN:
            return None
        first += 1
    for length in range(_LONGEST_KEY, 0, -1):
        key = tuple(str(word) for word in words[first : first + length])
        if len(key) == length and key in COMMANDS:
            taken = take(command, first + length, COMMANDS[key])
            if taken is None or not are_plain(words) or _may_mean_more(words[first + length :]):
                return None
            return replace(command, ways=ways), taken
    return None


def _may_mean_more(words: Sequence[str | None]) -> bool:
    """Some of git's commands take ``--`` for an option's value or leave it out, and then what looks
    like a path for an option; and ``:(…)`` and ``:/`` are no files' names."""
    behind = words[words.index("--") + 1 :] if "--" in words else ()
    return any((word or "").startswith("-") for word in behind) or any(
        (word or "").startswith((":(", ":/", ":!", ":^")) for word in words
    )
