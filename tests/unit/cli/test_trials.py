"""What ``doctor``, ``setup`` and ``demo`` try with an agent that follows a script: the same for
every person, whatever their settings let their own agents do."""

from pathlib import Path

import pytest

from lsp_agent.cli.doctor_trial import scripted_turn
from lsp_agent.cli.main import main
from lsp_agent.cli.scratch import scripted_options
from lsp_agent.protocol.settings.files import read_user_file
from lsp_agent.protocol.settings.settings import EditSettings, PermissionSettings
from lsp_agent.protocol.settings.sources import load

STRICT = '[edits]\nreview = "before"\nsave = "never"\n[permissions]\nedit = "deny"\nread = "deny"\n'


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a person whose settings let an agent do less than a script does."""
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    path = tmp_path / "config/lsp-agent/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(STRICT)
    return path


@pytest.mark.parametrize("text", [STRICT, '[permissions]\nallow = ["command: rm*"]\n', "[edits\n"])
def test_an_agent_that_follows_a_script_has_the_edits_and_permissions_of_nobody(
    config: Path, text: str
) -> None:
    config.write_text(text)
    options = scripted_options("demo", Path("/script.json"))
    settings = load(user_file=read_user_file(), initialization_options=options).settings
    assert (settings.agent, settings.agents["demo"].provider) == ("demo", "script")
    assert settings.edits == EditSettings()
    assert settings.permissions == PermissionSettings()


@pytest.mark.slow
@pytest.mark.usefixtures("config")
def test_a_scripted_turn_succeeds_under_settings_that_are_strict() -> None:
    finding = scripted_turn()
    assert finding.status == "ok", finding.message


@pytest.mark.slow
@pytest.mark.usefixtures("config")
def test_the_demo_succeeds_under_settings_that_are_strict(capsys) -> None:
    assert main(["demo"]) == 0, capsys.readouterr().out
