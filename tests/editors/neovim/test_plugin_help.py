"""The help file, which is written from the sources."""

import os
import subprocess
from pathlib import Path

import pytest
from plugin_desk import PLUGIN
from support import neovim_versions

pytestmark = pytest.mark.neovim

HELP = PLUGIN / "doc" / "lsp_agent.txt"


@pytest.mark.parametrize("name", neovim_versions.parameters())
def test_the_help_file_is_what_the_sources_say(name: str) -> None:
    script = PLUGIN / "scripts" / "help.lua"
    program = neovim_versions.found()[name].program
    command = [program, "--clean", "-l", script, "--print"]
    written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert written == HELP.read_text(encoding="utf-8"), "nvim -l editors/neovim/scripts/help.lua"


@pytest.mark.parametrize("name", neovim_versions.parameters())
def test_its_tags_are_all_different(name: str, tmp_path: Path) -> None:
    (tmp_path / "lsp_agent.txt").write_bytes(HELP.read_bytes())
    program = neovim_versions.found()[name].program
    command = [program, "--clean", "--headless", f"+helptags {tmp_path}", "+qa"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert said == ""
    tags = (tmp_path / "tags").read_text(encoding="utf-8")
    assert "*:Agent-keep*" in tags
    assert "*lsp-agent*" in tags  # as the program is called


@pytest.mark.parametrize("name", neovim_versions.parameters())
def test_the_readmes_commands_install_the_plugin_and_bring_it_up_to_date(
    name: str, tmp_path: Path
) -> None:
    program = neovim_versions.found()[name].program
    commands = (PLUGIN / "README.md").read_text().partition("```sh\n")[2].partition("```")[0]
    env = {"HOME": str(tmp_path), "PATH": f"{program.parent}:{os.environ['PATH']}"}

    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=PLUGIN.parents[1], env=env, capture_output=True, text=True, check=True
        )
        return done.stdout + done.stderr

    for _ in range(2):
        assert run("sh", "-e", "-c", commands) == ""
    installed = tmp_path / ".local/share/nvim/site/pack/lsp-agent/start/lsp_agent"
    assert not (installed / "neovim").exists()
    (tmp_path / ".config/nvim").mkdir(parents=True)
    setup = (PLUGIN / "README.md").read_text().partition("```lua\n")[2].partition("```")[0]
    setup = setup.splitlines()[-1]  # without what fetches the plugin
    (tmp_path / ".config/nvim/init.lua").write_text(setup)
    assert run("nvim", "--headless", "-c", "help :Agent-ask", "-c", "qa") == ""
