"""A real pi whose model says what a test says, in a folder of its own."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from support.model_server import ModelServer, Step
from support.raw_client import Json

PI = str(Path(sys.prefix) / "pi" / "bin" / "pi")


class Pi:
    """pi's own folder and its models, which take the steps of the last ``settings``."""

    def __init__(self, home: Path, models: ExitStack) -> None:
        self.home = home
        self._models = models
        self.model: ModelServer

    def settings(self, *steps: Step, command: tuple[str, ...] = (PI,), **more: Any) -> Json:
        self.model = self._models.enter_context(ModelServer(*steps))
        known: Json = {
            "contextWindow": 32000,
            "maxTokens": 4096,
            "reasoning": True,
            "input": ["text", "image"],
            "cost": {"input": 2, "output": 10, "cacheRead": 0, "cacheWrite": 0},
        }
        models = [{"id": name, "name": name} | known for name in ("one", "two")]
        provider: Json = {
            "baseUrl": self.model.base_url,
            "api": "openai-completions",
            "apiKey": "$FAKE_API_KEY",
            "models": models,
            "compat": {"supportsDeveloperRole": False, "supportsReasoningEffort": False},
        }
        self.file("models.json", {"providers": {"fake": provider}})
        env = {
            "PI_CODING_AGENT_DIR": str(self.home),
            "PI_OFFLINE": "1",
            "FAKE_API_KEY": "top-secret",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }
        agent = {"wire": "pi", "command": list(command), "model": "fake/one", "env": env}
        return agent | more

    def file(self, name: str, content: object) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def system_prompt(self) -> str:
        return str([m for m in self.model.requests[0]["messages"] if m["role"] == "system"])
