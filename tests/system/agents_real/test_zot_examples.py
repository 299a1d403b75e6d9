"""zot's own example programs, unchanged, over the real ``lsp-agent rpc``.

None of them is kept here: they are read from zot's sources, the folder that the variable
``LSP_AGENT_ZOT_SOURCE`` names (``go mod download -json github.com/patriceckhart/zot@latest``
tells where its ``Dir`` is). They want go, node, npx and jq.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.raw_client import wait_until
from support.rpc_process import Frame, RpcProcess, call, result_texts

pytestmark = [pytest.mark.zot_examples, pytest.mark.slow]

#: In seconds. Go compiles, and the machine may be busy with the other tests.
PATIENCE = 120.0
EXTENSIONS = "examples/extensions"


@pytest.fixture(scope="module")
def source() -> Path:
    return Path(os.environ["LSP_AGENT_ZOT_SOURCE"])


@pytest.fixture(scope="module")
def built(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Builds the Go program of a folder of theirs, and answers it."""
    programs = tmp_path_factory.mktemp("programs")

    def build(folder: str) -> Path:
        program = programs / Path(folder).name
        command = ["go", "build", "-C", str(source), "-o", str(program), f"./{folder}"]
        # Not the cache of the tests' own folders, which is empty.
        cache = {"GOCACHE": os.environ.get("GOCACHE", str(Path.home() / ".cache" / "go-build"))}
        subprocess.run(command, check=True, timeout=PATIENCE, env=os.environ | cache)
        return program

    return build


@pytest.fixture
def extension(source: Path, built: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """A folder with an example extension, built if it is one in Go."""

    def install(name: str) -> Path:
        theirs, folder = source / EXTENSIONS / name, tmp_path / "extensions" / name
        folder.mkdir(parents=True)
        for file in theirs.iterdir():
            if file.suffix in (".json", ".js", ".ts"):
                (folder / file.name).write_bytes(file.read_bytes())
        if (theirs / "main.go").exists():
            (folder / name).symlink_to(built(f"{EXTENSIONS}/{name}"))
        return folder

    return install


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    return folder


def program_of(client: str, source: Path, built: Callable[[str], Path]) -> list[str]:
    examples = source / "examples" / "rpc"
    match client:
        case "python":
            return [sys.executable, str(examples / "python" / "zot_client.py")]
        case "node":
            return ["node", str(examples / "node" / "zot-client.js")]
        case "shell":
            return ["bash", str(examples / "shell" / "prompt.sh")]
        case _:
            return [str(built("examples/rpc/go"))]


@pytest.mark.parametrize("client", ["python", "node", "shell", "go"])
def test_a_client_program_sees_a_session_with_calls_to_its_end(
    client: str, source: Path, built: Callable[[str], Path], tmp_path: Path, workspace: Path
) -> None:
    (workspace / "notes.txt").write_text("one\n", encoding="utf-8")
    edits = [{"oldText": "one", "newText": "two"}]
    steps = [
        {"text": "First. ", "calls": [call("read", path="notes.txt")]},
        {"text": "Then. ", "calls": [call("edit", path="notes.txt", edits=edits)]},
        {"text": "And. ", "calls": [call("bash", command="cat notes.txt > copy.txt")]},
        {"text": "Done."},
    ]
    environment = os.environ | {
        "PATH": f"{_as_zot(tmp_path, steps)}{os.pathsep}{os.environ['PATH']}"
    }
    with subprocess.Popen(
        [*program_of(client, source, built), "go"],
        cwd=workspace,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()  # until then the shell's one needs an open stdin
        rest, told = process.communicate(timeout=PATIENCE)
    assert (said, rest) == ("First. Then. And. Done.\n", "")
    assert process.returncode == 0
    called = [line.split()[1].partition("(")[0] for line in told.splitlines() if "[tool]" in line]
    assert called == ["read", "edit", "bash"]
    assert "error" not in told
    assert (workspace / "copy.txt").read_text(encoding="utf-8") == "two\n"


def _as_zot(folder: Path, steps: list[Frame]) -> Path:
    """A folder for PATH in which ``zot`` is ``lsp-agent`` with a script for a model."""
    script, programs = folder / "script.json", folder / "bin"
    script.write_text(json.dumps({"steps": steps}), encoding="utf-8")
    programs.mkdir()
    ours = shlex.join([sys.executable, "-P", "-m", "lsp_agent"])
    words = f'#!/bin/sh\nexec {ours} "$@" --provider script --script {shlex.quote(str(script))}\n'
    (programs / "zot").write_text(words, encoding="utf-8")
    (programs / "zot").chmod(0o755)
    return programs


def wait_for(rpc: RpcProcess, *commands: str) -> None:
    """Until these are there: who starts late is not waited for by the agent itself."""

    def listed() -> set[str]:
        told = rpc.ask("get_commands")["data"]["commands"]
        return {command["name"] for command in told}

    assert wait_until(lambda: listed() >= set(commands), PATIENCE)


def test_clock_tells_the_time_and_has_the_agent_prompted(
    extension: Callable[[str], Path], workspace: Path
) -> None:
    with RpcProcess(workspace, [{"text": "Tick."}], "--ext", str(extension("clock"))) as rpc:
        wait_for(rpc, "now", "uptime")
        shown = rpc.ask("run_command", name="now")["data"]
        assert shown["action"] == "display"
        assert shown["text"].startswith("local: ")
        prompt = rpc.ask("run_command", name="uptime", args="bells")["data"]
        assert prompt["action"] == "prompt"
        assert "Focus on the topic: bells." in prompt["text"]
        assert rpc.prompt(prompt["text"])[-1]["type"] == "done"


def test_hello_notifies_displays_and_prompts(
    extension: Callable[[str], Path], workspace: Path
) -> None:
    with RpcProcess(workspace, [{"text": "Hail."}], "--ext", str(extension("hello"))) as rpc:
        rpc.send("run_command", id="s", name="summon")
        frames = rpc.until(lambda frame: frame.get("id") == "s")
        assert frames[-1]["data"]["action"] == "display"
        notes = [frame for frame in frames if frame["type"] == "ext_notify"]
        assert [note["message"] for note in notes] == ["the daemon stirs in its cage."]
        prompt = rpc.ask("run_command", name="hello", args="Ada")["data"]
        assert prompt["action"] == "prompt"
        assert prompt["text"].startswith("Greet Ada")


def test_weather_answers_the_models_call(extension: Callable[[str], Path], workspace: Path) -> None:
    steps = [
        {"calls": [call("weather", city="Berlin"), call("weather", city=" ")]},
        {"text": "So."},
    ]
    with RpcProcess(workspace, steps, "--ext", str(extension("weather"))) as rpc:
        berlin, nowhere = result_texts(rpc.prompt())
    assert berlin.startswith("Berlin: ")
    assert nowhere == "city is required"


def test_guard_refuses_a_dangerous_command_and_keeps_a_log(
    extension: Callable[[str], Path], workspace: Path, tmp_path: Path
) -> None:
    dangerous, harmless = call("bash", command="sudo true"), call("bash", command="echo fine")
    steps = [{"calls": [dangerous, harmless]}, {"text": "So."}]
    environment = {"TMPDIR": str(tmp_path)}
    with RpcProcess(workspace, steps, "--ext", str(extension("guard")), env=environment) as rpc:
        refused, ran = result_texts(rpc.prompt())
        rpc.close_stdin()
        assert rpc.wait() == 0
    assert "guard refused" in refused
    assert "fine" in ran
    log = (tmp_path / "zot-guard-audit.log").read_text(encoding="utf-8")
    for event in ("session_start", "turn_start", "tool_call bash", "BLOCKED bash", "turn_end"):
        assert f"[guard] {event}" in log


def test_scratchpad_gives_the_model_the_notes_that_a_person_wrote(
    extension: Callable[[str], Path], workspace: Path
) -> None:
    # Else npx would fetch it while the agent waits for the extension.
    subprocess.run(["npx", "--yes", "tsx", "--version"], check=True, timeout=PATIENCE)
    steps = [{"calls": [call("read_notes")]}, {"text": "So."}]
    with RpcProcess(workspace, steps, "--ext", str(extension("scratchpad"))) as rpc:
        wait_for(rpc, "note", "notes", "clear-notes")
        assert rpc.ask("run_command", name="note", args="buy milk")["data"]["action"] == "display"
        (notes,) = result_texts(rpc.prompt())
    assert notes.endswith("buy milk")
