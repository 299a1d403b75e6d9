"""Someone who has VS Code and the extension, and nothing else yet."""

import os
import re
import sys
from pathlib import Path

import psutil
import pytest
from vscode_product import build, product
from workbench import wait_until

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.xdist_group("vscode"),
]


def test_without_a_server_its_own_is_installed_once_there_is_a_python(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    with product(tmp_path, build(), machine={}, path=str(programs)) as person:
        person.command("lspAgent.chat.open")
        hindrance = person.chat.locator(".hindrance")
        hindrance.filter(has_text="needs Python 3.11 or newer").wait_for()
        hindrance.get_by_role("button", name="Get Python").wait_for()

        python = programs / "python3"
        python.write_text(f'#!/bin/sh\nexec {sys._base_executable} "$@"\n')
        python.chmod(0o755)
        hindrance.get_by_role("button", name="Try Again").click()
        wait_until(lambda: servers(tmp_path), 240)
        hindrance.wait_for(state="detached")

        person.say("Hello")  # the embedded agent has no model yet, and says so
        person.chat.get_by_text(re.compile("provider")).first.wait_for()

        (link,) = tmp_path.rglob("server-*/bin/python")
        link.unlink()
        link.symlink_to(tmp_path / "gone")  # as an update of the system leaves it
        person.command("lspAgent.server.restart")
        wait_until(lambda: link.exists() and servers(tmp_path), 240)
        hindrance.wait_for(state="detached")
    wait_until(lambda: not servers(tmp_path))


def servers(base: Path) -> list[psutil.Process]:
    """Those that run from the extension's own environment."""
    storage = str(base / "user") + os.sep
    found: list[psutil.Process] = []
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or []
        if "serve" in command and any(part.startswith(storage) for part in command):
            found.append(process)
    return found
