"""An agent in a sandbox of its own: what it may reach, and that it does not start without."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Event
from lsp_agent.protocol.settings.settings import AgentSettings, Settings, WireName
from lsp_agent.sandbox import bubblewrap, landlock
from lsp_agent.sandbox.bubblewrap import Bubblewrap
from lsp_agent.sandbox.landlock import Landlock
from lsp_agent.sandbox.places import find, for_agent
from lsp_agent.sessions.permissions.agent_sandbox import AgentSandbox, own_places
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.wires.wire import Launch
from lsp_agent.workspace.disk.paths import Confinement

LAUNCH = Launch(("claude-agent-acp",))


def _say_nothing(event: Event, turn_id: str | None) -> None:
    pass


def _no_landlock(_holder: Landlock) -> str:
    return "its kernel is old"


def sandbox(folder: Path, workspace: str | None = None) -> AgentSandbox:
    view = SessionView("s1", str(folder), _say_nothing, Settings, lambda: None, "a")
    return AgentSandbox(view, lambda _anywhere: Confinement([workspace or str(folder)]))


def settings(wire: WireName = "acp", **others: Any) -> AgentSettings:
    return AgentSettings(wire=wire, command=list(LAUNCH.argv), **{"sandbox": True} | others)


async def held(box: AgentSandbox, name: str, agent: AgentSettings) -> Launch:
    """For as long as it is made alone."""
    failed: RequestFailed | None = None
    launch = LAUNCH
    async with anyio.create_task_group() as tasks:
        try:
            launch = await box.around(LAUNCH, name, agent, tasks)
        except RequestFailed as error:
            failed = error
        tasks.cancel_scope.cancel()
    if failed is not None:
        raise failed
    return launch


@pytest.mark.asyncio
async def test_where_nothing_holds_it_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "program", lambda: None)
    monkeypatch.setattr(landlock, "fault", _no_landlock)
    with pytest.raises(RequestFailed, match="install bubblewrap") as failed:
        await held(sandbox(tmp_path), "claude", settings())
    assert failed.value.kind == "notConfigured"


@pytest.mark.asyncio
@pytest.mark.parametrize("workspace", ["/", "/usr"], ids=["everything", "elsewhere"])
async def test_nor_where_the_folders_say_nothing_of_its_place(
    workspace: str, tmp_path: Path
) -> None:
    with pytest.raises(RequestFailed, match="workspace folder"):
        await held(sandbox(tmp_path, workspace), "claude", settings())


@pytest.mark.asyncio
async def test_one_whose_commands_have_a_sandbox_each_is_sent_there(tmp_path: Path) -> None:
    with pytest.raises(RequestFailed, match="each of its commands has one"):
        await held(sandbox(tmp_path), "zot", settings("zot"))


@pytest.mark.asyncio
async def test_the_words_of_what_holds_it_go_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "program", lambda: "/bin/true")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    launch = await held(sandbox(tmp_path), "claude", settings())
    assert launch.argv == LAUNCH.argv
    assert launch.held[0] == "/bin/true"
    assert "--unshare-net" not in launch.held


@pytest.mark.asyncio
async def test_one_that_reaches_hosts_alone_has_no_other_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "program", lambda: "/bin/true")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    launch = await held(sandbox(tmp_path), "claude", settings(network=["api.anthropic.com"]))
    assert "--unshare-net" in launch.held
    assert launch.held[-2].endswith("/door")


@pytest.mark.asyncio
async def test_one_that_nothing_holds_to_its_hosts_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "program", lambda: None)
    monkeypatch.setattr(landlock, "working", Landlock)
    with pytest.raises(RequestFailed, match=r"agents\.claude\.network names hosts, and Landlock"):
        await held(sandbox(tmp_path), "claude", settings(network=["api.anthropic.com"]))


@pytest.mark.asyncio
async def test_hosts_without_a_sandbox_hold_nothing_and_it_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(RequestFailed, match=r"set agents\.claude\.sandbox to true"):
        await held(sandbox(tmp_path), "claude", settings(sandbox=False, network=["a.example"]))


def test_a_known_agents_folders_are_made_and_its_files_taken_as_they_are(tmp_path: Path) -> None:
    told = list(own_places("mine", "/opt/claude-agent-acp", {"HOME": str(tmp_path)}))
    assert (tmp_path / ".claude").is_dir()
    assert f"{tmp_path}/.claude.json" in told
    assert not (tmp_path / ".claude.json").exists()


def test_they_are_where_its_environment_says(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    env = {"HOME": str(tmp_path), "CODEX_HOME": str(elsewhere), "XDG_DATA_HOME": str(elsewhere)}
    assert list(own_places("codex", "codex", env)) == [str(elsewhere)]
    assert f"{elsewhere}/opencode/" in own_places("opencode", "opencode", env)
    assert list(own_places("mine", "some-agent", env)) == []


def test_it_sees_its_own_secrets_and_no_others(tmp_path: Path) -> None:
    work, own = tmp_path / "work", tmp_path / ".codex"
    for path in (work, own, tmp_path / ".ssh"):
        path.mkdir()
    (own / "auth.json").touch()
    hold = for_agent(find([str(work)], home=str(tmp_path), runtime=""), [str(own)])
    assert [place.path for place in hold.hidden] == [str(tmp_path / ".ssh")]
    assert hold.folders == (str(work), str(own))


def test_nothing_is_mounted_that_was_not_there(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    hold = for_agent(find([str(tmp_path)], home="/none", runtime=""), [])
    assert [place.path for place in hold.read_only] == [str(tmp_path / ".git")]
    assert Bubblewrap("bwrap").mount_points(hold) == []
