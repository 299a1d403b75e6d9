"""Each agent, started once behind one server with one editor, its model saying what a test says.

A desk also knows what its agent has not: the tests then show what a person gets instead.
"""

import json
from collections.abc import Mapping
from typing import Any, Self

from actors import Actor, Step, WithOpenAI
from model_server import ModelServer
from project import EVENTS, Editor, Project
from raw_client import Json, wait_until

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

    def __init__(self, project: Project, actor: Actor) -> None:
        self.project = project
        self.actor = actor
        self._numbers = iter(range(1, 1000))
        self._seen = 0
        self._second: str | None = None

    def __enter__(self) -> Self:
        self.actor.__enter__()
        self.settings = self.actor.settings()
        self.editor = self.another_editor()
        self.session: str = self.editor.call("agent/newSession")["sessionId"]
        return self

    def __exit__(self, *exc: object) -> None:
        self.actor.__exit__(*exc)

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

    @property
    def version(self) -> str:
        raise NotImplementedError

    def begin_anew(self) -> None:
        """What was told and asked before is another test's."""
        self._seen = len(self.editor.messages)
        self.editor.answers.clear()

    # What the model does

    @property
    def model(self) -> ModelServer:
        raise NotImplementedError

    def says(self, *steps: Step) -> None:
        """What the model says from now on."""
        self.model.then(*steps)

    def requests(self) -> list[Json]:
        """What the model was asked so far, by every session."""
        return self.model.requests

    def model_is_told(self, words: str) -> bool:
        """In its last request."""
        return words in json.dumps(self.requests()[-1])

    def model_remembers(self, words: str) -> bool:
        """As what was said before its last prompt, not as a summary of it."""
        messages = self.requests()[-1]["messages"]
        return any(words in json.dumps(message) for message in messages[:-1])

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

    def name(self, suffix: str) -> str:
        """A file's name that no other test has."""
        return f"{next(self._numbers)}{suffix}"


class Embedded(Desk):
    """Over OpenAI's SDK."""

    agent = "embedded"
    lacks: Mapping[str, str] = {
        "thinking": NONE,
        "steer": NONE,
        "resume": f"{NONE}; it is told a summary",
    }
    version = "this lsp-agent"

    def __init__(self, project: Project) -> None:
        super().__init__(project, WithOpenAI(project))

    @property
    def model(self) -> ModelServer:
        return self.actor._model


#: One for each column but zot's.
DESKS: tuple[type[Any], ...] = (Embedded,)
