"""What ``lsp-agent doctor`` says of the sandbox."""

from typing import Literal

import pytest

from lsp_agent.cli import doctor_checks
from lsp_agent.protocol.settings.settings import AgentSettings, PermissionSettings, Settings
from lsp_agent.protocol.settings.sources import Loaded
from lsp_agent.sandbox import holders
from lsp_agent.sandbox.bubblewrap import Bubblewrap
from lsp_agent.sandbox.hold import CannotHold, Holder
from lsp_agent.sandbox.landlock import Landlock
from lsp_agent.sandbox.seatbelt import Seatbelt


def says(
    monkeypatch: pytest.MonkeyPatch,
    holder: Holder | None,
    *,
    command: bool,
    agent: str = "other",
    network: Literal["allow", "deny"] | list[str] = "deny",
    reaches: Literal["allow"] | list[str] = "allow",
) -> list[tuple[str, str]]:
    """Of settings with an agent "claude" that is to be held, and one that is not."""

    def working() -> Holder:
        if holder is None:
            raise CannotHold("install bubblewrap")
        return holder

    monkeypatch.setattr(holders, "working", working)
    claude = AgentSettings(wire="acp", command=["claude-agent-acp"], sandbox=True, network=reaches)
    other = AgentSettings(wire="acp", command=["other"])
    settings = Settings(
        agent=agent,
        agents={"claude": claude, "other": other},
        permissions=PermissionSettings(command="sandbox" if command else "ask", network=network),
    )
    found = doctor_checks.sandbox(Loaded(settings, (), {}))
    return [(finding.status, finding.message) for finding in found]


def test_it_names_what_holds_commands_and_which_agents_are_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert says(monkeypatch, Bubblewrap("bwrap"), command=True) == [
        ("ok", "bubblewrap can hold agents' commands"),
        ("ok", "agents' commands reach no network"),
        ("ok", "bubblewrap holds these as a whole, with the network open: claude"),
    ]


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ("allow", "agents' commands reach the whole network"),
        (
            ["python.org", "*.gnu.org"],
            "agents' commands reach these hosts alone: python.org, *.gnu.org",
        ),
    ],
)
def test_it_says_what_commands_reach(
    monkeypatch: pytest.MonkeyPatch, network: Literal["allow"] | list[str], said: str
) -> None:
    told = says(monkeypatch, Bubblewrap("bwrap"), command=True, network=network)
    assert told[1] == ("ok", said)


def test_it_warns_where_hosts_cannot_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    told = says(monkeypatch, Seatbelt(), command=True, network=["python.org"])
    assert told[1] == (
        "warning",
        "sandbox-exec cannot hold commands to some hosts: they have no network",
    )


def test_it_says_what_an_agent_reaches_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = ["api.anthropic.com", "127.0.0.1:11434"]
    told = says(monkeypatch, Bubblewrap("bwrap"), command=False, reaches=hosts)
    named = "api.anthropic.com, 127.0.0.1:11434"
    assert told[1:] == [("ok", f"bubblewrap holds claude as a whole, and to these hosts: {named}")]
    told = says(monkeypatch, Landlock(), command=False, reaches=hosts)
    reason = "Landlock cannot hold claude to the hosts named: it does not start"
    assert told[1] == ("warning", reason)


def test_it_says_what_landlock_does_not_let(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, last = says(monkeypatch, Landlock(), command=True)
    assert last == ("note", "what it holds makes no new file at the top of the workspace")


@pytest.mark.parametrize(("agent", "status"), [("claude", "failure"), ("other", "warning")])
def test_an_agent_that_nothing_holds_does_not_start(
    monkeypatch: pytest.MonkeyPatch, agent: str, status: str
) -> None:
    said = says(monkeypatch, None, command=True, agent=agent)
    assert said[0][0] == "warning"
    assert said[1] == (status, "claude is to be in a sandbox: it does not start")
