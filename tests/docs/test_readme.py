"""The README's own snippets, put together and run in a real Neovim."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")

DRIVE = """
local function started() return vim.lsp.get_clients({ name = "lsp_agent" })[1] end
vim.wait(10000, function() return started() and started().initialized end)
pcall(vim.cmd, "Agent write a note")
vim.wait(10000, function() return vim.uv.fs_stat("note.txt") ~= nil end)
vim.cmd("qall!")
"""


def block(language: str, having: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return next(text for text in found if having in text)


@pytest.mark.neovim
@pytest.mark.timeout(60)
def test_the_snippets_together_let_neovim_prompt_the_embedded_agent(tmp_path):
    script = tmp_path / "answers.json"
    script.write_text(block("json", '"steps"'))
    config = tmp_path / "config" / "lsp-agent" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(block("toml", "agents.builtin").replace("/home/me/answers.json", str(script)))
    (tmp_path / "init.lua").write_text(block("lua", "vim.lsp.config"))
    (tmp_path / "drive.lua").write_text(DRIVE)
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "a.txt").write_text("hello\n")

    beside_python = str(Path(sys.executable).parent)
    path = os.pathsep.join([beside_python, os.environ["PATH"]])
    subprocess.run(
        ["nvim", "--headless", "-i", "NONE", "-u", "../init.lua", "-S", "../drive.lua", "a.txt"],
        cwd=project,
        env=os.environ | {"PATH": path, "XDG_CONFIG_HOME": str(tmp_path / "config")},
        capture_output=True,
        check=True,
        timeout=50,
    )
    assert (project / "note.txt").read_text() == "hello\n"
