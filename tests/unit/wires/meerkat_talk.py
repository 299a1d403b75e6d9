"""A Meerkat wire, and the server's side of it, played by a test."""

from typing import Any

from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.wires.meerkat.wire import MeerkatWire
from lsp_agent.wires.wire import Decoded, Hello, Prompt, Reply, Send

Frame = dict[str, Any]

ID = "01936f8a-7b2c-7000-8000-000000000001"
METHODS = ["session/create", "session/read", "models/catalog", "tools/register"]


class Talk:
    """``asked`` are the wire's requests, in order."""

    def __init__(self, *, seed: bool = False, version: str = "0.9.6", **settings: Any) -> None:
        self.wire = MeerkatWire()
        self.seed = seed
        self.version = version
        agent = AgentSettings(wire="meerkat", command=["rkat-rpc"], **settings)
        self.wire.launch(agent, "/shop", None)
        self.asked: list[Frame] = []
        self.seq = 0

    def ask(self, request_id: str, command: Any) -> Reply | Frame:
        frame = self.wire.encode(request_id, command)
        if isinstance(frame, Reply):
            return frame
        self.asked.append(dict(frame))
        return dict(frame)

    def take(self, *frames: object) -> list[Decoded]:
        decoded = self.wire.decode(frames)
        self.asked += [dict(each.frame) for each in decoded if isinstance(each, Send)]
        return [each for each in decoded if not isinstance(each, Send)]

    def answer(self, result: object) -> list[Decoded]:
        """To the last request."""
        return self.take({"jsonrpc": "2.0", "id": self.asked[-1]["id"], "result": result})

    def fail(self, code: int, message: str = "no") -> list[Decoded]:
        error = {"code": code, "message": message}
        return self.take({"jsonrpc": "2.0", "id": self.asked[-1]["id"], "error": error})

    def hello(self) -> list[Decoded]:
        self.ask("h", Hello())
        info = {"name": "meerkat-rpc", "version": self.version}
        if self.seed:
            self.answer({"server_info": info, "methods": ["session/create", "turn/start"]})
            return self.answer({"agent": {"model": "m"}})
        self.answer({"server_info": info, "contract_version": self.version, "methods": METHODS})
        self.answer({"registered": 4})
        self.answer({"session_id": ID})
        return self.answer({"session_id": ID, "model": "m", "provider": "p", "message_count": 0})

    def event(self, kind: str, session: str = ID, **fields: object) -> Frame:
        payload: Frame = {"type": kind, **fields}
        event: Frame = payload
        if not self.seed:
            self.seq += 1
            source = {"type": "session", "session_id": session}
            event = {"event_id": ID, "source": source, "seq": self.seq, "payload": payload}
        params = {"session_id": session, "event": event}
        return {"jsonrpc": "2.0", "method": "session/event", "params": params}

    def prompt(self, message: str = "Go.") -> list[Decoded]:
        """A prompt, up to the first model call."""
        self.ask("p", Prompt(message))
        content = {"kind": "content", "content": message}
        started = {"prompt": message} if self.seed else {"input": content}
        return self.take(
            self.event("run_started", **started), self.event("turn_started", turn_number=0)
        )

    def end(self, message: str = "", **more: object) -> list[Decoded]:
        """The response to the prompt."""
        (turn,) = [f for f in self.asked if f["method"] in ("turn/start", "session/create")][-1:]
        result = {"session_id": ID, "text": message, "turns": 1, "tool_calls": 0, **more}
        return self.take({"jsonrpc": "2.0", "id": turn["id"], "result": result})
