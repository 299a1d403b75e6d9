"""What ``lsp-agent doctor`` says of the sandbox."""

import pytest

from lsp_agent.cli import doctor_checks
from lsp_agent.protocol.settings.settings import AgentSettings, PermissionSettings, Settings
from lsp_agent.protocol.settings.sources import Loaded
from lsp_agent.sandbox import holders
from lsp_agent.sandbox.bubblewrap import Bubblewrap
from lsp_agent.sandbox.hold import CannotHold, Holder
from lsp_agent.sandbox.landlock import Landlock


def says(
    monkeypatch: pytest.MonkeyPatch, holder: Holder | None, *, command: bool, agent: str = "other"
) -> list[tuple[str, str]]:
    """Of settings with an agent "claude" that is to be held, and one that is not."""

    def working() -> Holder:
        if holder is None:
            raise CannotHold("install bubblewrap")
        return holder

    monkeypatch.setattr(holders, "working", working)
    claude = AgentSettings(wire="acp", command=["claude-agent-acp"], sandbox=True)
    other = AgentSettings(wire="acp", command=["other"])
    settings = Settings(
        agent=agent,
        agents={"claude": claude, "other": other},
        permissions=PermissionSettings(command="sandbox" if command else "ask"),
    )
    found = doctor_checks.sandbox(Loaded(settings, (), {}))
    return [(finding.status, finding.message) for finding in found]


def test_it_names_what_holds_commands_and_which_agents_are_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert says(monkeypatch, Bubblewrap("bwrap"), command=True) == [
        ("ok", "bubblewrap can hold agents' commands"),
        ("ok", "bubblewrap holds these as a whole: claude"),
    ]


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
