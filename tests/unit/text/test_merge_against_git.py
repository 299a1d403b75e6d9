"""Our merge beside ``git merge-file``, which is only ever an oracle of the tests.

They may differ, and in these ways alone:

* distinct lines: git calls changes to neighbouring lines a conflict, we let both stand;
* repeated lines: two minimal diffs can pair them differently, so either verdict may differ, and
  rarely the text (at most 2 in 100 cases; 4 in 100 where git is clean and we are not).
"""

import random
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from random_texts import changed_lines

from lsp_agent.text.diff import diff
from lsp_agent.text.lines import Text
from lsp_agent.text.merge import Merge, merge3

CASES = 150

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


@dataclass(frozen=True)
class Case:
    base: Text
    ours: Text
    theirs: Text
    merge: Merge
    git: str | None


def git_merge(folder: Path, base: Text, ours: Text, theirs: Text) -> str | None:
    names = ["ours", "base", "theirs"]
    for name, text in zip(names, (ours, base, theirs), strict=True):
        (folder / name).write_text(text.content, newline="")
    run = subprocess.run(
        ["git", "merge-file", "-p", *names], cwd=folder, capture_output=True, check=False
    )
    return run.stdout.decode() if run.returncode == 0 else None


def cases(folder: Path, seed: int, kinds: int | None) -> list[Case]:
    """Random cases; ``kinds`` is how many different lines there are, None for no repetition."""
    rng = random.Random(seed)
    numbers = count()

    def fresh() -> str:
        return f"line {next(numbers) if kinds is None else rng.randrange(kinds)}\n"

    made: list[Case] = []
    for _ in range(CASES):
        base = [fresh() for _ in range(rng.randrange(3, 14))]
        ours = changed_lines(rng, base, fresh)
        theirs = changed_lines(rng, ours if rng.random() < 0.3 else base, fresh)
        texts = [Text(tuple(lines)) for lines in (base, ours, theirs)]
        made.append(Case(*texts, merge3(*texts), git_merge(folder, *texts)))
    return made


def has_neighbouring_changes(case: Case) -> bool:
    ours, theirs = diff(case.base.lines, case.ours.lines), diff(case.base.lines, case.theirs.lines)
    return any(
        one.old_end == other.old_start or other.old_end == one.old_start
        for one in ours
        for other in theirs
    )


def test_with_distinct_lines_only_neighbouring_changes_differ_from_git(tmp_path: Path):
    seen: Counter[str] = Counter()
    for case in cases(tmp_path, 1, None):
        if case.git is not None:
            seen["git clean"] += 1
            assert case.merge.clean
            assert case.merge.text.content == case.git
        elif case.merge.clean:
            seen["neighbours"] += 1
            assert has_neighbouring_changes(case)
        else:
            seen["conflict"] += 1
    assert min(seen[kind] for kind in ("git clean", "neighbours", "conflict")) > 3, seen


def test_with_repeated_lines_git_is_rarely_contradicted(tmp_path: Path):
    made = cases(tmp_path, 2, 4)
    clean = [case for case in made if case.git is not None]
    other_text = [
        case for case in clean if case.merge.clean and case.merge.text.content != case.git
    ]
    conflict_only_here = [case for case in clean if not case.merge.clean]
    assert len(other_text) <= 0.02 * CASES
    assert len(conflict_only_here) <= 0.04 * CASES
