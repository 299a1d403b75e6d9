"""Started without a standard stream, or in a folder that is gone: said in one line with what to
do, and nothing else takes the place of what is missing."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.project import LSP_AGENT

pytestmark = pytest.mark.sampled

EVERY_COMMAND = {
    "serve": ["serve"],
    "prompt": ["prompt", "hello"],
    "demo": ["demo"],
    "doctor": ["doctor"],
    "rpc": ["rpc"],
    "ext list": ["ext", "list"],
    "ext trust": ["ext", "trust"],
    "ext run": ["ext", "run", "x.py"],
}
STEPS = '{"steps": [{"text": "Hello."}]}'


def started(
    arguments: list[str], *, closed: int | None = None, **options: object
) -> subprocess.CompletedProcess[str]:
    closing: Callable[[], None] = (lambda: os.close(closed)) if closed is not None else lambda: None
    return subprocess.run(
        [*LSP_AGENT, *arguments],
        stdin=subprocess.DEVNULL if closed != 0 else None,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=closing,
        **options,  # type: ignore[call-overload]
    )


@pytest.mark.parametrize("name", ["serve", "rpc"])
@pytest.mark.parametrize(("number", "stream"), [(0, "stdin"), (1, "stdout")])
def test_who_speaks_on_stdio_says_that_a_stream_is_closed(
    tmp_path: Path, name: str, number: int, stream: str
) -> None:
    script = tmp_path / "script.json"
    script.write_text(STEPS)
    more = ["--script", str(script)] if name == "rpc" else []
    done = started([name, *more], closed=number, cwd=tmp_path)
    assert done.returncode == 2, done
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"lsp-agent: {stream} is closed")
    assert "pipe" in line  # what to do


@pytest.mark.parametrize("stream", [0, 1, 2])
@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_no_command_fails_unexpectedly_without_a_stream(
    tmp_path: Path, name: str, stream: int
) -> None:
    done = started(EVERY_COMMAND[name], closed=stream, cwd=tmp_path)
    assert done.returncode in (0, 1, 2)
    assert "unexpected error" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /proc")
@pytest.mark.parametrize("stream", [0, 1])
def test_no_socket_takes_the_place_of_a_stream(tmp_path: Path, stream: int) -> None:
    """What the server starts would have it as its own."""
    server = subprocess.Popen(
        [*LSP_AGENT, "serve", "--tcp", "127.0.0.1:0"],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: os.close(stream),  # noqa: PLW1509  nothing of it is threaded here
    )
    with server:
        try:
            assert server.stderr
            assert b"listening" in server.stderr.readline()
            assert Path(f"/proc/{server.pid}/fd/{stream}").readlink() == Path(os.devnull)
        finally:
            server.kill()


@pytest.mark.parametrize("name", [name for name in EVERY_COMMAND if name != "serve"])
def test_a_folder_that_is_gone_is_said(tmp_path: Path, name: str) -> None:
    done = _in_a_gone_folder(tmp_path, EVERY_COMMAND[name])
    assert done.returncode == 2, done
    (line,) = done.stderr.splitlines()
    assert line.startswith("lsp-agent: the current folder is gone")
    assert "cd " in line


def test_the_server_runs_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    """Its client names the folders; an editor may have outlived the one that it was started in."""
    done = _in_a_gone_folder(tmp_path, ["serve"])
    assert (done.returncode, done.stderr) == (1, "")  # the end of the input, without shutdown


def _in_a_gone_folder(base: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    gone = base / "gone"
    gone.mkdir()
    return subprocess.run(
        [*LSP_AGENT, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=gone,
        preexec_fn=gone.rmdir,
    )
