"""What git's settings, from whichever of its files, make a git that keeps run or write besides."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

#: Those of Git LFS, which most people have for all their repositories.
_LFS: Mapping[str, frozenset[str]] = {
    "filter.lfs.clean": frozenset({"git-lfs clean -- %f"}),
    "filter.lfs.smudge": frozenset({"git-lfs smudge -- %f", "git-lfs smudge --skip -- %f"}),
    "filter.lfs.process": frozenset({"git-lfs filter-process", "git-lfs filter-process --skip"}),
}
_SIGNS = frozenset({"commit.gpgsign", "tag.gpgsign", "tag.forcesignannotated"})
_NO = frozenset({"false", "no", "off", "0"})
#: By the first and the last word of a key: commands that git runs.
_COMMANDS = frozenset(
    {("core", "hookspath"), ("hook", "command"), ("merge", "driver"), ("gc", "recentobjectshook")}
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Each with its value, of which there may be several; and the files that they are from."""

    rows: tuple[tuple[str, str], ...]
    files: frozenset[str]


def read(listed: str) -> Settings:
    """What ``git config --list --show-origin -z`` says."""
    said = listed.split("\0")[:-1]
    rows = (row.partition("\n") for row in said[1::2])
    return Settings(
        tuple((key, value if is_set else "true") for key, is_set, value in rows),
        frozenset(each[5:] for each in said[::2] if each.startswith("file:")),
    )


def programs(settings: Settings) -> set[str] | None:
    """The programs that git may run; None where that may be any, where it signs, or where it keeps
    in its own settings what a new branch follows."""
    found: set[str] = set()
    for key, value in settings.rows:
        first, _, _ = key.partition(".")
        last = key.rpartition(".")[2]
        if key in _SIGNS and value.lower() not in _NO:
            return None
        if (first, last) in _COMMANDS:
            return None
        if key == "branch.autosetupmerge" and value.lower() in ("always", "inherit"):
            return None
        if first == "filter" and last in ("clean", "smudge", "process"):
            if value not in _LFS.get(key, frozenset()):
                return None
            found.add("git-lfs")
    return found


def remotes(settings: Settings) -> Iterator[str]:
    for key, _ in settings.rows:
        if key.startswith("remote."):
            yield key.removeprefix("remote.").rpartition(".")[0]
