"""A real Neovim as a person uses it: with a screen, 40 columns wide, its own LSP client, and
nothing of ours but what writes down what happened.

Spoken to over its own RPC (msgpack on stdio) with a limit on every request: a prompt on the
screen would otherwise hold a call back for ever.
"""

import contextlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shutil import which
from typing import Any

import msgpack
import psutil

Json = dict[str, Any]

LSP_AGENT = [sys.executable, "-P", "-m", "lsp_agent"]

WIDTH, HEIGHT = 40, 12
SECONDS = 10.0

# Every send of an edit, what came of each prompt, and what a person would have seen.
RECORDER = """
_G.sends, _G.answers, _G.progress, _G.questions, _G.messages = {}, {}, {}, {}, {}
local apply = vim.lsp.handlers['workspace/applyEdit']
vim.lsp.handlers['workspace/applyEdit'] = function(err, params, context)
  local change = params.edit.documentChanges[1]
  local buffer = vim.uri_to_bufnr(change.textDocument.uri)
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  local answer = apply(err, params, context)
  table.insert(_G.sends, {
    version = change.textDocument.version,
    edits = change.edits,
    taken = vim.api.nvim_buf_get_changedtick(buffer) ~= tick,
  })
  return answer
end
local show = vim.lsp.handlers['window/showMessage']
vim.lsp.handlers['window/showMessage'] = function(err, params, context)
  table.insert(_G.messages, params.message)
  return show(err, params, context)
end
vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event)
    table.insert(_G.progress, { token = event.data.params.token, value = event.data.params.value })
  end,
})
vim.opt.hidden = true
"""

START = """
local command, folder, options = ...
_G.client = vim.lsp.start({
  name = 'lsp-agent', cmd = command, root_dir = folder, init_options = options,
})
_G.attach = function() vim.lsp.buf_attach_client(0, _G.client) end
"""

PROMPT = """
local number, text = ...
local client = vim.lsp.get_client_by_id(_G.client)
local sent, id = client:request('agent/prompt', { text = text }, function(err, result)
  _G.answers[number] = { err = err, result = result }
end, 0)
return id
"""

CALL = """
local method, params = ...
local client = vim.lsp.get_client_by_id(_G.client)
if next(params) == nil then params = vim.empty_dict() end
local answer, failure = client:request_sync(method, params, 5000, 0)
return answer or { err = failure }
"""


class NeovimError(Exception):
    """A request that failed, or that was not answered in time."""


class Neovim:
    """``folder`` is its working directory."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        beside = which("nvim", path=str(Path(sys.executable).parent))
        command = [beside or "nvim", "--embed", "--clean", "-n"]
        self._process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._numbers = itertools.count(1)
        self._rows: dict[int, list[str]] = {}
        #: How often it stopped at a prompt, which takes the next key.
        self.prompts = 0
        self._answers: dict[int, queue.Queue[tuple[Any, Any]]] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.request("nvim_ui_attach", WIDTH, HEIGHT, {"rgb": True, "ext_linegrid": True})
        self.lua(RECORDER)

    def request(self, method: str, *params: Any, timeout: float = SECONDS) -> Any:
        number = next(self._numbers)
        answers = self._answers[number] = queue.Queue()
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(msgpack.packb([0, number, method, params]))
        stdin.flush()
        try:
            error, result = answers.get(timeout=timeout)
        except queue.Empty:
            raise NeovimError(f"{method}: no answer; the screen:\n{self.screen()}") from None
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
        """Typed, in Neovim's notation; they may not have taken effect on return."""
        self.request("nvim_input", keys)

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
                line = self._rows.setdefault(row, [" "] * WIDTH)
                line[column : column + len(texts)] = texts
                self.prompts += "Press ENTER" in "".join(texts)

    def screen(self) -> str:
        """What a person sees, roughly."""
        return "\n".join("".join(self._rows.get(row, [])).rstrip() for row in range(HEIGHT))

    def close(self) -> None:
        """Quits as a person does. Raises AssertionError if what it started outlives it."""
        started: list[psutil.Process] = []
        with contextlib.suppress(psutil.NoSuchProcess):
            started = psutil.Process(self._process.pid).children(recursive=True)
        with contextlib.suppress(NeovimError, OSError):
            self.request("nvim_command", "silent! qa!", timeout=0.1)
        try:
            self._process.wait(3)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        deadline = time.monotonic() + 5
        while (left := [p for p in started if alive(p)]) and time.monotonic() < deadline:
            time.sleep(0.02)
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._reader.join(2)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        assert not left, f"still running: {left}"


def alive(process: psutil.Process) -> bool:
    """Not so: one that ended, whether or not anybody has taken notice of it."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@dataclass(frozen=True)
class ToolOutcome:
    """``seconds`` are from the model's answer to the tool's result."""

    text: str
    is_error: bool
    seconds: float


class Desk:
    """A Neovim with the real server in a folder; the agent follows the script it is given."""

    def __init__(self, base: Path, env: dict[str, str]) -> None:
        self.folder = base / "shop"
        self.folder.mkdir()
        self._base = base
        self.log = base / "server.log"
        self._prompts = itertools.count(1)
        self.nvim = Neovim(self.folder, env)

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_bytes(text.encode())
        return path

    def open(self, name: str, text: str) -> Path:
        """A file of this text, shown in the window."""
        path = self.file(name, text)
        self.nvim.command(f"silent edit {path}")
        return path

    def start(self, *steps: Json, **options: Any) -> None:
        """Starts the server for the shown buffer, as a person's configuration would."""
        script = self._base / "script.json"
        script.write_text(json.dumps({"steps": steps}), encoding="utf-8")
        agent = {
            "wire": "zot",
            "command": [*LSP_AGENT, "rpc", "--script", str(script)],
            "provider": "script",
        }
        chosen: Json = {"agent": "scripted", "agents": {"scripted": agent}} | options
        serve = [*LSP_AGENT, "serve", "--log-file", str(self.log)]
        self.nvim.lua(START, serve, str(self.folder), chosen)
        wait_until(
            lambda: self.nvim.lua(
                "local c = vim.lsp.get_client_by_id(_G.client) return c and c.initialized or false"
            )
        )

    def prompt(self, text: str) -> int:
        """Sends a prompt and does not wait; its number."""
        number = next(self._prompts)
        self.nvim.lua(PROMPT, number, text)
        return number

    def answer(self, number: int) -> Json | None:
        """``{"result": …}`` or ``{"err": …}``, once there is one."""
        return self.nvim.lua("return _G.answers[...]", number)

    def wait(self, number: int, timeout: float = 20) -> Json:
        """The result of a prompt."""
        answer = wait_until(lambda: self.answer(number), timeout)
        assert answer.get("result"), answer
        return answer["result"]

    def run(self, text: str = "Go.") -> Json:
        return self.wait(self.prompt(text))

    def call(self, method: str, **params: Any) -> Any:
        """The result of another request."""
        answer = self.nvim.lua(CALL, method, params)
        assert answer.get("err") is None, answer
        return answer.get("result")

    def outcomes(self) -> list[ToolOutcome]:
        """Of every tool call so far, in order, as the agent was told."""
        found: list[ToolOutcome] = []
        since = ""
        for message in self.call("agent/messages")["messages"]:
            for block in message["content"]:
                if block["type"] == "toolResult":
                    text = "".join(part.get("text", "") for part in block["content"])
                    seconds = _time(message["time"]) - _time(since)
                    found.append(ToolOutcome(text, block["isError"], seconds))
            since = message["time"]
        return found

    def statuses(self) -> list[str]:
        """Of all edits, in the order in which they were made."""
        return [edit["status"] for edit in self.call("agent/edits")["edits"]]

    def sends(self) -> list[Json]:
        return self.nvim.lua("return _G.sends")


def _time(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


def wait_until(value: Callable[[], Any], timeout: float = SECONDS) -> Any:
    """The first true value."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if found := value():
            return found
        time.sleep(0.02)
    raise TimeoutError


# The script's parts.


def step(*calls: Json, text: str = "", **more: Any) -> Json:
    return {"text": text, "calls": list(calls)} | more


def edit(path: str, old: str, new: str) -> Json:
    return {"name": "edit", "args": {"path": path, "edits": [{"oldText": old, "newText": new}]}}


def write(path: str, content: str) -> Json:
    return {"name": "write", "args": {"path": path, "content": content}}


def read(path: str) -> Json:
    return {"name": "read", "args": {"path": path}}


def bash(command: str) -> Json:
    return {"name": "bash", "args": {"command": command}}


def done() -> Json:
    return {"text": "Done."}
