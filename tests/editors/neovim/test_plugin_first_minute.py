"""From the plugin alone to a first answer: ``:Agent install`` and ``:Agent connect``."""

import json
import stat
from pathlib import Path

import pytest
from plugin_desk import PluginDesk, with_packages
from plugin_forge import VIM_PACK, git_env
from support import neovim_versions
from support.acp_agents import is_no_turns
from support.first_minute import Film, Record, build_wheel, uv_environment
from support.model_server import Call, ModelServer, Step
from support.neovim import Neovim, wait_until
from support.neovim_desk import LSP_AGENT

pytestmark = pytest.mark.neovim

RUNNING = "return #vim.lsp.get_clients({ name = 'lsp_agent' })"
#: What uv does, on a machine that has no registry: the program, where uv puts programs.
UV = """#!/bin/sh
echo "$@" >"$HOME/uv-said"
mkdir -p "$HOME/.local/bin"
mv "{program}" "$HOME/.local/bin/lsp-agent"
"""


def home(desk: PluginDesk) -> Path:
    return Path(desk.nvim.lua("return vim.fn.expand('~')"))


def program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(stat.S_IRWXU)


def on_path(desk: PluginDesk) -> Path:
    return Path(desk.nvim.lua("return vim.fn.exepath('lsp-agent')"))


def test_install_brings_the_server_where_neovims_path_does_not_lead(desk: PluginDesk) -> None:
    server = on_path(desk)
    away = server.with_name("lsp-agent-that-uv-brings")
    server.rename(away)
    desk.nvim.lua("vim.env.HOME = ...", str(desk.folder.parent))
    program(server.with_name("uv"), UV.format(program=away))
    desk.open("a.txt", "one\n")
    desk.setup()
    wait_until(lambda: "agent: no lsp-agent here" in desk.nvim.command_output("messages"))
    desk.agent("install")
    wait_until(lambda: desk.nvim.lua(RUNNING) == 1, 60)
    assert (home(desk) / "uv-said").read_text() == "tool install --upgrade lsp-agent\n"


def test_connect_offers_what_is_here_then_keys_and_tries_what_is_chosen(desk: PluginDesk) -> None:
    script = desk.folder.parent / "ready.json"
    script.write_text(json.dumps({"steps": [{"text": "ready"}]}))
    settings = Path(desk.nvim.lua("return vim.env.XDG_CONFIG_HOME")) / "lsp-agent/config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    command = json.dumps([*LSP_AGENT, "rpc", "--script", str(script)])
    settings.write_text(
        f'[agents.mine]\nwire = "zot"\ncommand = {command}\nprovider = "script"\n', "utf-8"
    )
    desk.open("a.txt", "one\n")
    desk.setup()
    desk.wait_for_server()
    desk.agent("connect")
    items = desk.picker()["items"]
    assert items.index("mine") < items.index("Anthropic, by your key")
    missing = next(n for n, item in enumerate(items) if "not here: npm install -g" in item)
    assert items.index("OpenAI, by your key") < missing
    desk.choose("mine")
    wait_until(lambda: "mine answers" in desk.nvim.command_output("messages"), 90)
    assert 'agent = "mine"\n' in settings.read_text("utf-8")
    desk.wait_for_server()
    desk.agent("ask Hello.")
    desk.wait_for_chat("ready")


@pytest.mark.uv
@pytest.mark.slow
@pytest.mark.parametrize("version", [neovim_versions.parameters()[-1]])
def test_from_one_line_of_a_manager_to_an_edit_of_unsaved_text(
    version: str, forge: Path, tmp_path: Path, record_property: Record
) -> None:
    folders = {f"XDG_{k}_HOME": str(tmp_path / k.lower()) for k in ("CONFIG", "DATA", "STATE")}
    init = tmp_path / "config" / "nvim" / "init.lua"
    init.parent.mkdir(parents=True)
    init.write_text(VIM_PACK % forge)
    notes = tmp_path / "shop" / "notes.txt"
    (notes.parent / ".git").mkdir(parents=True)
    notes.write_text("alpha\nbeta\n")
    wheel = build_wheel(tmp_path)
    shout = Call("edit", {"path": "notes.txt", "edits": [{"oldText": "beta", "newText": "BETA"}]})
    with ModelServer(aside=is_no_turns) as model:
        key = {"ANTHROPIC_API_KEY": "sk-mine", "ANTHROPIC_BASE_URL": model.url}
        env = git_env() | uv_environment(tmp_path, wheel) | folders | key
        film = Film("Neovim, vim.pack", record_property)
        found = neovim_versions.found()[version].program
        nvim = Neovim(with_packages(found, tmp_path), notes.parent, env)
        nvim.dismisses = True  # what the manager says
        try:
            wait_until(lambda: nvim.lua("return vim.fn.exists(':Agent')") == 2, 60)
            nvim.command(f"edit {notes}")
            film.did("nvim, with the manager's line in init.lua")
            nvim.command("Agent install")
            wait_until(lambda: nvim.lua(RUNNING) == 1, 120)
            film.did(":Agent install")
            nvim.keys("Onot saved yet<Esc>")
            model.then(Step("I look.", (shout,)), Step("It is loud now."))
            nvim.command("Agent ask Shout about beta.")
            wait_until(lambda: nvim.lines() == ["not saved yet", "alpha", "BETA"], 60)
            film.did("typing, :Agent ask …: edit")
            film.ends()
            assert notes.read_text() == "alpha\nbeta\n"
        finally:
            nvim.close()
