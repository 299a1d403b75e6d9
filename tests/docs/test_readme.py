"""The README's own lines, put together and run in a real Neovim."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lsp_agent.cli import demo_project

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

PICTURE = ROOT / "docs" / "images" / "demo.svg"

# What a person does: types, saves nothing, asks, and reads what came.
DRIVE = """
local function started() return vim.lsp.get_clients({ name = "lsp_agent" })[1] end
vim.wait(20000, function() return started() and started().initialized end)
vim.api.nvim_buf_set_lines(0, 0, 0, true, { "# half a thought" })
vim.cmd("Agent mend it")
local function lines() return vim.api.nvim_buf_get_lines(0, 0, -1, true) end
vim.wait(20000, function() return vim.tbl_contains(lines(), "    return 2 * (width + height)") end)
vim.fn.writefile(lines(), "seen")
vim.cmd("qall!")
"""

MENDED = '''\
# half a thought
def area(width, height):
    """The area of a rectangle."""
    return width * height


def perimeter(width, height):
    return 2 * (width + height)
'''


def test_the_picture_that_moves_is_small_and_shows_the_demo_of_now():
    shown = html.unescape(re.sub(r"<[^>]+>", "", PICTURE.read_text(encoding="utf-8")))
    for line in (demo_project.PROMPT, demo_project.LONG_PROMPT, demo_project.UNSAVED.strip()):
        assert line in shown, "python tools/record_demo.py"
    assert PICTURE.stat().st_size < 64_000
    assert "uvx lsp-agent demo" in README


def block(language: str, having: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return next(text for text in found if having in text)


@pytest.mark.neovim
@pytest.mark.timeout(60)
def test_the_lines_together_let_neovim_prompt_the_embedded_agent(tmp_path):
    beside_python = str(Path(sys.executable).parent)
    folders = {"HOME": tmp_path, "XDG_CONFIG_HOME": tmp_path / ".config"}
    env = os.environ | {name: str(folder) for name, folder in folders.items()}
    env["PATH"] = os.pathsep.join([beside_python, os.environ["PATH"]])
    subprocess.run(["sh", "-ec", block("sh", "docs/try")], cwd=ROOT, env=env, check=True)
    (tmp_path / "init.lua").write_text(block("lua", "vim.lsp.config"))
    (tmp_path / "drive.lua").write_text(DRIVE)
    project = tmp_path / "lsp-agent-try"
    subprocess.run(
        ["nvim", "--headless", "-i", "NONE", "-u", "../init.lua", "-S", "../drive.lua", "shape.py"],
        cwd=project,
        env=env,
        capture_output=True,
        check=True,
        timeout=50,
    )
    assert (project / "seen").read_text() == MENDED
