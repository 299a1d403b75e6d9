"""Which of a person's files ``lsp-agent setup`` writes into: the one that the editor reads."""

from pathlib import Path

import pytest

from lsp_agent.cli.editors import changes
from lsp_agent.cli.editors.changes import Change
from lsp_agent.cli.editors.recipes import RECIPES


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / ".local/share"))
    return folder


def has(home: Path, *names: str) -> None:
    """A name that ends with a slash is a folder's."""
    for name in names:
        path = home / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine\n")


def written(home: Path, editor: str) -> list[str]:
    return [str(change.path.relative_to(home)) for change in RECIPES[editor].changes()]


@pytest.fixture
def neovim(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that says that it has a plugin manager; the folder of its configuration."""
    program = home / "bin/nvim"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho NVIM v0.12.4\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return home / ".config/nvim"


def neovim_change() -> Change:
    (change,) = RECIPES["neovim"].changes()
    return change


def test_neovim_gets_the_plugin_in_the_init_vim_that_it_would_no_longer_read_beside_an_init_lua(
    home: Path, neovim: Path
) -> None:
    has(home, ".config/nvim/init.vim")
    change = neovim_change()
    assert change.path == neovim / "init.vim"
    assert change.after == (
        "mine\n"
        "\n"
        '" >>> lsp-agent setup >>>\n'
        "lua << EOF\n"
        'vim.pack.add({ { src = "https://github.com/lsp-agent/lsp-agent", version = "neovim" } })\n'
        'require("lsp_agent").setup()\n'
        "EOF\n"
        '" <<< lsp-agent setup <<<\n'
    )


def test_what_is_put_into_an_init_vim_is_taken_back(home: Path, neovim: Path) -> None:
    has(home, ".config/nvim/init.vim")
    changes.make("neovim", [neovim_change()])
    assert "lsp_agent" in (neovim / "init.vim").read_text()
    assert not neovim_change().is_one
    changes.undo("neovim", [changes.take_back(each) for each in changes.made("neovim")])
    assert (neovim / "init.vim").read_text() == "mine\n"


@pytest.mark.parametrize("there", [[], ["init.lua"], ["init.lua", "init.vim"]])
def test_neovim_gets_the_plugin_in_its_init_lua_where_it_reads_that(
    home: Path, neovim: Path, there: list[str]
) -> None:
    has(home, *(f".config/nvim/{name}" for name in there))
    assert neovim_change().path == neovim / "init.lua"


@pytest.mark.parametrize(
    ("there", "read"),
    [
        ([".vimrc"], ".vimrc"),
        ([".vimrc", ".vim/vimrc"], ".vimrc"),
        ([".vim/vimrc", ".config/vim/vimrc"], ".vim/vimrc"),
        ([".config/vim/vimrc"], ".config/vim/vimrc"),
        ([".vim/", ".config/vim/"], ".vimrc"),
    ],
)
def test_vim_gets_its_lines_in_the_first_file_that_it_looks_for(
    home: Path, there: list[str], read: str
) -> None:
    has(home, *there)
    assert written(home, "vim") == [read]


@pytest.mark.parametrize(
    ("there", "read"),
    [
        ([".emacs", ".emacs.d/init.el"], ".emacs"),
        ([".emacs.el", ".emacs.d/init.el"], ".emacs.el"),
        ([".emacs.el", ".emacs"], ".emacs.el"),
        ([".emacs", ".config/emacs/init.el"], ".emacs"),
        ([".emacs.el"], ".emacs.el"),
        ([".emacs.d/", ".config/emacs/init.el"], ".emacs.d/init.el"),
        ([".emacs.el", ".config/emacs/"], ".config/emacs/init.el"),
        ([".config/emacs/init.el"], ".config/emacs/init.el"),
        ([], ".config/emacs/init.el"),
    ],
)
def test_emacs_gets_its_lines_in_the_file_that_it_reads(
    home: Path, there: list[str], read: str
) -> None:
    has(home, *there)
    assert written(home, "emacs")[1] == read


@pytest.mark.parametrize("dot_file", [".emacs", ".emacs.el"])
def test_the_package_for_a_dot_file_of_emacs_lies_in_its_own_folder(
    home: Path, dot_file: str
) -> None:
    has(home, dot_file)
    assert written(home, "emacs")[0] == ".emacs.d/lsp-agent/lsp-agent.el"


def test_the_package_for_an_init_el_lies_beside_it(home: Path) -> None:
    has(home, ".config/emacs/")
    assert written(home, "emacs")[0] == ".config/emacs/lsp-agent/lsp-agent.el"
