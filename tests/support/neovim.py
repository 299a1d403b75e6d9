"""A real Neovim as a person uses it: with a screen, 40 columns wide, its own LSP client, and
nothing of ours but what writes down what happened.

Spoken to over its own RPC (msgpack on stdio) with a limit on every request: a prompt on the
screen would otherwise hold a call back for ever.
"""

import contextlib
import itertools
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import psutil

from support.living import outliving
from support.pauses import pauses

Json = dict[str, Any]

WIDTH, HEIGHT = 40, 12
#: Generous, as in a workbench.
SECONDS = 60.0

RECORDER = Path(__file__).with_name("neovim_recorder.lua")


class NeovimError(Exception):
    """A request that failed, or that was not answered in time."""


class Neovim:
    """``program`` is which one, ``folder`` its working directory."""

    def __init__(self, program: Path, folder: Path, env: dict[str, str]) -> None:
        command = [str(program), "--embed", "--clean", "-n"]
        self._process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._numbers = itertools.count(1)
        self._rows: dict[int, list[str]] = {}
        self._width, self._height = WIDTH, HEIGHT
        #: How often it stopped at a prompt, which takes the next key.
        self.prompts = 0
        #: Whether such a prompt is dismissed, as a person does, when it holds up a request.
        self.dismisses = False
        self._answers: dict[int, queue.Queue[tuple[Any, Any]]] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.request("nvim_ui_attach", WIDTH, HEIGHT, {"rgb": True, "ext_linegrid": True})
        self.lua(RECORDER.read_text())

    def request(self, method: str, *params: Any, timeout: float = SECONDS) -> Any:
        number = next(self._numbers)
        answers = self._answers[number] = queue.Queue()
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(msgpack.packb([0, number, method, params]))
        stdin.flush()
        deadline = time.monotonic() + timeout
        while True:
            try:
                error, result = answers.get(timeout=min(timeout, 0.25))
                break
            except queue.Empty:
                if time.monotonic() > deadline:
                    shown = f"{method}: no answer; the screen:\n{self.screen()}"
                    raise NeovimError(shown) from None
            if self.dismisses and method != "nvim_get_mode" and self.mode() == "blocked":
                self.keys("<CR>")
        if error is not None:
            raise NeovimError(f"{method}: {error}")
        return result

    def lua(self, code: str, *arguments: Any) -> Any:
        """Runs a piece of Lua, whose ``...`` are the arguments; its ``return``."""
        return self.request("nvim_exec_lua", code, arguments)

    def command(self, command: str) -> None:
        self.request("nvim_command", command)

    def command_output(self, command: str) -> str:
        return self.request("nvim_exec2", command, {"output": True})["output"]

    def keys(self, keys: str) -> None:
        """Typed, in Neovim's notation. They have not taken effect on return, but before whatever
        is asked next, unless they end in the midst of a mapping or at a prompt."""
        self.request("nvim_input", keys)

    def rest(self) -> None:
        """A person leaves the keyboard alone until what is shown can be answered: the plugin counts
        300 ms in turns of Neovim's loop, and a busy machine may have it stand still."""
        for _ in range(4):
            time.sleep(0.11)
            self.mode()

    def mode(self) -> str:
        """Such as ``n`` or ``i``; ``blocked`` where it waits for a key at a prompt."""
        found = self.request("nvim_get_mode")
        return "blocked" if found["blocking"] else found["mode"]

    def lines(self, buffer: int = 0) -> list[str]:
        return self.request("nvim_buf_get_lines", buffer, 0, -1, True)

    def text(self, buffer: int = 0) -> str:
        """As a server is told of it."""
        end, eol = self.lua(
            "local b = vim.bo[...] return { b.fileformat == 'dos' and '\\r\\n' or '\\n', b.eol }",
            buffer,
        )
        return end.join(self.lines(buffer)) + (end if eol else "")

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        unpacker = msgpack.Unpacker(ext_hook=lambda _code, data: data, strict_map_key=False)
        while data := os.read(stdout.fileno(), 65536):
            unpacker.feed(data)
            for message in unpacker:
                if message[0] == 1 and (answers := self._answers.pop(message[1], None)):
                    answers.put((message[2], message[3]))
                elif message[0] == 2 and message[1] == "redraw":
                    for name, *updates in message[2]:
                        self._draw(name, updates)

    def _draw(self, name: str, updates: list[Any]) -> None:
        if name == "grid_clear":
            self._rows.clear()
        elif name == "grid_scroll":
            for _, top, bottom, _, _, count, _ in updates:
                rows = range(max(top, top - count), min(bottom, bottom - count))
                for row in rows if count > 0 else reversed(rows):
                    self._rows[row] = list(self._rows.get(row + count, []))
        elif name == "grid_line":
            for _, row, column, cells, *_ in updates:
                texts = [cell[0] for cell in cells for _ in range(cell[2] if cell[2:] else 1)]
                line = self._rows.setdefault(row, [" "] * self._width)
                line[column : column + len(texts)] = texts
                self.prompts += "Press ENTER" in "".join(texts)

    def resize(self, width: int, height: int) -> None:
        """The screen."""
        self._width, self._height = width, height
        self.request("nvim_ui_try_resize", width, height)

    def screen(self) -> str:
        """What a person sees, roughly."""
        return "\n".join("".join(self._rows.get(row, [])).rstrip() for row in range(self._height))

    def started(self) -> list[psutil.Process]:
        """All processes that it started, and theirs."""
        try:
            return psutil.Process(self._process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    @property
    def has_quit(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        """Quits as a person does. Raises AssertionError if what it started outlives it."""
        started = self.started()
        with contextlib.suppress(NeovimError, OSError):
            self.request("nvim_command", "silent! qa!", timeout=0.1)
        try:
            self._process.wait(3)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        left = outliving(started, SECONDS)
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._reader.join(2)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        assert not left, f"still running: {left}"


def wait_until(value: Callable[[], Any], timeout: float = SECONDS) -> Any:
    """The first true value."""
    deadline = time.monotonic() + timeout
    between = pauses(0.02, 0.1)
    while time.monotonic() < deadline:
        if found := value():
            return found
        time.sleep(next(between))
    raise TimeoutError
