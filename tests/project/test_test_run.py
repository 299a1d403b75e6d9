"""What makes two runs of the tests alike."""

import os
import subprocess
from collections import Counter
from pathlib import Path

import hypothesis
from hypothesis import strategies as st

REPOSITORY = Path(__file__).parents[2]


def test_each_run_has_the_same_examples_of_a_property() -> None:
    assert hypothesis.settings().derandomize
    assert _examples() == _examples()


def test_make_fuzz_finds_a_profile_with_fresh_examples() -> None:
    assert not hypothesis.settings.get_profile("fresh").derandomize


def test_an_interpreter_started_by_make_keeps_its_bytecode() -> None:
    """Else each of the thousands of servers compiles itself again."""
    shown = subprocess.run(
        ["make", "-s", "-f", "-", "show"],
        input='include Makefile\nshow:\n\t@echo "[$$PYTHONDONTWRITEBYTECODE]"\n',
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == "[]\n"


def test_no_two_test_files_have_the_same_name() -> None:
    """pytest imports them by it: a run of both fails, and one of either goes well."""
    names = Counter(path.name for path in (REPOSITORY / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def _examples() -> list[int]:
    seen: list[int] = []

    @hypothesis.given(st.integers())
    def look(number: int) -> None:
        seen.append(number)

    look()
    return seen
