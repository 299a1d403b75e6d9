"""``lsp-agent setup``: an editor's files, shown, written and taken back; an agent that answers."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.warm import LSP_AGENT, run

from lsp_agent.cli.editors.recipes import RECIPES

ROOT = Path(__file__).parents[2]
#: An editor's file, and what a person may have in it.
FILES = {
    "helix": (".config/helix/languages.toml", '[[language]]\nname = "python"\n'),
    "kakoune": (".config/kak/kakrc", "set global tabstop 4\n"),
    "zed": (".config/zed/settings.json", '// mine\n{ "theme": "One", }\n'),
    "sublime": (".config/sublime-text/Packages/User/LSP.sublime-settings", '{ "a": 1 }\n'),
    "kate": (".config/kate/lspclient/settings.json", '{ "servers": { "python": {} } }\n'),
    "vim": (".vimrc", "set number\n"),
    "emacs": (".emacs.d/init.el", "(setq a 1)\n"),
    "jetbrains": (".config/lsp-agent/lsp4ij/template.json", None),
}


class Person:
    def __init__(self, home: Path) -> None:
        self.home = home
        bin_folder = home / "bin"
        bin_folder.mkdir(parents=True)
        (bin_folder / "lsp-agent").symlink_to(Path(sys.executable).parent / "lsp-agent")
        self.env = {"HOME": str(home), "PATH": f"{bin_folder}:/usr/bin:/bin"}

    def has(self, name: str, text: str) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def setup(self, *arguments: str, said: str | None = None) -> "subprocess.CompletedProcess[str]":
        """``said`` is typed at a terminal."""
        command = [*LSP_AGENT, "setup", *arguments]
        if said is None:
            return run(command, cwd=self.home, env=self.env)
        keyboard, terminal = pty.openpty()
        os.write(keyboard, said.encode())
        try:
            return subprocess.run(
                command,
                cwd=self.home,
                env=self.env,
                stdin=terminal,
                capture_output=True,
                text=True,
                timeout=200,
                check=False,
            )
        finally:
            os.close(keyboard)
            os.close(terminal)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "home")


@pytest.mark.parametrize("editor", FILES)
def test_an_editors_file_is_shown_written_and_taken_back(person: Person, editor: str) -> None:
    name, mine = FILES[editor]
    path = person.has(name, mine) if mine else person.home / name
    done = person.setup(editor, "--yes")
    assert done.returncode == 0, done.stderr
    assert f"+++ b/{path.name}" in done.stdout
    written = path.read_text()
    assert "lsp-agent" in written
    assert {*re.findall(r"\w+", mine or "")} <= {*re.findall(r"\w+", written)}
    assert "has it already" in person.setup(editor, "--yes").stdout
    assert person.setup(editor, "--yes", "--undo").returncode == 0
    assert (path.read_text() if path.exists() else None) == mine
    assert not (person.home / ".local/share/lsp-agent/setup" / editor).exists()


@pytest.mark.parametrize("version", ["0.12.4", "0.11.5"])
def test_neovim_gets_the_plugin_by_its_own_manager_where_it_has_one(
    person: Person, version: str
) -> None:
    person.has("bin/nvim", f"#!/bin/sh\necho NVIM v{version}\n").chmod(0o755)
    path = person.has(".config/nvim/init.lua", "vim.o.number = true\n")
    done = person.setup("neovim", "--yes")
    if version == "0.12.4":
        assert path.read_text().startswith("vim.o.number = true\n")
        assert 'version = "neovim"' in path.read_text()
        assert person.setup("neovim", "--yes", "--undo").returncode == 0
    else:
        assert done.returncode == 1
        assert "#install" in done.stderr
    assert path.read_text() == "vim.o.number = true\n"


def test_nothing_is_written_before_the_person_says_yes(person: Person) -> None:
    path = person.has(*FILES["kakoune"])
    done = person.setup("kakoune", said="n\n")
    assert done.returncode == 1
    assert "+hook global BufCreate" in done.stdout
    assert path.read_text() == FILES["kakoune"][1]
    assert person.setup("kakoune", said="y\n").returncode == 0
    assert "lsp-agent" in path.read_text()


def test_a_file_that_is_not_understood_is_left_alone_and_the_text_for_it_is_said(
    person: Person,
) -> None:
    path = person.has(FILES["kate"][0], '{ "servers": \n')
    done = person.setup("kate", "--yes")
    assert done.returncode == 1
    assert path.read_text() == '{ "servers": \n'
    assert f"{path} is left alone" in done.stderr
    assert '"lsp-agent": {' in done.stdout


def test_without_a_terminal_it_says_what_to_say_instead(person: Person) -> None:
    for arguments in (["helix"], ["helix", "--undo"], []):
        done = person.setup(*arguments)
        assert done.returncode == 2
        assert "--yes" in done.stderr


def test_an_unknown_editor_and_an_unknown_agent_are_named_with_those_that_there_are(
    person: Person,
) -> None:
    assert "there are neovim, vscode, helix" in person.setup("word", "--yes").stderr
    assert "there are " in person.setup("--yes", "--agent", "nobody").stderr
    assert "nothing was set up" in person.setup("helix", "--undo", "--yes").stderr


def test_a_key_is_not_kept_where_there_is_no_keyring_and_never_in_a_file(person: Person) -> None:
    (person.home / "keyring").mkdir()
    (person.home / "keyring/__init__.py").write_text(
        "from keyring import errors\n"
        "def get_keyring(): return object()\n"
        "def get_password(*_): return None\n"
        "def set_password(*_): raise errors.KeyringError('no service')\n"
    )
    (person.home / "keyring/errors.py").write_text("class KeyringError(Exception): pass\n")
    person.env["PYTHONPATH"] = str(person.home)
    command = [sys.executable, "-m", "lsp_agent", "setup", "--yes", "--agent", "anthropic", "--key"]
    done = subprocess.run(
        command, env=person.env, input="sk-secret\n", capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "ANTHROPIC_API_KEY" in done.stderr
    files = [path for path in person.home.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in files if b"sk-secret" in path.read_bytes()]


@pytest.mark.slow
def test_an_agent_is_chosen_tried_and_the_choice_taken_back(person: Person) -> None:
    script = person.has("script.json", json.dumps({"steps": [{"text": "ready"}]}))
    mine = (
        "# mine\n[agents.mine]\n"
        f'wire = "zot"\ncommand = ["lsp-agent", "rpc", "--script", "{script}"]\n'
        'provider = "script"\n'
    )
    path = person.has(".config/lsp-agent/config.toml", mine)
    done = person.setup("--yes", "--agent", "mine")
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'agent = "mine"\n' in path.read_text()
    assert re.search(r"✓ the server ran a scripted turn.*\n✓ mine answered", done.stdout)
    assert "lsp-agent prompt" in done.stdout
    assert person.setup("--yes", "--undo").returncode == 0
    assert path.read_text() == mine


@pytest.mark.slow
def test_an_agent_that_does_not_answer_is_said_with_what_is_left_to_do(person: Person) -> None:
    program = person.has("bin/claude-agent-acp", "#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    done = person.setup("--yes", "--agent", "claude")
    assert done.returncode == 1
    assert "claude does not answer: " in done.stdout
    assert "sign in: claude /login" in done.stdout


@pytest.mark.parametrize(
    ("editor", "language"),
    [
        ("kakoune", "kak"),
        ("vim", "vim"),
        ("kate", "json"),
        ("sublime", "json"),
        ("jetbrains", "json"),
    ],
)
def test_what_is_written_is_what_the_editors_page_says(
    person: Person, editor: str, language: str
) -> None:
    stem = "sublime-text" if editor == "sublime" else editor
    page = (ROOT / f"docs/editors/{stem}.md").read_text()
    said = re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[0]
    person.setup(editor, "--yes")
    written = (person.home / FILES[editor][0]).read_text()
    written = written.replace(str(person.home / "bin" / "lsp-agent"), "lsp-agent")
    if language == "json":
        assert json.loads(written) == json.loads(said)
    else:
        assert said in written


def test_each_editor_has_a_page_that_names_the_command() -> None:
    pages = {path.stem for path in (ROOT / "docs/editors").glob("*.md")}
    elsewhere = {"neovim": "editors/neovim/README.md", "vscode": "editors/vscode/README.md"}
    for name in RECIPES:
        page = elsewhere.get(name) or f"docs/editors/{name if name in pages else f'{name}-text'}.md"
        said = name == "vscode" or f"lsp-agent setup {name}" in (ROOT / page).read_text()
        assert said, page
