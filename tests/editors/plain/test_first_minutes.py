"""The first minute of someone who has a key and an editor, and nothing of ours yet: uv brings the
server from a registry, ``lsp-agent setup`` puts it into the editor, and a model edits text that is
not saved."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_emacs import Emacs
from plain_helix import Helix
from plain_project import PlainProject
from support.acp_agents import is_no_turns
from support.first_minute import Film, Record, build_wheel, run, uv_environment
from support.model_server import Call, ModelServer, Step

pytestmark = [
    pytest.mark.uv,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("first minutes"),
]

NOTES = "alpha\nbeta\nagent: shout about beta\n"
SHOUT = Call(
    "edit", {"path": "notes.txt", "edits": [{"oldText": "alpha\nbeta", "newText": "alpha\nBETA"}]}
)
INSTALL = ("uv", "tool", "install", "lsp-agent")


class Newcomer(PlainProject):
    """The key is in the environment; ``model`` is where it leads to."""

    def __init__(self, base: Path, wheel: Path, model: ModelServer) -> None:
        super().__init__(base, steps=None)
        self.home.mkdir()
        self.notes.write_text(NOTES)
        self.model = model
        self._wheel = wheel

    @property
    def environment(self) -> dict[str, str]:
        key = {"ANTHROPIC_API_KEY": "sk-mine", "ANTHROPIC_BASE_URL": self.model.url}
        return uv_environment(self.home, self._wheel) | key

    def run(self, *command: str) -> str:
        return run(self.environment, self.folder, *command)

    def set_up(self, editor: str, film: Film) -> None:
        self.run(*INSTALL)
        film.did("uv tool install lsp-agent")
        self.model.then(Step("Hello."))
        shown = self.run("lsp-agent", "setup", editor, "--agent", "anthropic", "--yes")
        assert "answered in" in shown
        film.did(f"lsp-agent setup {editor} --agent anthropic")
        self.model.then(Step("I look.", (SHOUT,)), Step("It is loud now."))

    def is_not_saved(self) -> None:
        assert self.saved() == NOTES


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("registry"))


@pytest.fixture
def newcomer(tmp_path: Path, wheel: Path) -> Iterator[Newcomer]:
    with ModelServer(aside=is_no_turns) as model:
        yield Newcomer(tmp_path, wheel, model)


def test_in_a_terminal_by_uvx(newcomer: Newcomer, record_property: Record) -> None:
    film = Film("a terminal, uvx", record_property)
    assert "✓" in newcomer.run("uvx", "lsp-agent", "demo")
    film.did("uvx lsp-agent demo")
    newcomer.model.then(Step("I look.", (SHOUT,)), Step("It is loud now."))
    shown = newcomer.run("uvx", "lsp-agent", "prompt", "Shout about beta.")
    film.did('uvx lsp-agent prompt "…": answer and edit')
    film.ends()
    assert "It is loud now." in shown
    assert newcomer.saved() == NOTES.replace("beta\n", "BETA\n", 1)


@pytest.mark.helix
def test_in_helix(newcomer: Newcomer, record_property: Record) -> None:
    film = Film("Helix", record_property)
    newcomer.set_up("helix", film)
    editor = Helix(newcomer, shows="agent: shout")
    try:
        editor.type_line("not saved yet")
        film.did("hx notes.txt, and typing")
        editor.choose(4, "Ask the agent: shout about beta")
        editor.wait_for("BETA")
        film.did("space a on the agent: line: edit")
        film.ends()
        assert "not saved yet" in editor.screen
        newcomer.is_not_saved()
    finally:
        editor.close()


@pytest.mark.emacs
def test_in_emacs(newcomer: Newcomer, record_property: Record) -> None:
    film = Film("Emacs", record_property)
    newcomer.set_up("emacs", film)
    editor = Emacs(newcomer, shows="agent: shout")
    try:
        editor.go_to(1)
        editor.type("not saved yet ")
        film.did("emacs notes.txt, M-x eglot, and typing")
        editor.choose(3, "Ask the agent: shout about beta")
        editor.wait_for("BETA")
        film.did("C-c a a on the agent: line: edit")
        film.ends()
        assert "not saved yet alpha" in editor.screen
        newcomer.is_not_saved()
    finally:
        editor.close()
