"""Where nothing holds a command, the person is asked, and told of it once."""

import os
from pathlib import Path

import pytest

from lsp_agent.protocol.events import Event, Notice
from lsp_agent.protocol.settings.settings import PermissionSettings, Settings
from lsp_agent.sandbox import bubblewrap, holders, landlock
from lsp_agent.sandbox.landlock import Landlock
from lsp_agent.sandbox.seatbelt import Seatbelt
from lsp_agent.sessions.permissions.holding import Holding, hold_in
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.workspace.disk.paths import Confinement, Reserved


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
async def test_nothing_is_held_where_what_the_server_imports_could_be_put_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "program", lambda: "/bin/true")
    view = SessionView("s1", str(tmp_path), _say_nothing, Settings, lambda: None, "a")

    async def is_held(*reserved: Reserved) -> bool:
        confinement = Confinement([str(tmp_path)], reserved)
        return await Holding(view, lambda _: confinement).held(None) is not None

    libraries = tmp_path / ".venv" / "site-packages"
    libraries.mkdir(parents=True)
    imported = Reserved(str(libraries), "is imported", readable=True, modules=True)
    assert not await is_held(imported)
    assert not await is_held(Reserved(str(tmp_path), "is imported", readable=True, modules=True))
    assert await is_held(imported, Reserved(str(libraries.parent), "is a rule", readable=True))
    assert await is_held(Reserved(str(tmp_path.parent), "is above", readable=True, modules=True))


def test_a_repository_that_a_git_file_names_is_not_written(tmp_path: Path) -> None:
    """As those who keep several work trees beside one ``.bare``."""
    own = tmp_path / ".bare" / "worktrees" / "main"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    permissions = PermissionSettings()

    def kept(root: Path) -> set[str]:
        hold = hold_in(str(root), Confinement([str(tmp_path)]), permissions)
        assert hold is not None
        return {os.path.relpath(place.path, tmp_path) for place in hold.read_only}

    assert not any(name.startswith(".bare") for name in kept(tmp_path))
    for said, named in (
        ("gitdir: ./.bare\n", {".bare"}),
        (f"gitdir: {own}\n", {".bare", ".bare/worktrees/main"}),
        ("gitdir: ../elsewhere\n", set[str]()),
        ("gitdir: \0\n", set[str]()),
        ("something else", set[str]()),
    ):
        (tmp_path / ".git").write_text(said)
        assert {name for name in kept(tmp_path) if name.startswith(".bare")} == named, said


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
