"""The barrier in a real, headless Neovim."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.raw_client import python

TOY = Path(__file__).with_name("toy_server.py")
pytestmark = pytest.mark.neovim

#: Runs a piece of Lua in the editor; its ``return``.
Lua = Callable[[str], Any]

START = """
vim.lsp.handlers['toy/synced'] = function(_, result) vim.g.synced = result end
vim.lsp.handlers['toy/initialized'] = function() vim.g.ready = true end
vim.cmd.edit(%s)
vim.g.uri = vim.uri_from_bufnr(0)
vim.g.client = vim.lsp.start({ name = 'toy', cmd = vim.json.decode(%s), root_dir = '/' })
"""
#: In 80 ms the server makes the barrier.
SYNC = """
vim.g.synced = nil
vim.lsp.get_client_by_id(vim.g.client):notify('toy/sync', { uri = vim.g.uri, delay = 0.08 })
"""
#: The first key may be sent at once; the second is then held back for 150 ms.
TYPE = """
vim.api.nvim_input('x')
vim.defer_fn(function() vim.api.nvim_input('y') end, 30)
"""


@pytest.fixture
def lua(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lua]:
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    nvim = shutil.which("nvim", path=str(Path(sys.executable).parent)) or "nvim"
    socket, script, file = tmp_path / "s", tmp_path / "run.lua", tmp_path / "a.txt"
    file.write_text("one\ntwo\n")
    command = [nvim, "--clean", "-n", "--headless", "--listen", str(socket)]
    editor = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def run(code: str) -> Any:
        script.write_text(f"return vim.json.encode({{ value = (function() {code}\nend)() }})")
        expression = f"luaeval('dofile(_A)', '{script}')"
        command = [nvim, "--server", str(socket), "--remote-expr", expression]
        answer = subprocess.run(command, check=False, capture_output=True, text=True, timeout=10)
        assert answer.returncode == 0, answer.stderr
        found = json.loads(answer.stdout)  # an empty Lua table is a list
        return found["value"] if found else None

    try:
        wait_for(socket.exists)
        run(START % (json.dumps(str(file)), json.dumps(json.dumps(python(TOY)))))
        wait_for(lambda: run("return vim.g.ready"))
        yield run
    finally:
        editor.kill()
        editor.wait()


def wait_for(value: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if found := value():
            return found
        time.sleep(0.02)
    raise TimeoutError


def test_the_barrier_brings_what_neovim_holds_back(lua: Lua) -> None:
    lua("vim.api.nvim_input('ihello')")
    seconds: list[float] = []
    for _ in range(3):
        time.sleep(0.3)
        lua(SYNC + TYPE)
        synced = wait_for(lambda: lua("return vim.g.synced"))
        assert synced["changes"] >= 1
        seconds.append(synced["seconds"])
    assert min(seconds) < 0.09  # it did not wait for Neovim's own time, 0.15 s


def test_the_barrier_of_a_hidden_document_is_bounded(lua: Lua) -> None:
    lua("vim.cmd('set hidden | enew')")
    lua(SYNC)
    assert 0.2 < wait_for(lambda: lua("return vim.g.synced"))["seconds"] < 0.4
