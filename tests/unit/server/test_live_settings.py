"""What a person denies stays denied, whatever state their settings file is in."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_agent.protocol.settings.files import user_settings_path
from lsp_agent.server.client.live_settings import LiveSettings

DENIED = (
    '[permissions]\nedit = "deny"\ncommand = "deny"\nhidden = ["keys"]\n[edits]\nhints = "hunk"\n'
)

Write = Callable[[str | None], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = user_settings_path()
    file.parent.mkdir(parents=True)

    def write(text: str | None) -> None:
        file.unlink(missing_ok=True) if text is None else file.write_text(text)

    return write


@pytest.mark.parametrize("broken", ["[permissions", "", None])
def test_while_the_file_cannot_be_read_what_it_said_before_holds(
    write: Write, broken: str | None
) -> None:
    said: list[str] = []
    live = LiveSettings(None, lambda problem: said.append(str(problem)))
    for text in (DENIED, broken, DENIED, broken):
        write(text)
        live.forget()
        settings = live.of("/x")
        assert (settings.permissions.edit, settings.permissions.command) == ("deny", "deny")
        assert (settings.permissions.hidden, settings.edits.hints) == (["keys"], "hunk")
    assert sum("what it said before holds" in each for each in said) == 2


def test_one_that_is_wrong_from_the_start_denies_all_that_it_could(write: Write) -> None:
    said: list[str] = []
    write("[permissions")
    live = LiveSettings(None, lambda problem: said.append(str(problem)))
    permissions = live.of("/x").permissions
    assert {permissions.read, permissions.edit, permissions.command} == {"deny"}
    assert "is denied" in said[-1]
    write("")
    live.forget()
    assert live.of("/x").permissions.edit == "allow"


def test_one_with_nothing_in_it_but_remarks_is_read(write: Write) -> None:
    write(DENIED)
    live = LiveSettings(None, print)
    assert live.of("/x").permissions.edit == "deny"
    write("# nothing\n")
    live.forget()
    assert live.of("/x").permissions.edit == "allow"
