"""What git's settings, from whichever of its files, make a git that keeps run or write besides."""

from collections.abc import Iterator, Mapping

#: Those of Git LFS, which most people have for all their repositories.
_LFS: Mapping[str, frozenset[str]] = {
    "filter.lfs.clean": frozenset({"git-lfs clean -- %f"}),
    "filter.lfs.smudge": frozenset({"git-lfs smudge -- %f", "git-lfs smudge --skip -- %f"}),
    "filter.lfs.process": frozenset({"git-lfs filter-process", "git-lfs filter-process --skip"}),
}
_SIGNS = frozenset({"commit.gpgsign", "tag.gpgsign", "tag.forcesignannotated"})
_NO = frozenset({"false", "no", "off", "0"})


def read(listed: str) -> list[tuple[str, str]]:
    """Of what ``git config --list -z`` says: one name may stand there several times."""
    rows = (row.partition("\n") for row in listed.split("\0") if row)
    return [(key, value if is_set else "true") for key, is_set, value in rows]


def programs(settings: list[tuple[str, str]]) -> set[str] | None:
    """The programs that git may run; None where that may be any, where it signs, or where it keeps
    in its own settings what a new branch follows."""
    found: set[str] = set()
    for key, value in settings:
        first, _, _ = key.partition(".")
        last = key.rpartition(".")[2]
        if key in _SIGNS and value.lower() not in _NO:
            return None
        if key == "core.hookspath" or (first, last) == ("merge", "driver"):
            return None
        if key == "branch.autosetupmerge" and value.lower() in ("always", "inherit"):
            return None
        if first == "filter" and last in ("clean", "smudge", "process"):
            if value not in _LFS.get(key, frozenset()):
                return None
            found.add("git-lfs")
    return found


def remotes(settings: list[tuple[str, str]]) -> Iterator[str]:
    for key, _ in settings:
        if key.startswith("remote."):
            yield key.removeprefix("remote.").rpartition(".")[0]
