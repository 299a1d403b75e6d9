"""A repository that plants what VS Code's extension would start or import while it installs the
server: its own python, venv and pip."""

import os
import sys
from pathlib import Path

import pytest
from support.vscode_modules import returned
from support.vscode_server import bundle

pytestmark = [pytest.mark.vscode, pytest.mark.slow, pytest.mark.timeout(300)]

INSTALLED = """
process.chdir(argument.repository);
process.env.PATH = argument.path;
vscode.window.withProgress = (_options, work) => work({ report() {} });
const context = {
  globalStorageUri: { fsPath: argument.storage },
  asAbsolutePath: (name) => argument.extension + '/' + name,
};
const log = { info() {}, error() {} };
return server.installServer(context, log).catch(String);
"""
#: What Python finds in the folder that it is started in before its own.
MODULES = ("venv", "pip", "ensurepip", "sitecustomize", "subprocess", "zipfile", "logging")


def test_the_installation_runs_and_imports_nothing_of_the_repository(tmp_path: Path) -> None:
    repository, ran = tmp_path / "repository", tmp_path / "ran"
    repository.mkdir()
    for module in MODULES:
        planted = f"open({str(ran)!r}, 'a').write('{module}\\n')\n"
        (repository / f"{module}.py").write_text(planted)
    programs = tmp_path / "bin"
    for folder in (programs, repository):
        folder.mkdir(exist_ok=True)
        python = folder / "python3"
        planting = f"echo python3 >>'{ran}'; " if folder == repository else ""
        python.write_text(f'#!/bin/sh\n{planting}exec {sys._base_executable} "$@"\n')
        python.chmod(0o755)
    bundle(tmp_path / "extension")
    program = returned(
        INSTALLED,
        {
            "repository": str(repository),
            "storage": str(tmp_path / "storage"),
            "extension": str(tmp_path / "extension"),
            "path": os.pathsep.join([".", "", str(programs), "/usr/bin", "/bin"]),
        },
        server="server/find",
    )
    assert not ran.exists(), ran.read_text().split()
    assert program.startswith(str(tmp_path / "storage")), program
    assert os.access(program, os.X_OK)
