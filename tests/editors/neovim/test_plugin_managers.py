"""The branch ``neovim``, as each plugin manager installs it from a clone: the module can be loaded,
the help is found, and ``:checkhealth`` has its page."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from plugin_forge import VIM_PACK, git, git_env
from support import neovim_versions

pytestmark = [pytest.mark.neovim, pytest.mark.slow]

MANAGERS = Path(sys.prefix) / "managers"
QUICK = neovim_versions.parameters()[0]
SECONDS = 60

#: As VIM_PACK.
LAZY = f"""
vim.opt.runtimepath:prepend("{MANAGERS}/lazy.nvim")
require("lazy").setup({{ {{ url = "file://%s", branch = "neovim", opts = {{}} }} }}, {{
  rocks = {{ enabled = false }},
  change_detection = {{ enabled = false }},
}})
"""
MINI_DEPS = f"""
vim.opt.runtimepath:prepend("{MANAGERS}/mini.deps")
require("mini.deps").setup()
MiniDeps.add({{ source = "file://%s", checkout = "neovim", name = "lsp-agent" }})
require("lsp_agent").setup()
"""
#: As rocks.nvim has it: what LuaRocks put under its tree is looked into, health checks are linked.
ROCKS = """
local rocks = vim.fn.stdpath("data") .. "/rocks"
package.path = package.path .. ";" .. rocks .. "/share/lua/5.1/?.lua"
package.path = package.path .. ";" .. rocks .. "/share/lua/5.1/?/init.lua"
vim.opt.runtimepath:append(rocks .. "/lib/luarocks/rocks-5.1/*/*")
local linked = rocks .. "/site/lua/lsp_agent"
vim.fn.mkdir(linked, "p")
vim.uv.fs_symlink(rocks .. "/share/lua/5.1/lsp_agent/health.lua", linked .. "/health.lua")
vim.opt.runtimepath:append(rocks .. "/site")
vim.cmd.helptags({ rocks .. "/lib/luarocks/rocks-5.1/lsp-agent/scm-1/doc" })
require("lsp_agent").setup()
"""
CHECK = """
local seen = { width = require("lsp_agent.config").options.chat.width }
vim.cmd.help("lsp-agent")
seen.help = vim.fs.basename(vim.api.nvim_buf_get_name(0))
vim.cmd.checkhealth("lsp_agent")
seen.health = vim.api.nvim_buf_get_lines(0, 0, -1, true)
seen.command = vim.fn.exists(":Agent")
vim.fn.writefile({ vim.json.encode(seen) }, "seen.json")
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config" / "nvim").mkdir(parents=True)
    return tmp_path


def assert_whole(version: str, home: Path, init: str) -> None:
    """In a Neovim that starts with ``init`` in an empty home; twice, as some managers finish at the
    second start what they began at the first."""
    (home / "config" / "nvim" / "init.lua").write_text(init)
    (home / "check.lua").write_text(CHECK)
    env = git_env() | {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    env |= {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE")}
    program = str(neovim_versions.found()[version].program)
    for check in ([], ["-c", "luafile check.lua"]):
        command = [program, "--headless", *check, "-c", "qa!"]
        done = subprocess.run(
            command, cwd=home, env=env, capture_output=True, text=True, timeout=SECONDS, check=True
        )
    assert (home / "seen.json").exists(), done.stderr
    seen = json.loads((home / "seen.json").read_text())
    health = "\n".join(seen.pop("health"))
    assert seen == {"width": 0.4, "help": "lsp_agent.txt", "command": 2}
    assert "lsp-agent cannot be run" in health


@pytest.mark.parametrize("version", [neovim_versions.parameters()[-1]])
def test_vim_pack_installs_it(forge: Path, home: Path, version: str) -> None:
    assert_whole(version, home, VIM_PACK % forge)


@pytest.mark.lazy_nvim
@pytest.mark.parametrize("version", [QUICK])
def test_lazy_nvim_installs_it(forge: Path, home: Path, version: str) -> None:
    assert_whole(version, home, LAZY % forge)


@pytest.mark.mini_deps
@pytest.mark.parametrize("version", [QUICK])
def test_mini_deps_installs_it(forge: Path, home: Path, version: str) -> None:
    assert_whole(version, home, MINI_DEPS % forge)


@pytest.mark.luarocks
@pytest.mark.parametrize("version", [QUICK])
def test_luarocks_installs_it_where_rocks_nvim_looks(forge: Path, home: Path, version: str) -> None:
    checkout = home / "checkout"
    git("clone", "--quiet", "--branch", "neovim", f"file://{forge}", str(checkout))
    luarocks = [MANAGERS / "luarocks" / "bin" / "luarocks", "--tree", home / "data/nvim/rocks"]
    subprocess.run(
        [*luarocks, "--lua-version", "5.1", "make", "--deps-mode", "none"],
        cwd=checkout,
        check=True,
        capture_output=True,
        text=True,
    )
    assert_whole(version, home, ROCKS)


def test_the_branch_grows_only_by_what_is_new(clone: Path, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    shutil.copytree(clone, folder)

    def write() -> str:
        script = folder / "tools" / "neovim_branch.sh"
        done = subprocess.run(
            [script], cwd=folder, env=git_env(), check=True, capture_output=True, text=True
        )
        return done.stdout

    assert write() == "neovim: nothing new\n"
    (folder / "editors/neovim/lua/lsp_agent/new.lua").write_text("return 1\n")
    git("-C", str(folder), "add", "--all")
    git("-C", str(folder), "commit", "--quiet", "-m", "New")
    assert write().startswith("neovim: Take the plugin of ")
    assert git("-C", str(folder), "rev-list", "--count", "neovim") == "2\n"
    names = git("-C", str(folder), "ls-tree", "--name-only", "-r", "neovim").splitlines()
    assert {"lua/lsp_agent/new.lua", "LICENSE", "README.md"} <= {*names}
    assert "](../../" not in git("-C", str(folder), "show", "neovim:README.md")
