"""Where the code lies that the server and its agents run from."""

import sys
import sysconfig
from pathlib import Path

import pytest

import lsp_agent
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.server.runs_from import agents_code, agents_extensions, server_code
from lsp_agent.workspace.disk.paths import Confinement, OutsideWorkspace, Reserved


def holds(rules: list[Reserved], path: Path | str) -> bool:
    """Whether a file tool is kept from writing there; it may always read."""
    confinement = Confinement(["/"], rules)
    confinement.confine(str(path), "/", write=False)
    try:
        confinement.confine(str(path), "/", write=True)
    except OutsideWorkspace:
        return True
    return False


def agent(*command: str, **env: str) -> AgentSettings:
    return AgentSettings(wire="zot", command=list(command), env=env)


def program(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


def test_the_server_runs_from_its_package_its_libraries_and_its_interpreter() -> None:
    rules = server_code()
    package = Path(lsp_agent.__file__).parent
    libraries = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "scripts")]
    for place in (package / "server" / "new.py", *(folder / "x" for folder in libraries)):
        assert holds(rules, place)
    assert holds(rules, Path(sys.executable).resolve())
    assert holds(rules, package.parent / "sitecustomize.py")
    assert holds(rules, package.parent / "uvloop" / "__init__.py")
    assert not holds(rules, package.parent / "tests" / "new.py")
    assert not holds(rules, package.parent / "README.md")


def test_a_program_and_what_would_be_found_before_it(tmp_path: Path) -> None:
    program(tmp_path / "second" / "an-agent")
    program(tmp_path / "third" / "an-agent")
    path = ":".join(str(tmp_path / name) for name in ("first", "second", "third"))
    rules = agents_code([agent("an-agent", PATH=path)], [])
    assert holds(rules, tmp_path / "first" / "an-agent")
    assert holds(rules, tmp_path / "second" / "an-agent")
    assert not holds(rules, tmp_path / "third" / "an-agent")
    assert not holds(rules, tmp_path / "first" / "another")


@pytest.mark.parametrize("command", [("./bin/an-agent",), ("sh", "bin/an-agent", "--x")])
def test_a_relative_name_is_one_in_each_folder(tmp_path: Path, command: tuple[str, ...]) -> None:
    program(tmp_path / "bin" / "an-agent")
    rules = agents_code([agent(*command)], [str(tmp_path)])
    assert holds(rules, tmp_path / "bin" / "an-agent")
    assert not holds(rules, tmp_path / "bin" / "another")


def test_the_outermost_folder_of_packages_and_an_environment_that_a_link_leads_to(
    tmp_path: Path,
) -> None:
    inner = program(tmp_path / "lib/node_modules/a/node_modules/b/cli.js")
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "link").symlink_to(program(tmp_path / "env" / "bin" / "an-agent"))
    rules = agents_code([agent("node", str(inner)), agent(str(tmp_path / "link"))], [])
    assert holds(rules, tmp_path / "lib/node_modules/c/index.js")
    assert holds(rules, tmp_path / "env/lib/python3/site-packages/x.py")
    assert holds(rules, tmp_path / "env/pyvenv.cfg")
    assert not holds(rules, tmp_path / "env/notes.txt")
    assert not holds(rules, tmp_path / "lib/x")


def test_the_folders_of_zots_extensions_which_the_embedded_agent_runs_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZOT_HOME", str(tmp_path / "mine"))
    rules = agents_extensions([agent("a"), agent("b", ZOT_HOME=str(tmp_path / "its"))])
    assert holds(rules, tmp_path / "mine" / "extensions" / "helper" / "main.py")
    assert holds(rules, tmp_path / "its" / "extensions" / "new" / "extension.json")
    assert not holds(rules, tmp_path / "its" / "notes.txt")


def test_what_is_no_file_is_no_code(tmp_path: Path) -> None:
    command = ("/nowhere/agent", "rpc", "n" * 5000, "a\0b", str(tmp_path), "--x")
    assert agents_code([agent(*command)], [str(tmp_path)]) == []
