"""What is known of Meerkat's server and of the one session that we have in it."""

from collections.abc import Mapping

from lsp_agent.protocol.messages import Usage
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.toolset.loose_json import Frame, frame, items, string
from lsp_agent.wires.meerkat import messages as meerkat
from lsp_agent.wires.meerkat import tools as meerkat_tools
from lsp_agent.wires.meerkat.messages import Generation

CAPABILITIES: Mapping[str, bool] = {
    "steer": False,
    "compact": False,
    "compactInstructions": False,
    "clear": True,
    "listSessions": False,
    "resume": False,
    "models": True,
    "setModel": True,
    "thinkingLevel": False,
    "images": True,
    "thinking": True,
    "toolProgress": True,
    "argsStreaming": False,
    "commands": False,
    "permissions": True,
    "hostedFiles": True,
    "usage": True,
    "cost": False,
}
#: What a server of the first published wire lacks. (It has no tools: nothing reaches a file.)
_LATER = ("models", "setModel", "images", "thinking", "toolProgress")
#: What a server lacks that does not list the method.
_NEEDED_FOR: Mapping[str, tuple[str, ...]] = {
    "models/catalog": ("models", "setModel"),
}
_OWN_TOOLS = ("builtins", "shell", "memory", "schedule", "mob", "web_search", "workgraph")


class Session:
    """``id`` is None until it was created. ``usage`` is all of the session's so far. ``remembers``:
    there was a turn that Meerkat has kept.

    Meerkat keeps sessions, but one that another process has made can be given no tools any more,
    not those of ``tools/register`` either (tried with 0.9.8): so none is taken up.
    """

    def __init__(self) -> None:
        self.id: str | None = None
        self.usage: Usage = {}
        self.remembers = False
        self.generation: Generation = "current"
        self.capabilities: Mapping[str, bool] = CAPABILITIES
        #: Whether it can say how it is configured.
        self.tells_config = True
        #: Whether it can be given tools beside a session's own.
        self.registers_tools = True
        self._version = ""
        self._cwd = ""
        self._model = ""
        self._provider = ""
        self._config: Mapping[str, object] = {}
        #: A model that was chosen since, to be sent with the next turn.
        self._chosen: Mapping[str, str] = {}

    def configure(self, agent: AgentSettings, cwd: str) -> None:
        self._cwd, self._provider, self._model = cwd, agent.provider, agent.model
        self._config = agent.config

    def initialized(self, result: Frame) -> None:
        """Learns from the answer to ``initialize`` what the server is."""
        self._version = string(frame(result.get("server_info")), "version")
        methods = items(result.get("methods"))
        lacking = [
            name for method, names in _NEEDED_FOR.items() if method not in methods for name in names
        ]
        if not string(result, "contract_version"):
            self.generation = "seed"
            lacking += _LATER
        else:
            self.tells_config = "config/get" in methods
            self.registers_tools = "tools/register" in methods
        self.lower(*lacking)

    def lower(self, *features: str) -> None:
        """It does not have them."""
        self.capabilities = {**self.capabilities, **dict.fromkeys(features, False)}

    def forget(self) -> None:
        """The next one is new."""
        self.id, self.usage = None, {}
        self.remembers = False

    def configuration(self) -> dict[str, object] | None:
        """The params of ``config/patch``; None where the settings want nothing of it."""
        if not self._config:
            return None
        return dict(self._config if self.generation == "seed" else {"patch": self._config})

    def creation(self, prompt: object) -> dict[str, object]:
        """The params of ``session/create``: all of Meerkat's own tools off, ours in."""
        params: dict[str, object] = {"prompt": prompt}
        if self._model:
            params["model"] = self._model
        if self.generation == "seed":
            return params | {"enable_builtins": False, "enable_shell": False}
        if self._provider:
            params["provider"] = self._provider
        params |= {f"enable_{name}": False for name in _OWN_TOOLS}
        params["external_tools"] = list(meerkat_tools.TOOLS)
        params["additional_instructions"] = meerkat_tools.instructions(self._cwd)
        return params

    def turn(self, prompt: object) -> dict[str, object]:
        """The params of ``turn/start``."""
        return {"session_id": self.id, "prompt": prompt, **self._chosen}

    def answered(self, session: str) -> None:
        """A turn of that session went through."""
        self.id = self.id or session or None
        self._chosen = {}
        self.remembers = True

    def choose(self, wanted: str, models: list[dict[str, object]]) -> str | None:
        """Takes one of ``models`` from the next turn on; else why it cannot."""
        found = next((model for model in models if model["id"] == wanted), None)
        if found is None:
            names = ", ".join(str(model["id"]) for model in models)
            return f"Meerkat knows no model {wanted!r}; there is: {names}."
        self._model, self._provider = wanted, str(found["provider"])
        if self.id is not None:
            self._chosen = {"model": self._model, "provider": self._provider}
        return None

    def state(self, read: Frame) -> dict[str, object]:
        """What the answer to ``session/read`` says, and what is known beyond it."""
        return {**self.known(), **meerkat.state(read), **self._chosen}

    def known(self) -> dict[str, object]:
        """What can be said of it without asking."""
        said: dict[str, object] = {
            "version": self._version,
            "model": self._model,
            "provider": self._provider,
            "usage": self.usage,
        }
        return {name: value for name, value in said.items() if value}
