"""A Neovim with the real server and an agent that follows a script: what a test drives."""

import itertools
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import psutil

from support import warm
from support.neovim import SECONDS, Json, Neovim, wait_until
from support.neovim_versions import Version
from support.warm_door import WarmDoor, write_program

LSP_AGENT = [sys.executable, "-P", "-m", "lsp_agent"]
README = Path(__file__).parents[2] / "README.md"

#: The number of the refusal among a permission's options.
DENY = 2

#: What the agent says to a prompt that is about the text that goes along with it.
SHOW = {"match": "^Show", "text": "Shown."}

# The README's own lines are run; 0.10 has no `vim.lsp.config`, and takes the handlers from them.
START = """
local folder, options, snippet = ...
if vim.lsp.config then
  vim.lsp.config('lsp_agent', { init_options = options })
  load(snippet)()
  _G.start = function() vim.lsp.enable('lsp_agent') end
else
  local config
  vim.lsp.config, vim.lsp.enable = function(_, lines) config = lines end, function() end
  load(snippet)()
  vim.lsp.config, vim.lsp.enable = nil, nil
  config.name, config.root_dir, config.init_options = 'lsp_agent', folder, options
  _G.start = function() return vim.lsp.start(config) end
  _G.start()
end
_G.attach = function() vim.lsp.buf_attach_client(0, _G.client().id) end
"""


NEIGHBOUR = """
vim.lsp.start({
  name = 'neighbour',
  cmd = function()
    local number = 0
    return {
      request = function(method, _, answer)
        number = number + 1
        local result = method == 'initialize' and { capabilities = vim.empty_dict() } or nil
        vim.schedule(function() answer(nil, result) end)
        return true, number
      end,
      notify = function() return true end,
      is_closing = function() return false end,
      terminate = function() end,
    }
  end,
})
"""


@dataclass(frozen=True)
class ToolOutcome:
    """``seconds`` are from the model's answer to the tool's result."""

    call_id: str
    tool: str
    text: str
    is_error: bool
    seconds: float


class Desk:
    """A Neovim in a folder, with a ``lsp-agent`` on PATH whose agent follows a script. ``door``:
    where its server is forked, else it is started as a person's."""

    def __init__(
        self, version: Version, base: Path, env: dict[str, str], door: WarmDoor | None = None
    ) -> None:
        self.version = version.name
        self.folder = base / "shop"
        (self.folder / ".git").mkdir(parents=True)  # which makes it a workspace folder
        self._base = base
        self._door = door
        self.log = base / "server.log"
        self._requests = itertools.count(1)
        own = env | {"PATH": self._path(env["PATH"])}
        self._open_editor = partial(Neovim, version.program, self.folder, own)
        self.nvim = self._open_editor()

    def _path(self, path: str) -> str:
        folder = self._base / "bin"
        folder.mkdir()
        write_program(folder / "lsp-agent", self._door, self.log)
        return f"{folder}:{path}"

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_bytes(text.encode())
        return path

    def open(self, name: str, text: str) -> Path:
        """A file of this text, shown in the window."""
        path = self.file(name, text)
        self.nvim.command(f"silent edit {path}")
        return path

    def start(self, *steps: Json, hosting: str = "auto", **options: Any) -> None:
        """Starts the server for the shown buffer, as a person's configuration would."""
        chosen = self.settings(*steps, hosting=hosting, **options)
        self.nvim.lua(START, str(self.folder), chosen, readme_snippet())
        self.wait_for_server()

    def settings(self, *steps: Json, hosting: str = "auto", **options: Any) -> Json:
        """Those with which the agent follows these steps."""
        script = self._base / "script.json"
        script.write_text(json.dumps({"steps": [*steps, SHOW]}), encoding="utf-8")
        agent = {
            "wire": "zot",
            "command": [*LSP_AGENT, "rpc", "--script", str(script)],
            "provider": "script",
            "hosting": hosting,
        }
        return {"agent": "scripted", "agents": {"scripted": agent}} | options

    def wait_for_server(self) -> None:
        wait_until(
            lambda: self.nvim.lua("local c = _G.client() return c and c.initialized or false")
        )

    def neighbour(self) -> None:
        """Another language server for the shown buffer, that does nothing."""
        self.nvim.lua(NEIGHBOUR)

    def server(self) -> psutil.Process:
        """The server's process."""
        if self._door is not None:
            return self._door.processes[-1]
        found = [p for p in self.nvim.started() if {"serve", str(self.log)} <= {*command_of(p)}]
        assert len(found) == 1, found
        return found[0]

    def start_again(self) -> None:
        """As a person does after the server has ended."""
        self.nvim.lua("_G.start()")
        self.wait_for_server()

    def send(self, method: str, **params: Any) -> int:
        """Sends a request and does not wait; its number."""
        number = next(self._requests)
        self.nvim.lua("_G.ask(...)", number, method, params)
        return number

    def prompt(self, text: str) -> int:
        return self.send("agent/prompt", text=text)

    def answer(self, number: int) -> Json | None:
        """``{"result": …}`` or ``{"err": …}``, once there is one, and ``"lines"`` if the shown
        text has not changed between the request and its answer."""
        return self.nvim.lua("return _G.answers[...]", number)

    def wait(self, number: int, timeout: float = SECONDS) -> Json:
        """The result of a request."""
        answer = wait_until(lambda: self.answer(number), timeout)
        assert answer.get("err") is None, answer
        return answer.get("result")

    def run(self, text: str = "Go.") -> Json:
        return self.wait(self.prompt(text))

    def call(self, method: str, **params: Any) -> Any:
        """The result of another request."""
        return self.wait(self.send(method, **params))

    def execute(self, command: str, **argument: Any) -> Any:
        """The result of a command of the server's."""
        return self.call("workspace/executeCommand", command=command, arguments=[argument])

    def notify(self, method: str, **params: Any) -> None:
        self.nvim.lua("_G.notify(...)", method, params)

    def outcomes(self) -> list[ToolOutcome]:
        """Of every tool call so far, in order, as the agent was told."""
        found: list[ToolOutcome] = []
        since = ""
        tools: dict[str, str] = {}
        for message in self.call("agent/messages")["messages"]:
            for block in message["content"]:
                if block["type"] == "toolCall":
                    tools[block["toolCallId"]] = block["tool"]
                if block["type"] == "toolResult":
                    text = "".join(part.get("text", "") for part in block["content"])
                    call = block["toolCallId"]
                    seconds = _time(message["time"]) - _time(since)
                    found.append(ToolOutcome(call, tools[call], text, block["isError"], seconds))
            since = message["time"]
        return found

    def uri(self) -> str:
        """Of the shown buffer."""
        return self.nvim.lua("return vim.uri_from_bufnr(0)")

    def edits(self, **params: str) -> list[Json]:
        return self.call("agent/edits", **params)["edits"]

    def edit_outcomes(self) -> list[ToolOutcome]:
        return [outcome for outcome in self.outcomes() if outcome.tool == "edit"]

    def shown(self) -> str:
        """The text of the shown buffer as the server knows it."""
        self.call("agent/prompt", text="Show.", context=[{"uri": self.uri()}])
        sent = [m for m in self.call("agent/messages")["messages"] if m["role"] == "user"]
        prompt = "".join(part.get("text", "") for part in sent[-1]["content"])
        _, _, excerpt = prompt.partition("\n\nContext from the editor:\n\n")
        fence, _, text = excerpt.partition("\n")[2].partition("\n")
        return text[: f"\n{text}".index(f"\n{fence}\n")]

    def statuses(self) -> list[str]:
        """Of all edits, in the order in which they were made."""
        return [edit["status"] for edit in self.edits()]

    def steps(self) -> list[Json]:
        """Changes of a text by the server's edits and by undo, in order: ``by`` (``agent`` or
        ``person``), and the lines ``removed`` and ``added``."""
        return self.nvim.lua("return _G.steps")

    def messages(self) -> list[str]:
        """What the server had shown to the person."""
        return self.nvim.lua("return _G.messages")

    def sends(self) -> list[Json]:
        return self.nvim.lua("return _G.sends")

    def report(self) -> str:
        """What the server wrote down."""
        return self.log.read_text() if self.log.exists() else ""


def command_of(process: psutil.Process) -> list[str]:
    """Nothing for one that has ended meanwhile."""
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []


AnyDesk = TypeVar("AnyDesk", bound=Desk)


@contextmanager
def seated(
    kind: type[AnyDesk], version: Version, base: Path, *, cold: bool = False
) -> Iterator[AnyDesk]:
    """A desk with folders of its own in ``base``, gone at the end with all that it started.
    ``cold``: its server is started as a person's is, which takes most of a test's time."""
    # Sockets' addresses are short: pytest's own folders are too deep for them.
    runtime = Path(tempfile.mkdtemp(prefix="la-"))
    folders = {f"XDG_{k}_HOME": str(base / k) for k in ("CONFIG", "DATA", "STATE", "CACHE")}
    env = os.environ | folders | {"HOME": str(base), "XDG_RUNTIME_DIR": str(runtime)}
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, runtime, ignore_errors=True)
        door = None
        if not cold and warm.can_fork("serve", env):
            door = stack.enter_context(closing(WarmDoor(runtime)))
        desk = kind(version, base, env, door)
        try:
            yield desk
        finally:
            print(desk.report())  # shown where the test fails
            desk.nvim.close()


def readme_snippet() -> str:
    """The first piece of Lua in the README: the configuration that it gives for Neovim."""
    _, _, rest = README.read_text(encoding="utf-8").partition("```lua\n")
    return rest.partition("```")[0]


def _time(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


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
