"""What ``doctor``, ``setup`` and ``demo`` try with an agent that follows a script: the same for each
person, whatever their settings let their own agents do."""

from pathlib import Path

import pytest

from lsp_agent.cli.doctor_trial import scripted_turn
from lsp_agent.cli.main import main

STRICT = {
    "proposals": '[edits]\nreview = "before"\n',
    "no edits": '[permissions]\nedit = "deny"\nread = "deny"\n',
    "no saves": '[edits]\nsave = "never"\nhold_shrink = 0.0\n',
    "nothing, as the file is not TOML": "[edits\n",
}


@pytest.fixture(params=STRICT.values(), ids=STRICT)
def strict(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person whose settings let an agent do less than the script does."""
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    path = tmp_path / "config/lsp-agent/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(request.param)


@pytest.mark.usefixtures("strict")
def test_a_scripted_turn_succeeds_under_settings_that_are_strict() -> None:
    assert scripted_turn().status == "ok"


@pytest.mark.slow
@pytest.mark.usefixtures("strict")
def test_the_demo_succeeds_under_settings_that_are_strict(capsys) -> None:
    assert main(["demo"]) == 0, capsys.readouterr().out
