"""What is known of Codex's server and of the one thread (Codex's word for a session) in it."""

import re
from collections.abc import Mapping

from lsp_agent.protocol.messages import Usage
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.toolset.loose_json import Frame, frame, string
from lsp_agent.wires.codex import tools as codex_tools

CLIENT = "lsp-agent"

_VERSION = re.compile(r"/(\d[\w.+-]*)")
_UNHELD = (
    "this Codex does not keep to the approval policy and the sandbox that it was started with, so"
    " it cannot be held to the permissions; install the version that docs/agents/codex.md names"
)


class Thread:
    """``id`` is None until it was started. ``usage`` is all of it so far."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.cwd = ""
        self.model = ""
        self.effort = ""
        #: As Codex has told it, which is later than it was set.
        self.told_effort = ""
        self.provider = ""
        self.version = ""
        self.usage: Usage = {}
        self._config: Mapping[str, object] = {}

    def configure(self, agent: AgentSettings, cwd: str) -> None:
        self.cwd, self.provider, self.model = cwd, agent.provider, agent.model
        self._config = agent.config

    def initialized(self, result: Frame) -> None:
        """Learns from the answer to ``initialize``."""
        found = _VERSION.search(string(result, "userAgent"))
        self.version = found[1] if found else ""

    def beginning(self) -> dict[str, object]:
        """The params that ``thread/start`` and ``thread/resume`` have in common: Codex asks for
        all that it would do itself."""
        params: dict[str, object] = {
            "cwd": self.cwd,
            "approvalPolicy": "untrusted",
            "approvalsReviewer": "user",
            "sandbox": "read-only",
            "config": {**self._config, **codex_tools.OFF},
        }
        if self.model:
            params["model"] = self.model
        if self.provider:
            params["modelProvider"] = self.provider
        return params

    def start(self) -> dict[str, object]:
        """With what the model itself says: that alone has the summary of a compaction."""
        tools = {"dynamicTools": list(codex_tools.TOOLS)}
        return self.beginning() | tools | {"experimentalRawEvents": True}

    def resume(self, thread: str) -> dict[str, object]:
        """It has our tools from its start."""
        return self.beginning() | {"threadId": thread, "excludeTurns": True}

    def begun(self, result: Frame) -> str | None:
        """The answer to either. Returns why it cannot be used, if it cannot."""
        asks = result.get("approvalPolicy") == "untrusted"
        if not asks or string(frame(result.get("sandbox")), "type") != "readOnly":
            return _UNHELD
        self.id = string(frame(result.get("thread")), "id")
        self.usage = {}
        self.settings(result, "reasoningEffort")
        self.provider = string(result, "modelProvider") or self.provider
        return None

    def settings(self, source: Frame, effort: str) -> None:
        """Learns which model answers; ``effort`` is the name that its effort has there."""
        self.model = string(source, "model") or self.model
        self.effort = self.told_effort = string(source, effort)

    def known(self) -> dict[str, object]:
        """What can be said of it without asking."""
        said: dict[str, object] = {
            "version": self.version,
            "model": self.model,
            "provider": self.provider,
            "usage": self.usage,
            "sessionRef": self.id,
        }
        return {name: value for name, value in said.items() if value}
