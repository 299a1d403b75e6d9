"""A folder for an agent to work in."""

from pathlib import Path

import pytest


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Whoever works there has a home, logs and data of their own."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    return folder
