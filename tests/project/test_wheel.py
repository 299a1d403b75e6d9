"""What is published: a wheel that does the main job from an empty home."""

import json
import subprocess
import sys
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

import lsp_agent

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True, timeout=200)
    return next(folder.glob("*.whl"))


@pytest.fixture
def run(wheel: Path, tmp_path: Path):
    """Runs ``lsp-agent`` out of the wheel, in an empty home; what it needs is this one's."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    home = tmp_path / "home"
    home.mkdir()

    def lsp_agent(*arguments: str) -> "subprocess.CompletedProcess[str]":
        env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        env |= {"PYTHONPATH": str(tmp_path / "installed")}
        command = [sys.executable, "-m", "lsp_agent", *arguments]
        return subprocess.run(
            command, cwd=home, env=env, capture_output=True, text=True, timeout=200, check=False
        )

    return lsp_agent


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def test_it_says_where_it_comes_from_and_holds_the_program_alone(wheel: Path) -> None:
    said = metadata(wheel)
    urls = dict(each.split(", ") for each in said.get_all("Project-URL", []))
    assert {"Repository", "Documentation", "Changelog", "Issues"} <= {*urls}
    assert "Operating System :: MacOS" in said.get_all("Classifier", [])
    assert said["Version"] == lsp_agent.__version__
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        package = archive.read("lsp_agent/cli/editors/lsp-agent.el").decode()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"lsp_agent"}
    assert package == (ROOT / "editors/emacs/lsp-agent.el").read_text()


def test_the_demo_and_a_prompt_run_in_an_empty_home(run, tmp_path: Path) -> None:
    shown = run("demo")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"steps": [{"text": "I see."}]}))
    settings = tmp_path / "home" / ".config" / "lsp-agent" / "config.toml"
    settings.parent.mkdir(parents=True)
    command = [sys.executable, "-m", "lsp_agent", "rpc", "--script", str(script)]
    settings.write_text(f'[agents.builtin]\nprovider = "script"\ncommand = {json.dumps(command)}\n')
    asked = run("prompt", "What is this?")
    assert (asked.returncode, asked.stdout) == (0, "I see.\n"), asked.stderr


def test_a_prompt_without_any_agent_says_what_brings_one(run) -> None:
    asked = run("prompt", "What is this?")
    assert asked.returncode == 1
    assert "lsp-agent setup" in asked.stderr


@pytest.mark.parametrize("file", ["editors/emacs/lsp-agent.el", "editors/vscode/package.json"])
def test_the_version_is_the_same_wherever_a_registry_wants_it(file: str) -> None:
    text = (ROOT / file).read_text()
    said = text.partition('"version": "')[2].partition('"')[0] if file.endswith("json") else ""
    said = said or text.partition(";; Version: ")[2].partition("\n")[0]
    assert said == lsp_agent.__version__
