"""Each agent, started once behind one server with one editor, its model saying what a test says.

A desk also knows what its agent has not: the tests then show what a person gets instead.
"""

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Self, cast

from support.acp_agents import INSTALLED, started_once
from support.actors import (
    Actor,
    Claude,
    CodexAcp,
    CopilotCli,
    GeminiCli,
    Meerkat,
    Opencode,
    QwenCode,
    RealCodex,
    RealPi,
    Step,
    WithOpenAI,
    Zot,
)
from support.codex_agent import CODEX
from support.model_server import ModelServer
from support.pi_agent import PI
from support.project import EVENTS, Editor, Project
from support.raw_client import Json, wait_until

NONE = "the agent has none"
ASKS: Json = EVENTS | {"ask": True}
#: In seconds. A real agent loads a whole runtime, on a machine that may be busy.
PATIENCE = 90.0


class Desk:
    """Use as a context manager. ``editor`` is the person's, ``session`` the one session that most
    tests share."""

    #: The column, and the marker of the tool that it needs.
    agent: str
    needs: str | None = None
    #: What the page says of a capability that the agent has, and where it lacks it, why.
    has = "yes"
    lacks: Mapping[str, str] = {}
    program: str
    #: Of one request: input and output.
    usage = (10, 5)
    #: A compaction leaves what the person said as it is.
    keeps_prompts = False
    #: What a command does after its last output.
    rests = "true"
    #: Of a command, with its result at least.
    tells_output = True
    #: Of an edit. Else the change is told alone.
    tells_arguments = True
    #: One to change to, where it is not to be the first that is listed.
    other_model: str | None = None

    def __init__(self, project: Project, actor: Actor) -> None:
        self.project = project
        self.actor = actor
        self._numbers = iter(range(1, 1000))
        self._seen = 0
        self._second: str | None = None

    def __enter__(self) -> Self:
        self.actor.__enter__()
        self.settings = self.settings_of_agent()
        self.editor = self.another_editor()
        self.session: str = self.editor.call("agent/newSession")["sessionId"]
        return self

    def __exit__(self, *exc: object) -> None:
        self.actor.__exit__(*exc)

    def settings_of_agent(self) -> Json:
        return started_once(self.actor.settings())

    def another_editor(self) -> Editor:
        """Over a server of its own."""
        options = {"edits": {"save": "never"}}
        editor = self.project.editor(agent=self.settings, client=ASKS, options=options)
        editor.timeout = PATIENCE
        return editor

    def verdict(self, capability: str) -> str:
        if capability == "version":
            return self.version
        return self.lacks.get(capability, self.has)

    @cached_property
    def version(self) -> str:
        """As it says itself."""
        done = subprocess.run(
            [self.program, "--version"], capture_output=True, text=True, check=True
        )
        return re.findall(r"\d+\.\d+\.\d+", done.stdout)[0]

    def begin_anew(self) -> None:
        """What was told and asked before is another test's, which may have failed in the middle."""
        self.call("agent/abort")
        self._seen = len(self.editor.messages)
        self.editor.answers.clear()

    # What the model does

    def says(self, *steps: Step) -> None:
        """What the model says from now on."""
        raise NotImplementedError

    def requests(self) -> list[Json]:
        """What the model was asked so far, by every session."""
        raise NotImplementedError

    def model_is_told(self, words: str) -> bool:
        """In its last request."""
        return words in json.dumps(self.requests()[-1])

    def model_remembers(self, words: str) -> bool:
        """From before its last prompt, and not from a summary in that."""
        raise NotImplementedError

    # What the person does and sees

    def begin(self, text: str = "Go.", **params: Any) -> int:
        """Prompts; its id, once the model has been asked."""
        asked = len(self.requests())
        prompt = self.editor.prompt(text, **{"sessionId": self.session} | params)
        assert wait_until(lambda: len(self.requests()) > asked, PATIENCE)
        return prompt

    def ask(self, text: str = "Go.", **params: Any) -> Json:
        return self.editor.ask_agent(text, **{"sessionId": self.session} | params)

    def call(self, method: str, **params: Any) -> Any:
        return self.editor.call(method, {"sessionId": self.session} | params)

    def events(self, kind: str) -> list[Json]:
        """Of this test so far."""
        return [
            message["params"]
            for message in self.editor.messages[self._seen :]
            if message.get("method") == "agent/event" and message["params"]["type"] == kind
        ]

    def joined(self, kind: str) -> str:
        return "".join(event["text"] for event in self.events(kind))

    def soon(self, kind: str) -> Json:
        """The first event of this kind in this test."""
        assert wait_until(lambda: self.events(kind), PATIENCE)
        return self.events(kind)[0]

    def stop(self, prompt: int) -> None:
        """And the agent is well again."""
        assert self.call("agent/abort") == {"aborted": True}
        assert self.editor.result(prompt)["stopReason"] == "aborted"
        self.says(Step("Well again."))
        assert self.ask("And now?")["text"] == "Well again."

    def second_session(self) -> str:
        """Another session of the same agent."""
        if self._second is None:
            self._second = self.editor.call("agent/newSession")["sessionId"]
        return self._second

    def close_second_session(self) -> None:
        self.editor.call("agent/closeSession", {"sessionId": self._second})
        self._second = None

    def status_of(self, session: str, editor: Editor | None = None) -> str | None:
        """As the person's editor lists it, or the one that is named."""
        listed = (editor or self.editor).call("agent/sessions")["sessions"]
        return next((each["status"] for each in listed if each["sessionId"] == session), None)

    def name(self, suffix: str) -> str:
        """A file's name that no other test has."""
        return f"{next(self._numbers)}{suffix}"


class ModelDesk(Desk):
    """Of an agent that asks a model service on loopback."""

    kind: Callable[[Project], Actor]

    def __init__(self, project: Project) -> None:
        super().__init__(project, self.kind(project))

    @property
    def _model(self) -> ModelServer:
        return cast(Any, self.actor).model

    def says(self, *steps: Step) -> None:
        self._model.then(*steps)

    def requests(self) -> list[Json]:
        return self._model.requests

    def model_remembers(self, words: str) -> bool:
        """In whatever form it is asked."""
        request = self.requests()[-1]
        said = request.get("messages") or request.get("contents") or request["input"]
        return any(words in json.dumps(message) for message in said[:-1])


class EmbeddedDesk(ModelDesk):
    """The embedded agent over OpenAI's SDK."""

    agent = "embedded"
    kind = WithOpenAI
    lacks: Mapping[str, str] = {
        "own_sessions": NONE,
    }
    version = "this lsp-agent"


class PiDesk(ModelDesk):
    agent = "pi"
    needs = "pi"
    kind = RealPi
    program = PI

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        # Else it finds these sessions too short to be compacted.
        home = project.home / "pi"
        home.mkdir()
        settings = json.dumps({"compaction": {"keepRecentTokens": 1}})
        (home / "settings.json").write_text(settings, encoding="utf-8")


class CodexDesk(ModelDesk):
    agent = "Codex"
    needs = "codex"
    kind = RealCodex
    program = CODEX
    lacks: Mapping[str, str] = {
        "argument_streaming": NONE,
        "cost": NONE,
    }
    keeps_prompts = True
    #: Codex counts what was read from the cache, 4 tokens here, as input; that is told apart.
    usage = (6, 5)

    def model_remembers(self, words: str) -> bool:
        return any(words in json.dumps(item) for item in self.requests()[-1]["input"][:-1])


class OpencodeDesk(ModelDesk):
    agent = "opencode"
    needs = "opencode"
    kind = Opencode
    program = str(INSTALLED / "opencode")
    lacks: Mapping[str, str] = {
        "argument_streaming": NONE,
        "hosted_read": f"{NONE}: it sees the disk",
        "hosted_edit": f"{NONE}: merged",
        "hosted_write": f"{NONE}: merged",
        "confined": NONE,
        "steer": NONE,
        "compact": NONE,
    }


class QwenDesk(ModelDesk):
    agent = "qwen-code"
    needs = "qwen"
    kind = QwenCode
    #: 0.24 takes the command's end for the end of its output too: its handler of ``exit`` does not
    #: wait for ``close``, and drops what it has not read.
    rests = "sleep 1"
    program = str(INSTALLED / "qwen")
    lacks: Mapping[str, str] = {
        "argument_streaming": NONE,
        "progress": NONE,
        "steer": NONE,
        "compact": NONE,
        "cost": NONE,
    }

    def settings_of_agent(self) -> Json:
        """It knows two models, and that they take images."""
        agent = super().settings_of_agent()
        path = self.project.home / "agent" / ".qwen" / "settings.json"
        known: Json = {"envKey": "ANTHROPIC_API_KEY", "baseUrl": self._model.url}
        known["generationConfig"] = {"modalities": {"image": True}}
        models = [{"id": name, "name": name} | known for name in ("one", "two")]
        settings = json.loads(path.read_text(encoding="utf-8"))
        settings["modelProviders"] = {"anthropic": models}
        path.write_text(json.dumps(settings), encoding="utf-8")
        command = ["one" if word == "fake" else word for word in agent["command"]]
        return agent | {"command": command}


class MirrorDesk(ModelDesk):
    """Of an agent of the standard that works on the disk."""

    lacks: Mapping[str, str] = {
        "argument_streaming": NONE,
        "hosted_read": f"{NONE}: it sees the disk",
        "hosted_edit": f"{NONE}: merged",
        "hosted_write": f"{NONE}: merged",
        "confined": NONE,
        "steer": NONE,
        "compact": NONE,
    }


class ClaudeDesk(MirrorDesk):
    agent = "Claude Code"
    needs = "claude"
    kind = Claude
    program = str(INSTALLED / "claude-agent-acp")
    other_model = "sonnet"
    lacks: Mapping[str, str] = {**MirrorDesk.lacks, "progress": NONE}


class CodexAcpDesk(MirrorDesk):
    agent = "codex-acp"
    needs = "codex_acp"
    kind = CodexAcp
    program = str(INSTALLED / "codex-acp")
    tells_arguments = False
    lacks: Mapping[str, str] = {
        **MirrorDesk.lacks,
        "progress": NONE,
        "cost": NONE,
    }


class GeminiDesk(ModelDesk):
    agent = "Gemini CLI"
    needs = "gemini"
    kind = GeminiCli
    program = str(INSTALLED / "gemini")
    tells_arguments = False
    other_model = "gemini-3.5-flash-lite"
    lacks: Mapping[str, str] = {
        "argument_streaming": NONE,
        "progress": NONE,
        "hosted_read": f"{NONE}: it sees the disk",
        "steer": NONE,
        "compact": NONE,
        "own_sessions": NONE,
        "window": NONE,
        "cost": NONE,
    }

    def model_remembers(self, words: str) -> bool:
        """By its own session, or by our note in its place: Gemini at times cannot load what the
        process before it wrote a moment ago."""
        return words in json.dumps(self.requests()[-1])


class CopilotDesk(MirrorDesk):
    agent = "Copilot CLI"
    needs = "copilot"
    kind = CopilotCli
    program = str(INSTALLED / "copilot")
    lacks: Mapping[str, str] = {**MirrorDesk.lacks, "models": NONE, "cost": NONE}


class ZotDesk(ModelDesk):
    agent = "zot"
    needs = "zot"
    kind = Zot
    program = "zot"
    lacks: Mapping[str, str] = {
        "thinking": NONE,
        "steer": NONE,
        "resume": NONE,
        "own_sessions": NONE,
    }


class MeerkatDesk(ModelDesk):
    agent = "Meerkat"
    needs = "rkat"
    kind = Meerkat
    program = "rkat-rpc"
    lacks: Mapping[str, str] = {
        "argument_streaming": NONE,
        "steer": NONE,
        "resume": NONE,
        "own_sessions": NONE,
        "compact": NONE,
        "cost": NONE,
    }


#: One for each column.
DESKS: tuple[type[Any], ...] = (
    EmbeddedDesk,
    ZotDesk,
    PiDesk,
    CodexDesk,
    ClaudeDesk,
    CodexAcpDesk,
    GeminiDesk,
    CopilotDesk,
    OpencodeDesk,
    QwenDesk,
    MeerkatDesk,
)
