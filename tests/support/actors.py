"""Every agent that the scenarios run over, each with a model that says what a test says.

An actor knows the agent's names for a read, an edit, a write and a command, and what it can do.
"""

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol, Self

from support.acp_agents import ClaudeCode, CodexAdapter, Copilot, Gemini, OpenCode, Qwen
from support.codex_agent import Codex
from support.model_server import Call, ModelServer, Refusal, Step
from support.pi_agent import Pi
from support.project import LSP_AGENT, Editor, Project
from support.raw_client import Json
from support.responses_model import ResponsesServer
from support.rkat_agent import Rkat
from support.scripted_agents import EmbeddedAgent, ZotAgent, transcript

__all__ = ["ACTORS", "Actor", "Call", "Refusal", "Step"]


class Actor(Protocol):
    """Use as a context manager. ``hosted``: its file calls come to the editor's server, but for
    those that read where it ``reads_disk``."""

    name: str
    hosted: bool
    reads_disk: bool

    def __enter__(self) -> "Actor": ...
    def __exit__(self, *exc: object) -> None: ...

    def settings(self, *steps: Step) -> Json:
        """The settings of this agent, whose model takes these steps."""
        ...

    def told(self, editor: Editor) -> list[str]:
        """The texts of the tool results that the model has been sent, in order."""
        ...

    def model_calls(self, editor: Editor) -> int:
        """How often the model has been asked."""
        ...

    def read(self, path: str) -> Call: ...
    def edit(self, path: str, old: str, new: str) -> Call: ...
    def write(self, path: str, content: str) -> Call: ...
    def command(self, line: str) -> Call: ...


class ZotTools:
    """The calls of zot and of the embedded agent."""

    reads_disk = False

    def read(self, path: str) -> Call:
        return Call("read", {"path": path})

    def edit(self, path: str, old: str, new: str) -> Call:
        return Call("edit", {"path": path, "edits": [{"oldText": old, "newText": new}]})

    def write(self, path: str, content: str) -> Call:
        return Call("write", {"path": path, "content": content})

    def command(self, line: str) -> Call:
        return Call("bash", {"command": line})


class Embedded(ZotTools, EmbeddedAgent):
    name = "embedded"
    hosted = True

    def told(self, editor: Editor) -> list[str]:
        return self.read_by_model(editor)


class WithSdk(ZotTools):
    """The embedded agent as it is, over one of the official SDKs."""

    hosted = True
    provider: str

    def __init__(self, project: Project) -> None:
        self._models = ExitStack()
        self._model: ModelServer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._models.close()

    @property
    def model(self) -> ModelServer:
        return self._model

    def settings(self, *steps: Step, **more: Any) -> Json:
        self._model = self._models.enter_context(ModelServer(*steps))
        key = {f"{self.provider.upper()}_API_KEY": "x"}
        env = key | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        command = [*LSP_AGENT, "rpc", "--base-url", self.address(self._model)]
        return {"wire": "zot", "command": command, "provider": self.provider, "env": env} | more

    def address(self, model: ModelServer) -> str:
        """As the SDK wants it."""
        raise NotImplementedError

    def told(self, editor: Editor) -> list[str]:
        """What went over the network, which must be what the agent tells of it."""
        sent = self._model.tool_results()
        assert transcript(editor) == sent
        return sent

    def model_calls(self, editor: Editor) -> int:
        return len(self._model.requests)


class WithAnthropic(WithSdk):
    name = "embedded, anthropic"
    provider = "anthropic"

    def address(self, model: ModelServer) -> str:
        return model.url


class WithOpenAI(WithSdk):
    name = "embedded, openai"
    provider = "openai"

    def address(self, model: ModelServer) -> str:
        return model.base_url


class EmbeddedMirror(WithOpenAI):
    name = "embedded, openai, mirror"
    hosted = False

    def settings(self, *steps: Step, **more: Any) -> Json:
        return super().settings(*steps, hosting="mirror", **more)


class Meerkat(ZotTools):
    """Hosted alone: Meerkat has no mirror mode. Its tools are ours."""

    name = "meerkat"
    hosted = True

    def __init__(self, project: Project) -> None:
        self._models = ExitStack()
        self._rkat = Rkat(project.home / "rkat", self._models)

    def __enter__(self) -> "Meerkat":
        return self

    def __exit__(self, *exc: object) -> None:
        self._models.close()

    @property
    def model(self) -> ModelServer:
        return self._rkat.model

    def settings(self, *steps: Step, **more: Any) -> Json:
        return self._rkat.settings(*steps, **more)

    def told(self, editor: Editor) -> list[str]:
        """What went over the network, which must be what the agent tells of it."""
        sent = self._rkat.model.tool_results()
        assert transcript(editor) == sent
        return sent

    def model_calls(self, editor: Editor) -> int:
        return len(self._rkat.model.requests)


class MeerkatDouble(ZotTools):
    """The double of ``rkat-rpc``."""

    name = "meerkat, double"
    hosted = True
    double = Path(__file__).parents[1] / "support" / "doubles" / "rkat_rpc.py"

    def __init__(self, project: Project) -> None:
        self._folder = project.home / "rkat"
        self._asked = self._folder / "asked"

    def __enter__(self) -> "MeerkatDouble":
        return self

    def __exit__(self, *exc: object) -> None:
        """Its processes are the editor's to end."""

    def settings(self, *steps: Step) -> Json:
        """Those of a process take the steps of the last call before its start."""
        self._folder.mkdir(exist_ok=True)
        self._asked.touch()
        script = self._folder / "steps.json"
        script.write_text(json.dumps({"steps": list(map(_meerkat_step, steps))}), encoding="utf-8")
        files = ["--script", str(script), "--asked", str(self._asked)]
        state = ["--state-root", str(self._folder)]
        return {
            "wire": "meerkat",
            "command": [sys.executable, str(self.double), *files, *state],
        }

    def told(self, editor: Editor) -> list[str]:
        return transcript(editor)

    def model_calls(self, editor: Editor) -> int:
        return len(self._asked.read_text().splitlines())


def _meerkat_step(given: Step) -> Json:
    step: Json = {"text": given.text, "delay": given.delay}
    step["calls"] = [{"name": call.name, "args": call.args} for call in given.calls]
    step |= {"thinking": given.reasoning, "hang": given.pause > 0}
    if given.refusal is not None:
        step["error"] = {"code": -32010, "message": given.refusal.message}
    return step


class Zot(ZotTools, ZotAgent):
    name = "zot"
    hosted = True

    def told(self, editor: Editor) -> list[str]:
        return self.read_by_model(editor)


class ZotMirror(Zot):
    name = "zot, mirror"
    hosted = False

    def settings(self, *steps: Step, **more: Any) -> Json:
        return super().settings(*steps, hosting="mirror", **more)


class RealPi(ZotTools):
    """Its tools are called as zot's are."""

    name = "pi"
    hosted = True

    def __init__(self, project: Project) -> None:
        self._models = ExitStack()
        self._pi = Pi(project.home / "pi", self._models)

    def __enter__(self) -> "RealPi":
        return self

    def __exit__(self, *exc: object) -> None:
        self._models.close()

    @property
    def model(self) -> ModelServer:
        return self._pi.model

    def settings(self, *steps: Step, **more: Any) -> Json:
        return self._pi.settings(*steps, **more)

    def told(self, editor: Editor) -> list[str]:
        return self._pi.model.tool_results()

    def model_calls(self, editor: Editor) -> int:
        return len(self._pi.model.requests)


class PiMirror(RealPi):
    name = "pi, mirror"
    hosted = False

    def settings(self, *steps: Step, **more: Any) -> Json:
        return super().settings(*steps, hosting="mirror", **more)


class RealCodex(ZotTools):
    """Its file tools and its shell are ours, which are called as zot's are."""

    name = "codex"
    hosted = True

    def __init__(self, project: Project) -> None:
        self._models = ExitStack()
        self._codex = Codex(project.home / "codex", self._models)

    def __enter__(self) -> "RealCodex":
        return self

    def __exit__(self, *exc: object) -> None:
        self._models.close()

    @property
    def model(self) -> ResponsesServer:
        return self._codex.model

    def settings(self, *steps: Step, **more: Any) -> Json:
        return self._codex.settings(*steps, **more)

    def told(self, editor: Editor) -> list[str]:
        return self._codex.model.tool_results()

    def model_calls(self, editor: Editor) -> int:
        return len(self._codex.model.requests)


class AcpActor:
    """One of the agents of the standard, which names its tools as it likes."""

    reads_disk = False
    agent: type[Qwen | OpenCode | ClaudeCode | Gemini | CodexAdapter | Copilot]

    def __init__(self, project: Project) -> None:
        self._models = ExitStack()
        self._agent = self.agent(project, self._models)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._models.close()

    @property
    def model(self) -> ModelServer:
        return self._agent.model

    def settings(self, *steps: Step) -> Json:
        return self._agent.settings(*steps)

    def told(self, editor: Editor) -> list[str]:
        return self._agent.model.tool_results()

    def model_calls(self, editor: Editor) -> int:
        return len(self._agent.model.requests)

    def read(self, path: str) -> Call:
        return self.agent.read(path)

    def edit(self, path: str, old: str, new: str) -> Call:
        return self.agent.edit(path, old, new)

    def write(self, path: str, content: str) -> Call:
        return self.agent.write(path, content)

    def command(self, line: str) -> Call:
        return self.agent.command(line)


class QwenCode(AcpActor):
    name = "qwen-code"
    hosted = True
    agent = Qwen


class Opencode(AcpActor):
    name = "opencode"
    hosted = False
    agent = OpenCode


class Claude(AcpActor):
    name = "claude"
    hosted = False
    agent = ClaudeCode


class GeminiCli(AcpActor):
    name = "gemini"
    hosted = True
    reads_disk = True
    agent = Gemini


class CodexAcp(AcpActor):
    name = "codex-acp"
    hosted = False
    agent = CodexAdapter


class CopilotCli(AcpActor):
    name = "copilot"
    hosted = False
    agent = Copilot


#: With the marker of the tool that it needs, if it needs one.
ACTORS: dict[Callable[[Project], Actor], str | None] = {
    Embedded: None,
    WithAnthropic: None,
    EmbeddedMirror: None,
    MeerkatDouble: None,
    Meerkat: "rkat",
    Zot: "zot",
    ZotMirror: "zot",
    RealPi: "pi",
    PiMirror: "pi",
    RealCodex: "codex",
    QwenCode: "qwen",
    Opencode: "opencode",
    Claude: "claude",
    GeminiCli: "gemini",
    CodexAcp: "codex_acp",
    CopilotCli: "copilot",
}
