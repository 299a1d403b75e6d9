"""Agents whose model says what a test says, behind one face: the embedded one and real zot.

The same steps become a script file for the embedded agent and the answers of a model service on
loopback for zot, so a scenario is written once and goes through the same door twice.
"""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from support.model_server import Call, ModelServer, Refusal, Step
from support.project import Editor, Project, step
from support.raw_client import Json

__all__ = ["Call", "EmbeddedAgent", "Refusal", "ScriptedAgent", "Step", "ZotAgent"]


class ScriptedAgent(Protocol):
    """Use as a context manager; ``settings`` may be called more than once, for more agents."""

    def __enter__(self) -> "ScriptedAgent": ...
    def __exit__(self, *exc: object) -> None: ...

    def settings(self, *steps: Step, **more: Any) -> Json:
        """The settings of an agent whose model takes these steps; ``more`` are joined to them."""
        ...

    def read_by_model(self, editor: Editor) -> list[str]:
        """The texts of the tool results that the model of the last agent has been sent."""
        ...

    def model_calls(self, editor: Editor) -> int:
        """How often the model of the last agent has been asked."""
        ...


class EmbeddedAgent:
    def __init__(self, project: Project) -> None:
        self._project = project

    def __enter__(self) -> "EmbeddedAgent":
        return self

    def __exit__(self, *exc: object) -> None:
        """Its processes are the editor's to end."""

    def settings(self, *steps: Step, **more: Any) -> Json:
        return self._project.agent(*map(_script_step, steps), **more)

    def read_by_model(self, editor: Editor) -> list[str]:
        return transcript(editor)

    def model_calls(self, editor: Editor) -> int:
        return len(editor.events("stepStarted"))


class ZotAgent:
    def __init__(self, project: Project) -> None:
        self._home = project.home
        self._models = contextlib.ExitStack()
        self.model: ModelServer

    def __enter__(self) -> "ZotAgent":
        return self

    def __exit__(self, *exc: object) -> None:
        self._models.close()

    def settings(self, *steps: Step, env: Json | None = None, **more: Any) -> Json:
        self.model = self._models.enter_context(ModelServer(*steps))
        home = self._home / "zot"
        home.mkdir(exist_ok=True)
        # HOME and the XDG folders are the server's, which are the test's own. A proxy of the
        # person's must not come between.
        own = {"ZOT_HOME": str(home), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        return {
            "wire": "zot",
            "command": ["zot", "rpc", "--base-url", self.model.url, "--api-key", "x"],
            "provider": "anthropic",
            "model": "claude-sonnet-4-5",
            "env": own | (env or {}),
        } | more

    def read_by_model(self, editor: Editor) -> list[str]:
        """What went over the network, which must be what the agent tells of it."""
        sent = self.model.tool_results()
        assert transcript(editor) == sent
        return sent

    def model_calls(self, editor: Editor) -> int:
        return len(self.model.requests)


def transcript(editor: Editor, **session: str) -> list[str]:
    """The texts of the tool results that ``agent/messages`` tells of."""
    return [
        "".join(part.get("text", "") for part in block["content"])
        for message in editor.call("agent/messages", session)["messages"]
        for block in message["content"]
        if block["type"] == "toolResult"
    ]


def _script_step(given: Step) -> Json:
    if given.refusal is not None:
        return step(error=f"http {given.refusal.status}: {given.refusal.message}")
    calls = [{"name": call.name, "args": call.args} for call in given.calls]
    return step(given.text, *calls, stop=given.stop, delay_ms=given.delay * 1000)


# Steps and calls


def say(text: str, **more: Any) -> Step:
    return Step(text, **more)


def do(*calls: Call, text: str = "") -> Step:
    """A step that only calls tools."""
    return Step(text, calls)


def read(path: str, **more: int) -> Call:
    return Call("read", {"path": path} | more)


def write(path: str, content: str) -> Call:
    return Call("write", {"path": path, "content": content})


def edit(path: str, *pairs: tuple[str, str]) -> Call:
    edits = [{"oldText": old, "newText": new} for old, new in pairs]
    return Call("edit", {"path": path, "edits": edits})


def bash(command: str) -> Call:
    return Call("bash", {"command": command})


# Folders


def fill(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Makes the folder hold these files and nothing else."""
    for below, folders, names in os.walk(folder, topdown=False):
        for name in names:
            Path(below, name).unlink()
        for name in folders:
            Path(below, name).rmdir()
    for name, data in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder``, by its name in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
