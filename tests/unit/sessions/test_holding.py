"""Where nothing holds a command, the person is asked, and told of it once."""

from pathlib import Path

import pytest

from lsp_agent.protocol.events import Event, Notice
from lsp_agent.protocol.settings.settings import PermissionSettings, Settings
from lsp_agent.sandbox import bubblewrap, holders, landlock
from lsp_agent.sandbox.landlock import Landlock
from lsp_agent.sandbox.seatbelt import Seatbelt
from lsp_agent.sessions.permissions.holding import Holding
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.workspace.disk.paths import Confinement


def _no_landlock(_holder: Landlock) -> str:
    return "its kernel is old"


def _say_nothing(event: Event, turn_id: str | None) -> None:
    pass


@pytest.mark.asyncio
@pytest.mark.parametrize("program", [None, "/bin/false"], ids=["not there", "fails"])
async def test_where_nothing_holds_it_is_said_once(
    program: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Event] = []
    monkeypatch.setattr(bubblewrap, "program", lambda: program)
    monkeypatch.setattr(landlock, "fault", _no_landlock)

    def emit(event: Event, turn_id: str | None) -> None:
        told.append(event)

    view = SessionView("s1", str(tmp_path), emit, Settings, lambda: None, "a")
    holding = Holding(view, lambda _anywhere: Confinement([str(tmp_path)]))
    assert [await holding.held(None), await holding.held(None)] == [None, None]
    (notice,) = told
    assert isinstance(notice, Notice)
    assert "bubblewrap" in notice.message
    assert "its kernel is old" in notice.message


@pytest.mark.asyncio
@pytest.mark.parametrize("folder", ["/", "/usr"], ids=["everything", "elsewhere"])
async def test_nothing_is_held_where_the_folders_say_nothing_of_the_place(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "program", lambda: "/bin/true")
    view = SessionView("s1", str(tmp_path), _say_nothing, Settings, lambda: None, "a")
    assert await Holding(view, lambda _: Confinement([folder])).held(None) is None
    assert await Holding(view, lambda _: Confinement([str(tmp_path)])).held(None) is not None


@pytest.mark.asyncio
async def test_where_no_way_leads_to_hosts_there_is_no_network_and_it_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Event] = []
    monkeypatch.setattr(holders, "working", Seatbelt)
    named = Settings(permissions=PermissionSettings(command="sandbox", network=["python.org"]))
    view = SessionView("s1", str(tmp_path), lambda event, _: told.append(event), lambda: named,
                       lambda: None, "a")  # fmt: skip
    holding = Holding(view, lambda _anywhere: Confinement([str(tmp_path)]))
    for call in ("c1", "c2"):
        held = await holding.held(None, call)
        assert held is not None
        assert "(deny network*)" in held.holder[-1]
    (notice,) = told
    assert isinstance(notice, Notice)
    assert "commands in the sandbox have no network" in notice.message
