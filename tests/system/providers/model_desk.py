"""One agent and its service."""

from pathlib import Path

from support.loopback_service import ModelServer
from support.rpc_process import RpcProcess

PROVIDERS = ("anthropic", "openai")
KEY = "sk-secret-1234567890"


class Desk:
    """Many tests of a module use it, one after the other."""

    def __init__(self, provider: str, folder: Path) -> None:
        self.provider = provider
        self.folder = folder
        self.server = ModelServer()
        flags = ("--provider", provider, "--base-url", self.server.url, "--api-key", KEY)
        self.agent = RpcProcess(folder, (), *flags, script=False)

    def begin_anew(self) -> None:
        """With nothing said yet."""
        server = self.server
        for record in (server.answers, server.requests, server.headers, server.paths):
            record.clear()
        self.agent.frames.clear()
        assert self.agent.ask("clear")["success"]

    def close(self) -> None:
        self.agent.__exit__()
        self.server.close()
