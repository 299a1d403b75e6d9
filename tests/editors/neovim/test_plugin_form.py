"""The form of the plugin's code, and its annotations."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from plugin_desk import PLUGIN
from support import neovim_versions

STYLUA = Path(sys.prefix) / "stylua"
EMMYLUA = Path(sys.prefix) / "emmylua" / "bin" / "emmylua_check"


@pytest.mark.stylua
def test_the_code_is_in_the_form_that_stylua_gives_it() -> None:
    options = tomllib.loads((PLUGIN / ".stylua.toml").read_text())
    files = sorted(PLUGIN.rglob("*.lua"))
    assert files
    script = Path(__file__).with_name("stylua.mjs")
    command = ["node", script, STYLUA, json.dumps(options), *files]
    assert json.loads(subprocess.check_output(command)) == []


@pytest.mark.slow
@pytest.mark.emmylua
def test_the_code_is_as_its_annotations_and_those_of_neovim_have_it() -> None:
    runtime = neovim_versions.FETCHED / "newest" / "usr" / "share" / "nvim" / "runtime"
    assert (runtime / "lua" / "vim" / "lsp.lua").exists()
    command = [EMMYLUA, "--output-format", "json", "--severity", "warn", PLUGIN]
    environment = {**os.environ, "VIMRUNTIME": str(runtime)}  # as .luarc.json names it
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = [
        f"{file['file']}:{each['range']['start']['line'] + 1}: {each['message']} ({each['code']})"
        for file in json.loads(run.stdout)
        for each in file["diagnostics"]
    ]
    assert found == [], "\n".join(found)
    assert run.returncode == 0, run.stderr
