"""Real ACP agents whose model says what a test says, in a home folder of the test's own."""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from support.model_server import Call, ModelServer, Step
from support.project import EVENTS, Editor, Project
from support.raw_client import Json, descendants

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

    def _serve(
        self, *steps: Step, aside: Callable[[Json], bool] = lambda _body: False
    ) -> ModelServer:
        return self._models.enter_context(ModelServer(*steps, aside=aside))

    def _environment(self) -> dict[str, str]:
        """Which keeps a proxy of the person's from coming between."""
        folders = {
            f"XDG_{kind.upper()}_HOME": str(self.home / kind)
            for kind in ("config", "data", "state", "cache")
        }
        return folders | {"HOME": str(self.home), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def started_once(settings: Json) -> Json:
    """Gemini CLI and qwen-code start themselves a second time, to have more memory, which takes as
    long again. The tests of ``agents_real`` have them so."""
    names = "GEMINI_CLI_NO_RELAUNCH", "QWEN_CODE_NO_RELAUNCH"
    return settings | {"env": settings.get("env", {}) | dict.fromkeys(names, "true")}


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
            # In each new home it installs a package for plugins that nobody has.
            "npm_config_offline": "true",
        }
        command = [str(INSTALLED / "opencode"), "acp"]
        return {"wire": "acp", "command": command, "env": self._environment() | own}


class ClaudeCode(_Agent):
    """By its adapter. It asks six times, in two forms, before it believes that it asks wrongly."""

    PROGRAM = str(INSTALLED / "claude-agent-acp")
    #: It asks nothing beside what a test has it ask.
    QUIET: Mapping[str, str] = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "IS_SANDBOX": "",  # another value than it knows keeps it from starting as root
        "ANTHROPIC_API_KEY": "x",
    }

    @staticmethod
    def read(path: Path | str) -> Call:
        return call("Read", file_path=str(path))

    @staticmethod
    def edit(path: Path | str, old: str, new: str) -> Call:
        return call("Edit", file_path=str(path), old_string=old, new_string=new)

    @staticmethod
    def write(path: Path | str, content: str) -> Call:
        return call("Write", file_path=str(path), content=content)

    @staticmethod
    def command(line: str) -> Call:
        return call("Bash", command=line, description="run it")

    def settings(self, *steps: Step) -> Json:
        asked = [
            each
            for step in steps
            for each in [step] * (6 if step.refusal and step.refusal.status == 400 else 1)
        ]
        self.model = self._serve(*asked, aside=is_no_turns)
        own = {
            **self.QUIET,
            "ANTHROPIC_BASE_URL": self.model.url,
            "CLAUDE_CONFIG_DIR": str(self.home / "claude"),
            "CLAUDE_CODE_MAX_RETRIES": "0",
        }
        command = [self.PROGRAM]
        return {"wire": "acp", "command": command, "env": self._environment() | own}


class Gemini(_Agent):
    @staticmethod
    def read(path: Path | str) -> Call:
        return call("read_file", file_path=str(path))

    @staticmethod
    def edit(path: Path | str, old: str, new: str) -> Call:
        return call(
            "replace", file_path=str(path), old_string=old, new_string=new, instruction="do it"
        )

    @staticmethod
    def write(path: Path | str, content: str) -> Call:
        return call("write_file", file_path=str(path), content=content)

    @staticmethod
    def command(line: str) -> Call:
        return call("run_shell_command", command=line, description="run it")

    def settings(self, *steps: Step) -> Json:
        self.model = self._serve(*steps)
        folder = self.home / ".gemini"
        folder.mkdir(exist_ok=True)
        quiet = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False},
        }
        (folder / "settings.json").write_text(json.dumps(quiet), encoding="utf-8")
        key = {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": self.model.url}
        command = [str(INSTALLED / "gemini"), "--acp", "-m", "gemini-2.5-pro"]
        return {"wire": "acp", "command": command, "env": self._environment() | key}


class CodexAdapter(_Agent):
    """By its adapter. For a model that it does not know it has plain tools: a shell, in which it
    recognises a patch."""

    @staticmethod
    def read(path: Path | str) -> Call:
        return _in_sandbox(f"cat {path}")

    @staticmethod
    def edit(path: Path | str, old: str, new: str) -> Call:
        change = [f"-{line}" for line in old.splitlines()] + [
            f"+{line}" for line in new.splitlines()
        ]
        return _patch(f"*** Update File: {path}", "@@", *change)

    @staticmethod
    def write(path: Path | str, content: str) -> Call:
        return _patch(f"*** Add File: {path}", *(f"+{line}" for line in content.splitlines()))

    @staticmethod
    def command(line: str) -> Call:
        """Out of its sandbox: it asks. One within it that fails there is not even told of."""
        leave = {"sandbox_permissions": "require_escalated", "justification": "run it"}
        return _in_sandbox(line, **leave)

    def settings(self, *steps: Step) -> Json:
        self.model = self._serve(*steps, aside=is_no_turns)
        folder = self.home / "codex"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(
            'model = "fake"\nmodel_provider = "fake"\n'
            f'[model_providers.fake]\nname = "fake"\nbase_url = "{self.model.base_url}"\n'
            'wire_api = "responses"\nenv_key = "FAKE_KEY"\n'
            "request_max_retries = 0\nstream_max_retries = 0\n"
            "[analytics]\nenabled = false\n"
            "[features]\nplugins = false\napps = false\nremote_plugin = false\n",
            encoding="utf-8",
        )
        own = {"CODEX_HOME": str(folder), "FAKE_KEY": "x"}
        command = [str(INSTALLED / "codex-acp")]
        return {"wire": "acp", "command": command, "env": self._environment() | own}


def is_no_turns(body: Json) -> bool:
    """As a session's title is asked for: with a form for the answer, or without tools. Codex brings
    its tools another way for some models."""
    if body.get("text", {}).get("format", {}).get("type") == "json_schema":
        return True
    return not body.get("tools") and "additional_tools" not in json.dumps(body.get("input", ""))


def _in_sandbox(line: str, **more: str) -> Call:
    return call("exec_command", cmd=line, yield_time_ms=30_000, **more)


def _patch(*lines: str) -> Call:
    body = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
    return _in_sandbox(f"apply_patch <<'EOF'\n{body}\nEOF\n")


class Copilot(_Agent):
    @staticmethod
    def read(path: Path | str) -> Call:
        return call("view", path=str(path))

    @staticmethod
    def edit(path: Path | str, old: str, new: str) -> Call:
        return call("edit", path=str(path), old_str=old, new_str=new)

    @staticmethod
    def write(path: Path | str, content: str) -> Call:
        """Only of a file that is not there yet: it has nothing else for one that is."""
        if Path(path).exists():
            return Copilot.edit(path, Path(path).read_text(encoding="utf-8"), content)
        return call("create", path=str(path), file_text=content)

    @staticmethod
    def command(line: str) -> Call:
        return call("bash", command=line, description="run it", mode="sync", initial_wait=60)

    def settings(self, *steps: Step) -> Json:
        self.model = self._serve(*steps, aside=is_no_turns)
        own = {
            "COPILOT_PROVIDER_BASE_URL": self.model.url,
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_MODEL": "claude-sonnet-4",
            "COPILOT_HOME": str(self.home / "copilot"),
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }
        command = [str(INSTALLED / "copilot"), "--acp"]
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
