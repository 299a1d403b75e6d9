"""The form of the plugin's code."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from plugin_desk import PLUGIN

STYLUA = Path(sys.prefix) / "stylua"


@pytest.mark.stylua
def test_the_code_is_in_the_form_that_stylua_gives_it() -> None:
    options = tomllib.loads((PLUGIN / ".stylua.toml").read_text())
    files = sorted(PLUGIN.rglob("*.lua"))
    assert files
    script = Path(__file__).with_name("stylua.mjs")
    command = ["node", script, STYLUA, json.dumps(options), *files]
    assert json.loads(subprocess.check_output(command)) == []
