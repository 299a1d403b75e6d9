"""Which tests run (tests/conftest.py): nothing is left unchecked without saying so."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

POLICY = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import pytest

def test_plain(): pass

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.zot
def test_zot(): pass

def test_that_skips_itself(): pytest.skip("no reason")
"""
SAMPLED = """
import pytest

@pytest.mark.sampled
@pytest.mark.parametrize("case", range(10))
def test_cases(case): pass
"""
MARKS = ("slow", "sampled", "zot", "neovim", "xdist_group")
CONFIG = "\n".join(["[pytest]", "markers =", *(f"  {mark}: {mark}" for mark in MARKS), ""])


@pytest.fixture
def outcome(tmp_path):
    """Runs TESTS without any zot; answers the summary."""
    (tmp_path / "conftest.py").write_text(POLICY.read_text(encoding="utf-8"))
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "sampled.py").write_text(SAMPLED)
    (tmp_path / "pytest.ini").write_text(CONFIG)

    def run(*args: str, **env: str) -> str:
        kept = {key: value for key, value in os.environ.items() if "LSP_AGENT" not in key}
        kept |= {"PATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        # A folder of its own for its temporary folders: in the shared one, each run removes old
        # ones at its end, and warns where another run just did.
        kept["PYTEST_DEBUG_TEMPROOT"] = str(tmp_path)
        command = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", *args]
        done = subprocess.run(
            command, cwd=tmp_path, env=kept | env, capture_output=True, text=True, check=False
        )
        return done.stdout

    return run


def test_slow_tests_are_left_out_and_absent_tools_skip_with_a_reason(outcome):
    said = outcome()
    assert "1 passed, 2 skipped, 1 deselected" in said
    assert "no zot on PATH" in said
    assert "Slow tests are not run" in said


def test_slow_tests_run_when_asked_for(outcome):
    assert "1 passed, 3 deselected" in outcome("-m", "slow")


def test_of_many_cases_some_are_quick_and_all_run_when_asked_for(outcome):
    said = outcome("sampled.py")
    assert "passed, " in said
    assert 1 <= int(re.search(r"(\d+) passed", said)[1]) <= 4
    assert "10 passed" in outcome("sampled.py", LSP_AGENT_ALL="1", LSP_AGENT_UNAVAILABLE="zot=x")


def test_with_everything_asked_for_a_skip_is_a_failure(outcome):
    said = outcome(LSP_AGENT_ALL="1")
    assert "1 failed, 2 passed, 1 error" in said
    assert "no zot on PATH: with LSP_AGENT_ALL=1 nothing may be skipped" in said


def test_what_is_named_as_unavailable_is_left_out_loudly(outcome):
    said = outcome(LSP_AGENT_ALL="1", LSP_AGENT_UNAVAILABLE="zot=the proxy says 403=no")
    assert "1 failed, 2 passed, 1 deselected" in said
    assert "NOT CHECKED: zot" in said
    assert "The tests marked zot did not run: the proxy says 403=no" in said
