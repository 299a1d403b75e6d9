"""A repository that plants what VS Code's extension would start or import while it installs the
server: its own python, venv and pip."""

import base64
import hashlib
import os
import sys
import zipfile
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / "editors"), str(TESTS / "vscode_extension")]  # workbench, vscode_modules

from vscode_modules import returned  # noqa: E402

pytestmark = [pytest.mark.vscode, pytest.mark.slow, pytest.mark.timeout(120)]

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
NAME = "lsp_agent-0.0"


def wheel(folder: Path) -> None:
    """One without dependencies, with the server's program."""
    files = {
        "lsp_agent_stub.py": "def main(): pass\n",
        f"{NAME}.dist-info/METADATA": "Metadata-Version: 2.1\nName: lsp-agent\nVersion: 0.0\n",
        f"{NAME}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{NAME}.dist-info/entry_points.txt": "[console_scripts]\nlsp-agent=lsp_agent_stub:main\n",
    }
    record = "".join(f"{name},sha256={_digest(text)},\n" for name, text in files.items())
    files[f"{NAME}.dist-info/RECORD"] = f"{record}{NAME}.dist-info/RECORD,,\n"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / f"{NAME}-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


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
    wheel(tmp_path / "extension" / "server")
    program = returned(
        INSTALLED,
        {
            "repository": str(repository),
            "storage": str(tmp_path / "storage"),
            "extension": str(tmp_path / "extension"),
            "path": os.pathsep.join([".", "", str(programs), "/usr/bin", "/bin"]),
        },
        server="server",
    )
    assert not ran.exists(), ran.read_text().split()
    assert program.startswith(str(tmp_path / "storage")), program
    assert os.access(program, os.X_OK)
