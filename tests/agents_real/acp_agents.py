"""Real ACP agents whose model says what a test says, in a home folder of the test's own."""

import contextlib
import json
import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from model_server import Call, ModelServer, Step
from project import EVENTS, Editor, Project
from raw_client import Json, descendants

INSTALLED = Path(sys.prefix) / "acp"
CLIENT: Json = EVENTS | {"ask": True}
#: In seconds. They load a whole runtime, on a machine that may be busy with the other tests.
PATIENCE = 90.0


class AcpAgent(Protocol):
    #: What the last agent's model is asked.
    model: ModelServer

    def settings(self, *steps: Step) -> Json: ...


class _Agent:
    def __init__(self, project: Project, models: ExitStack) -> None:
        self.home = project.home / "agent"
        self.home.mkdir()
        self._models = models
        self.model: ModelServer

    def _serve(self, *steps: Step) -> ModelServer:
        return self._models.enter_context(ModelServer(*steps))

    def _environment(self) -> dict[str, str]:
        """Which keeps a proxy of the person's from coming between."""
        folders = {
            f"XDG_{kind.upper()}_HOME": str(self.home / kind)
            for kind in ("config", "data", "state", "cache")
        }
        return folders | {"HOME": str(self.home), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


class Qwen(_Agent):
    @staticmethod
    def read(path: Path | str) -> Call:
        return call("read_file", file_path=str(path))

    @staticmethod
    def edit(path: Path | str, old: str, new: str) -> Call:
        return call("edit", file_path=str(path), old_string=old, new_string=new)

    @staticmethod
    def write(path: Path | str, content: str) -> Call:
        return call("write_file", file_path=str(path), content=content)

    @staticmethod
    def command(line: str) -> Call:
        return call("run_shell_command", command=line, is_background=False, description="run it")

    def settings(self, *steps: Step) -> Json:
        """Without the suggestion of a next prompt, which would take a step of its own, and without
        an update of itself; with its list of what is to do, which it has off."""
        self.model = self._serve(*steps)
        folder = self.home / ".qwen"
        folder.mkdir(exist_ok=True)
        quiet = {
            "ui": {"enableFollowupSuggestions": False},
            "general": {"enableAutoUpdate": False},
            "tools": {"todoWrite": {"enabled": True}},
        }
        (folder / "settings.json").write_text(json.dumps(quiet), encoding="utf-8")
        key = {"ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": self.model.url}
        program = str(INSTALLED / "qwen")
        options = ["--acp", "--auth-type", "anthropic", "--model", "fake"]
        return {"wire": "acp", "command": [program, *options], "env": self._environment() | key}


class OpenCode(_Agent):
    @staticmethod
    def read(path: Path | str) -> Call:
        return call("read", filePath=str(path))

    @staticmethod
    def edit(path: Path | str, old: str, new: str) -> Call:
        return call("edit", filePath=str(path), oldString=old, newString=new)

    @staticmethod
    def write(path: Path | str, content: str) -> Call:
        return call("write", filePath=str(path), content=content)

    @staticmethod
    def command(line: str) -> Call:
        return call("bash", command=line, description="run it")

    def settings(self, *steps: Step) -> Json:
        """Its titles are made by a model of their own, so that they take none of the steps."""
        self.model = self._serve(*steps)
        titles = self._serve(*[Step("A title")] * 20)
        config: Json = {
            "provider": {"fake": _provider(self.model), "titles": _provider(titles)},
            "model": "fake/one",
            "small_model": "titles/one",
            "autoupdate": False,
            "share": "disabled",
        }
        own = {
            "OPENCODE_CONFIG_CONTENT": json.dumps(config),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        }
        command = [str(INSTALLED / "opencode"), "acp"]
        return {"wire": "acp", "command": command, "env": self._environment() | own}


def _provider(model: ModelServer) -> Json:
    known: Json = {
        "limit": {"context": 128000, "output": 4096},
        "reasoning": True,
        "attachment": True,
        "modalities": {"input": ["text", "image"], "output": ["text"]},
        "cost": {"input": 2, "output": 10},
    }
    return {
        "npm": "@ai-sdk/anthropic",
        "name": "Fake",
        "options": {"baseURL": model.base_url, "apiKey": "x"},
        "models": {name: {"name": name} | known for name in ("one", "two")},
    }


def started(
    project: Project, agent: AcpAgent, *steps: Step, options: Json | None = None, **settings: Any
) -> Editor:
    """A server with an editor, and this agent, whose model takes these steps."""
    chosen = {"edits": {"save": "never"}} | (options or {})
    editor = project.editor(agent=agent.settings(*steps) | settings, client=CLIENT, options=chosen)
    editor.timeout = PATIENCE
    return editor


def call(name: str, **args: Any) -> Call:
    return Call(name, args)


def kill_agent(editor: Editor) -> None:
    """The agent's own processes, not the guard above them."""
    for process in descendants(editor.process.pid):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            if {b"acp", b"--acp"} & set(words) and not any(b"supervise" in word for word in words):
                os.kill(process, signal.SIGKILL)
