"""A server's memory does not grow with the turns that it has had."""

import sys
from pathlib import Path

import pytest

from bench.setting import QUICK, Setting
from bench.turns import Turns

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_after_five_times_the_turns_the_server_holds_hardly_more(tmp_path: Path) -> None:
    """At turn 400 against turn 80: a leak of a tenth of the text of each turn would show. The
    figures at 1,000 turns against 200 are the benchmark's."""
    (tmp_path / "workspace").mkdir()
    setting = Setting(tmp_path, tmp_path.resolve() / "workspace", QUICK)
    early, late = Turns(setting, 400).resident_after([80, 400])
    print(f"{early:.1f} MB, then {late:.1f} MB")
    assert late <= 1.08 * early
