"""A server of toy handlers on the real face, for the tests of the face: ``toy_server.py [tcp]``.

As the real one it imports models only when the client has its answer to ``initialize``.
"""

import sys
from typing import Any

from lsp_agent.server.rpc import startup

startup.begun()

import anyio.lowlevel  # noqa: E402

from lsp_agent.protocol.errors import BadParams, RequestFailed  # noqa: E402
from lsp_agent.server.client.client_connection import ClientConnection  # noqa: E402
from lsp_agent.server.client.info import ClientInfo  # noqa: E402
from lsp_agent.server.client.welcome import welcome  # noqa: E402
from lsp_agent.server.rpc.channel import stdio  # noqa: E402
from lsp_agent.server.rpc.tcp import tcp  # noqa: E402

Json = dict[str, Any]


class Toy:
    def __init__(self, face: ClientConnection) -> None:
        self.face = face
        self.keys: list[str] = []
        self.cleaned: list[str] = []
        handlers = {
            "toy/echo": lambda params: params,
            "toy/late": self.late,
            "toy/sleep": self.sleep,
            "toy/snapshot": self.snapshot,
            "toy/fail": self.fail,
            "toy/ask": self.ask,
            "toy/flood": self.flood,
            "toy/keys": lambda _params: self.keys,
            "toy/cleaned": lambda _params: self.cleaned,
            "toy/folders": lambda _params: list(face.folders),
            "toy/client": self.client,
            "toy/unserialisable": lambda _params: {"value": object()},
        }
        face.requests.update(handlers)
        face.notifications["textDocument/didChange"] = self.did_change
        face.notifications["toy/reset"] = self.reset
        face.notifications["toy/sync"] = lambda params: face.tasks.start_soon(self.sync, params)
        face.feature("textDocument/hover", self.hover)
        face.commands["lspAgent.state"] = lambda params: {"params": params}
        face.on_initialize = self.load
        face.on_shutdown = self.shut_down
        face.on_end = self.end
        face.on_initialized = self.initialized

    async def load(self, client: ClientInfo) -> None:
        if sys.argv[1:] == ["broken"]:
            raise ImportError("no such thing")
        if sys.argv[1:] == ["slow"]:
            await anyio.sleep(1)
        if sys.argv[1:] == ["stuck"]:
            await anyio.sleep_forever()
        from lsp_agent.protocol.client_requests import DocumentParams  # noqa: PLC0415
        from lsp_agent.protocol.session_methods import PromptParams  # noqa: PLC0415
        from lsp_agent.server.client.barrier import RefreshBarrier  # noqa: PLC0415
        from lsp_agent.server.client.editor_port import EditorPort  # noqa: PLC0415

        barrier = RefreshBarrier.of(self.face, client, self.face.requests)
        self.editor = EditorPort(self.face, client, barrier, lambda _uri: None)
        self.face.requests["toy/model"] = lambda _params: DocumentParams(uri="file:///a")
        self.face.requests["toy/prompt"] = lambda params: PromptParams.model_validate(params).text

    async def end(self) -> None:
        await anyio.sleep(0.05)
        print("cleaned up", file=sys.stderr)

    async def initialized(self) -> None:
        self.face.notify("toy/initialized", {})

    def did_change(self, params: Json) -> None:
        self.keys.append(params["text"] if "text" in params else params["contentChanges"])

    def reset(self, _params: Json) -> None:
        self.keys.clear()
        self.cleaned.clear()

    async def sync(self, params: Json) -> None:
        await anyio.sleep(params["delay"])
        before, started = len(self.keys), anyio.current_time()
        await self.editor.sync(params["uri"])
        seconds = anyio.current_time() - started
        self.face.notify("toy/synced", {"changes": len(self.keys) - before, "seconds": seconds})

    async def late(self, _params: Json) -> Json:
        return {"keys": list(self.keys)}

    def snapshot(self, _params: Json) -> Any:
        keys = list(self.keys)

        async def answer() -> Json:
            return {"keys": keys}

        return answer()

    async def sleep(self, params: Json) -> str:
        try:
            await anyio.sleep(params.get("seconds", 60))
        finally:
            self.cleaned.append(params.get("name", ""))
        return "slept"

    async def fail(self, params: Json) -> None:
        await anyio.lowlevel.checkpoint()
        match params["how"]:
            case "params":
                raise BadParams("text", "must not be empty")
            case "kind":
                raise RequestFailed("busy", "A turn is running.", {"turnId": "t1"})
            case "group":
                async with anyio.create_task_group():
                    raise RequestFailed("busy", "A turn is running.")
            case "bugs":
                raise ExceptionGroup("of tasks", [KeyError("a secret"), OSError("another")])
            case "failures":
                told = [BadParams("text", "must not be empty"), RequestFailed("busy", "Busy.")]
                raise ExceptionGroup("of tasks", told)
            case _:
                raise ZeroDivisionError("a secret")

    async def ask(self, params: Json) -> Any:
        try:
            return await self.face.ask(params["method"], {}, params.get("timeout", 5))
        except TimeoutError:
            return "timeout"

    async def flood(self, params: Json) -> int:
        for number in range(params["count"]):
            self.face.notify("toy/flood", {"number": number, "text": "x" * params["size"]})
            await self.face.drain()
        return params["count"]

    def hover(self, params: Any) -> Json:
        return {"contents": params.text_document.uri}

    def client(self, _params: Json) -> Json:
        client = self.face.client
        return {
            "name": client.name,
            "version": client.version,
            "encoding": client.encoding,
            "processId": client.process_id,
            "events": client.events,
        }

    async def shut_down(self) -> None:
        await anyio.sleep(0.05)
        self.face.notify("toy/closed", {})


def listening(_host: str, port: int) -> str:
    print(port, file=sys.stderr, flush=True)
    return "the token of the toy"


def main() -> int:
    face = ClientConnection()
    Toy(face)
    served = sys.argv[1:] == ["tcp"]
    channel = tcp("127.0.0.1", 0, listening) if served else stdio()
    print("this must not reach the client", flush=True)
    startup.ends_on_signal()
    welcomed = welcome(channel)
    recv, send = welcomed.channel.recv, welcomed.channel.send
    return face.run(recv, send, 2_000_000, welcomed.introduced)


if __name__ == "__main__":
    sys.exit(main())
