"""A real ``rkat-rpc`` whose model is on loopback and says what a test says, in a realm of its own.

``--state-root`` holds the realms; the model is one of a self-hosted server, which is all that its
configuration needs, a key for it among it.
"""

from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from support.model_server import Call, ModelServer, Step
from support.raw_client import Json

#: How a model gets a client's tools that Meerkat does not show by itself.
LOAD = "tool_catalog_load"


class RkatModel(ModelServer):
    """Loads the tools that it is about to call and does not see, if it was told how."""

    def take(self, body: Json, key: str | None) -> Step:
        step = super().take(body, key)
        offered = {tool["function"]["name"] for tool in body.get("tools", [])}
        missing = [call.name for call in step.calls if call.name not in offered]
        told = LOAD in str(body["messages"][0]["content"])
        if not missing or LOAD not in offered or not told:
            return step
        with self._taking:
            self._steps = chain([step], self._steps)
        return Step(calls=(Call(LOAD, {"names": missing}),))


class Rkat:
    """Its models, which take the steps of the last ``settings``."""

    def __init__(self, home: Path, models: ExitStack) -> None:
        self.home = home
        self._models = models
        self.model: ModelServer

    def settings(self, *steps: Step, config: Json | None = None, **more: Any) -> Json:
        self.model = self._models.enter_context(RkatModel(*steps))
        return {
            "wire": "meerkat",
            "command": ["rkat-rpc", "--state-root", str(self.home)],
            "model": "one",
            "config": configuration(self.model.url) | (config or {}),
            # A proxy of the person's must not come between.
            "env": {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
        } | more


def configuration(url: str) -> Json:
    """Of a self-hosted server at ``url`` with two models, and of the key for it."""
    server = {"transport": "openai_compatible", "base_url": url, "api_style": "chat_completions"}
    known: Json = {
        "server": "local",
        "family": "fake",
        "tier": "supported",
        "context_window": 100_000,
        "max_output_tokens": 4000,
        "vision": True,
        "image_tool_results": False,
        "inline_video": False,
        "supports_temperature": True,
        "supports_thinking": True,
        "supports_reasoning": True,
    }
    models = {name: known | {"remote_model": name, "display_name": name} for name in ("one", "two")}
    backend = {"provider": "self_hosted", "backend_kind": "self_hosted", "server": "local"}
    secret = {"kind": "inline_secret", "secret": "x"}
    auth = {"provider": "self_hosted", "auth_method": "static_bearer", "source": secret}
    return {
        "self_hosted": {"default_model": "one", "servers": {"local": server}, "models": models},
        "realm": {
            "lsp-agent": {
                "backend": {"boxed": backend},
                "auth": {"helper": auth},
                "binding": {"main": {"backend_profile": "boxed", "auth_profile": "helper"}},
            }
        },
    }
