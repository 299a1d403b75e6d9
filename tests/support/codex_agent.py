"""A real Codex whose model says what a test says, in a folder of its own."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from support.model_server import Step
from support.raw_client import Json
from support.responses_model import ResponsesServer

CODEX = str(Path(sys.prefix) / "codex" / "codex")

#: One of Codex's list, for which it has ``apply_patch``, and for which calls are plain.
MODEL = "gpt-5.5"

_CONFIG = """
model = "{model}"
model_provider = "fake"

[model_providers.fake]
name = "fake"
base_url = "{address}"
wire_api = "responses"
env_key = "FAKE_API_KEY"
request_max_retries = {retries}
stream_max_retries = {retries}

[analytics]
enabled = false

[features]
plugins = false
apps = false
remote_plugin = false
"""


class Codex:
    """Codex's own folder and its models, which take the steps of the last ``settings``."""

    def __init__(self, home: Path, models: ExitStack) -> None:
        self.home = home
        self._models = models
        self.model: ResponsesServer

    def settings(
        self, *steps: Step, command: tuple[str, ...] = (CODEX,), retries: int = 0, **more: Any
    ) -> Json:
        self.model = self._models.enter_context(ResponsesServer(*steps))
        self.home.mkdir(parents=True, exist_ok=True)
        told = _CONFIG.format(model=MODEL, address=self.model.base_url, retries=retries)
        (self.home / "config.toml").write_text(told, encoding="utf-8")
        env = {
            "HOME": str(self.home),
            "CODEX_HOME": str(self.home),
            "FAKE_API_KEY": "top-secret",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }
        return {"wire": "codex", "command": list(command), "env": env} | more
