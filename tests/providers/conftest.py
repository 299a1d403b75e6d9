"""A model's service on the loopback, and the real ``lsp-agent rpc`` that asks it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))  # rpc_process

from model_server import ModelServer
from rpc_process import RpcProcess

PROVIDERS = ("anthropic", "openai")
KEY = "sk-secret-1234567890"


class Desk:
    """One agent and its service, which many tests of a module use one after the other."""

    def __init__(self, provider: str, folder: Path) -> None:
        self.provider = provider
        self.folder = folder
        self.server = ModelServer()
        flags = ("--provider", provider, "--base-url", self.server.url, "--api-key", KEY)
        self.agent = RpcProcess(folder, (), *flags, script=False)

    def close(self) -> None:
        self.agent.__exit__()
        self.server.close()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.xdist_group(f"desk {name}")) for name in PROVIDERS
    ],
)
def whole_desk(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    desk = Desk(request.param, tmp_path_factory.mktemp(request.param))
    yield desk
    desk.close()


@pytest.fixture
def desk(whole_desk: Desk) -> Desk:
    """With nothing said yet."""
    server = whole_desk.server
    for record in (server.answers, server.requests, server.headers, server.paths):
        record.clear()
    whole_desk.agent.frames.clear()
    assert whole_desk.agent.ask("clear")["success"]
    return whole_desk
