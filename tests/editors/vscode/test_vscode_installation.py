"""How the extension installs the server that it comes with: by which Python, and what of it stays
when the extension is updated."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.vscode_modules import returned
from support.vscode_server import bundle, wheel

pytestmark = [pytest.mark.vscode, pytest.mark.slow, pytest.mark.timeout(300)]

PREPARE = """
Object.assign(process.env, { PYENV_ROOT: '', ...argument.env });
vscode.window.withProgress = (_options, work) => work({ report() {} });
vscode.workspace.workspaceFolders = [{ uri: { fsPath: argument.repository } }];
const known = argument.known.map((fsPath) => ({ executable: { uri: { fsPath } } }));
const extension = { activate: async () => ({ environments: { known } }) };
vscode.extensions.getExtension = (id) => (id === 'ms-python.python' ? extension : undefined);
"""
INSTALL = """
const ran = [];
const context = {
  globalStorageUri: { fsPath: argument.storage },
  asAbsolutePath: (name) => argument.extension + '/' + name,
};
const log = { info: (line) => ran.push(line), error() {} };
const program = await find.installServer(context, log).catch(String);
return { program, ran };
"""
WHOLE = """
vscode.workspace.getConfiguration = () => ({ get: () => '' });
const context = {
  globalStorageUri: { fsPath: argument.storage },
  asAbsolutePath: (name) => argument.extension + '/' + name,
};
return (await find.findServer(context)) ?? null;
"""
FIND = "return (await python.findPython(argument.storage)) ?? null;"


class Machine:
    """Folders of a person's; a PATH with nothing in it."""

    def __init__(self, base: Path) -> None:
        self.programs, self.storage, self.extension, self.repository, self.home = (
            base / name for name in ("bin", "storage", "extension", "repository", "home")
        )
        for folder in (self.programs, self.storage, self.repository, self.home):
            folder.mkdir()
        self.known: list[str] = []
        self.env = {"PATH": str(self.programs), "HOME": str(self.home)}

    def python(self, path: Path, code: str = 'exec {python} "$@"') -> str:
        """The real one there, or what the shell makes of ``code``."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{code.format(python=sys._base_executable)}\n")
        path.chmod(0o755)
        return str(path)

    def install(self) -> tuple[str, list[str]]:
        """The server's program, and the commands that were run for it."""
        said = self._run(INSTALL, find="server/find")
        return said["program"], said["ran"]

    def whole(self) -> str | None:
        """The server that is installed already."""
        return self._run(WHOLE, find="server/find")

    def found(self) -> str | None:
        return self._run(FIND, python="server/python")

    def _run(self, code: str, **modules: str) -> Any:
        given = {name: str(value) for name, value in vars(self).items() if isinstance(value, Path)}
        argument = given | {"env": self.env, "known": self.known}
        return returned(PREPARE + code, argument, **modules)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_an_update_shares_what_its_version_still_needs_and_fetches_what_it_needs_anew(
    machine: Machine, tmp_path: Path
) -> None:
    machine.python(machine.programs / "python3")
    need = wheel(tmp_path, "needed", "3.2")
    bundle(machine.extension, "1.0", need)
    first, _ = machine.install()
    need.unlink()  # nothing to fetch it from any more
    bundle(machine.extension, "2.0", need)
    second, ran = machine.install()
    assert not any("--requirement" in line for line in ran)
    bundle(machine.extension, "3.0", wheel(tmp_path, "needed", "4.0"))
    third, _ = machine.install()
    assert [seen(each) for each in (first, second, third)] == ["1.0 3.2", "2.0 3.2", "3.0 4.0"]
    assert machine.whole() == third
    for link in machine.storage.glob("*/bin/python"):
        link.unlink()
        link.symlink_to(tmp_path / "gone")  # as an update of the system leaves it
    assert machine.whole() is None


def seen(program: str) -> str:
    """The versions of the server and of its need, as the server's Python finds them."""
    code = "import lsp_agent, needed; print(lsp_agent.VERSION, needed.VERSION)"
    python = Path(program).with_name("python")
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_python_on_the_path_comes_first(machine: Machine) -> None:
    machine.known = [machine.python(machine.home / "environment" / "bin" / "python")]
    assert machine.found() == machine.known[0]
    on_path = machine.python(machine.programs / "python3.12")
    assert machine.found() == on_path


def test_a_python_that_is_too_old_is_passed_over(machine: Machine) -> None:
    machine.python(machine.programs / "python3", "exit 1")
    assert machine.found() is None
    newer = machine.python(machine.programs / "python3.13")
    assert machine.found() == newer


def test_a_python_of_the_repositorys_is_not_started(machine: Machine) -> None:
    machine.known = [
        machine.python(machine.repository / ".venv" / "bin" / "python", "touch $0.ran")
    ]
    assert machine.found() is None
    assert list(machine.repository.rglob("*.ran")) == []


def test_the_newest_python_of_pyenv_is_found(machine: Machine) -> None:
    versions = machine.home / ".pyenv" / "versions"
    machine.env["PYENV_ROOT"] = str(versions.parent)
    for version in ("3.9.18", "3.11.7", "3.12.1"):
        machine.python(versions / version / "bin" / "python")
    assert machine.found() == str(versions / "3.12.1" / "bin" / "python")


def test_the_python_that_the_py_launcher_starts_is_found(machine: Machine) -> None:
    real = machine.python(machine.home / "python" / "python")
    machine.python(machine.programs / "py", f"echo {real}")
    assert machine.found() == real


def test_the_python_that_uv_has_is_found_where_its_installer_puts_uv(machine: Machine) -> None:
    real = machine.python(machine.home / "uv" / "python")
    machine.python(machine.home / ".local" / "bin" / "uv", f"echo {real}")
    assert machine.found() == real


def test_without_any_uv_is_asked_to_fetch_one(machine: Machine) -> None:
    real = machine.home / "fetched" / "python"
    source = machine.python(machine.home / "source")
    uv = (
        f'case "$2" in install) mkdir -p {real.parent}; ln -s {source} {real};;'
        f" *) [ -e {real} ] && echo {real};; esac"
    )
    machine.env["PATH"] += f"{os.pathsep}/usr/bin{os.pathsep}/bin"
    for name in ("python3", "python3.11", "python3.12", "python3.13", "python3.14", "python"):
        machine.python(machine.programs / name, "exit 1")  # the machine's may be new enough
    machine.python(machine.programs / "uv", uv)
    bundle(machine.extension)
    program, ran = machine.install()
    assert Path(program).exists(), program
    assert ran[0].startswith(str(real))


def test_without_python_and_uv_the_person_is_told(machine: Machine) -> None:
    bundle(machine.extension)
    said, _ = machine.install()
    assert "needs Python 3.11 or newer" in said
    assert "uv" in said
