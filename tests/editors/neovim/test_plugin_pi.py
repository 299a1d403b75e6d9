"""The plugin with a real pi, whose model is scripted: what no scripted agent does."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from plugin_desk import PluginDesk
from support import neovim_versions
from support.model_server import Call, Step
from support.neovim import wait_until
from support.pi_agent import Pi

pytestmark = [pytest.mark.neovim, pytest.mark.pi]


@pytest.mark.parametrize("desk", neovim_versions.parameters()[:1], indirect=True)
def test_a_prompt_reaches_the_agent_while_it_works(desk: PluginDesk, tmp_path: Path) -> None:
    path = desk.open("a.txt", "one\n")
    waits = "touch begun; until test -e go; do sleep 0.05; done"
    steps = (
        Step(calls=(Call("read", {"path": str(path)}), Call("bash", {"command": waits}))),
        Step("I was told."),
    )
    with ExitStack() as models:
        pi = Pi(tmp_path / "pi", models)
        settings = {"agent": "pi", "agents": {"pi": pi.settings(*steps)}}
        desk.setup(settings=settings | {"permissions": {"command": "allow"}})
        desk.wait_for_server()
        desk.agent("ask Begin.")
        wait_until((desk.folder / "begun").exists, 60)
        desk.agent("steer Be quick.")
        desk.wait_for_chat("Be quick.")
        (desk.folder / "go").touch()
        desk.wait_for_chat("I was told.", 60)
        sent = str(pi.model.requests[-1]["messages"])
    assert "Be quick." in sent
    shown = desk.chat()
    assert sum(line == "## Agent" for line in shown) == 1
    assert "read: a.txt" in shown  # pi gave the whole path
