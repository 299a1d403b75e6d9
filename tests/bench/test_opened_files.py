"""A large workspace costs nothing before the agent speaks: no more is opened or listed."""

import sys
from pathlib import Path

import pytest

from bench.opened import Touched, touched_in
from bench.setting import QUICK, Setting

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the clients of bench/ need Linux")


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    (tmp_path / "workspace").mkdir()
    return Setting(tmp_path, tmp_path.resolve() / "workspace", QUICK)


def in_workspace(touched: Touched) -> set[str]:
    return {path for path in touched.opened | touched.listed if path.startswith("WORKSPACE/")}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("files", "strace"), [(50_000, True), (2_000, False)], ids=["every process", "by audit hooks"]
)
def test_as_many_files_are_opened_and_folders_listed_in_a_large_workspace_as_among_50(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, files: int, strace: bool
) -> None:
    """Where strace is not installed, both are by audit hooks."""
    if not strace:
        monkeypatch.setenv("PATH", str(setting.home / "empty"))
    touched_in(setting, 1)  # what is compiled or made once
    few, many = touched_in(setting, 50), touched_in(setting, files)
    print(f"opened {len(few.opened)}, listed {len(few.listed)}")
    assert (len(many.opened), len(many.listed)) == (len(few.opened), len(few.listed)), (
        many.opened ^ few.opened,
        many.listed ^ few.listed,
    )
    assert in_workspace(many) == in_workspace(few)
    assert not {path for path in many.listed if path.startswith("WORKSPACE")}
