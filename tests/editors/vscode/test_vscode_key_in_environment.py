"""VS Code started with a key in its environment: nothing is asked, and nothing runs before it is
needed."""

import sys
from pathlib import Path

import pytest
from support.model_server import Call
from vscode_newcomer import KEY, newcomer

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]


def test_a_key_in_the_environment_leads_to_an_answer_and_an_edit(tmp_path: Path) -> None:
    with newcomer(tmp_path, ANTHROPIC_API_KEY=KEY) as new:
        server = Path(sys.executable).parent / "lsp-agent"
        (new.programs / "lsp-agent").symlink_to(server)  # in place of an installation
        new.types()
        idle = "Agent: Starts when you first need it"
        new.person.page.get_by_role("button", name=idle).wait_for()
        assert new.servers() == []
        new.person.command("lspAgent.chat.open")
        new.person.chat.get_by_text("Ask the agent", exact=True).wait_for()
        edit = {"path": "shop.py", "edits": [{"oldText": "= 1\n", "newText": "= 100\n"}]}
        new.is_edited_by(Call("edit", edit))
        assert len(new.servers()) == 1
        assert not new.card.is_visible()
        assert set(new.model.keys) == {KEY}
