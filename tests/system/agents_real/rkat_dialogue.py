"""One dialogue in Meerkat's own wire, had with the real ``rkat-rpc`` or with the double of it, and
what of the answers has to be alike: which frames come, in which order, and of what shape."""

import itertools
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

from support.model_server import Call, Step
from support.raw_client import Json
from support.rkat_agent import RkatModel, configuration

DOUBLE = Path(__file__).parents[2] / "support" / "doubles" / "rkat_rpc.py"
#: In seconds.
PATIENCE = 60.0
_TOOL: Json = {
    "name": "look",
    "description": "Looks",
    "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}},
}
TOOLS = [_TOOL, _TOOL | {"name": "touch"}]
LOOK = Call("look", {"at": "x"})
#: What its model says, prompt by prompt.
SAID: Sequence[Sequence[Step]] = (
    (Step("Let me see.", (LOOK,), reasoning="Hm, hm."), Step("All seen.")),
    (Step("Never.", delay=PATIENCE),),
    (Step(calls=(LOOK,)), Step("It is not there.")),
    (Step("Never.", delay=PATIENCE),),
)

#: A frame's kind, and its shape.
Told = tuple[str, Any]


class Peer:
    """A process that speaks the wire; answers each ``tool/execute``. A context manager."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._ids = itertools.count(1)
        self._frames: queue.Queue[Json] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self.told: list[Told] = []

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def ask(
        self, method: str, meanwhile: Callable[[str], None] | None = None, **params: Any
    ) -> Json:
        """The answer; ``meanwhile`` gets the kind of each frame before it."""
        number = self._send(method, params)
        while True:
            frame = self._frames.get(timeout=PATIENCE)
            if frame.get("id") == number and "method" not in frame:
                self.told.append((f"answer to {method}", shape(frame)))
                return frame
            kind = self._take(frame)
            if meanwhile is not None:
                meanwhile(kind)

    def start(self, method: str, **params: Any) -> None:
        self._send(method, params)

    def _take(self, frame: Json) -> str:
        method = frame.get("method")
        if method == "session/event":
            payload = frame["params"]["event"]["payload"]
            kind = str(payload["type"])
        else:
            kind = method or "answer to turn/interrupt"
        if method == "tool/execute":
            answer: Json = {"content": "seen", "is_error": False}
            self._write({"id": frame["id"], "result": answer})
        # A model's words come in pieces of any size.
        if not (kind.endswith("_delta") and self.told and self.told[-1][0] == kind):
            self.told.append((kind, shape(frame)))
        return kind

    def _send(self, method: str, params: Json) -> int:
        number = next(self._ids)
        self._write({"id": number, "method": method, "params": params})
        return number

    def _write(self, frame: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._frames.put(json.loads(line))


def ordered(told: Sequence[Told]) -> list[str]:
    """The kinds of frames, without those that come beside the others."""
    return [kind for kind, _ in told if kind not in ("tool/execute", "answer to turn/interrupt")]


def by_kind(told: Sequence[Told]) -> list[Told]:
    return sorted(told, key=itemgetter(0))


def had_with_double(folder: Path) -> list[Told]:
    script = folder / "dialogue.json"
    runs = [{"steps": [_double_step(step) for step in steps]} for steps in SAID]
    script.write_text(json.dumps({"runs": runs}), encoding="utf-8")
    command = [sys.executable, str(DOUBLE), "--script", str(script)]
    with Peer([*command, "--state-root", str(folder / "double")]) as peer:
        _have(peer, lambda _steps: None, {}, "claude-double")
        return peer.told


def had_with_real(folder: Path) -> list[Told]:
    command = ["rkat-rpc", "--realm", "lsp-agent", "--state-root", str(folder / "real")]
    with RkatModel() as model, Peer(command) as peer:
        _have(peer, lambda steps: model.then(*steps), configuration(model.url), "one")
        return peer.told


def _have(peer: Peer, says: Callable[[Sequence[Step]], None], config: Json, model: str) -> None:
    peer.ask("initialize")
    peer.ask("config/patch", patch=config)
    created = peer.ask(
        "session/create",
        prompt=[],
        initial_turn="deferred",
        model=model,
        external_tools=TOOLS,
        enable_builtins=False,
        enable_shell=False,
    )
    session = created["result"]["session_id"]
    says(SAID[0])
    peer.ask("turn/start", session_id=session, prompt="Look.")
    says(SAID[1])

    def stop(kind: str) -> None:
        if kind == "turn_started":
            peer.start("turn/interrupt", session_id=session)

    peer.ask("turn/start", stop, session_id=session, prompt="Wait.")
    says(SAID[2])
    peer.ask("turn/start", session_id=session, prompt="Look again.")
    peer.ask("session/read", session_id=session)
    peer.ask("session/history", session_id=session, offset=0, limit=200)
    peer.ask("models/catalog")
    # What goes wrong.
    peer.ask("turn/start", session_id=session, prompt="Look.", bogus=1)
    peer.ask("session/read", session_id=created["result"]["session_id"][:-3] + "000")
    peer.ask("session/create", prompt=[], initial_turn="deferred", model="none")
    peer.ask("no/such")
    # A session whose only turn is stopped before a tool runs.
    only = peer.ask("session/create", prompt=[], initial_turn="deferred", model=model)
    session = only["result"]["session_id"]
    says(SAID[3])
    peer.ask("turn/start", stop, session_id=session, prompt="Wait.")
    peer.ask("turn/start", session_id=session, prompt="Go on.")


def _double_step(step: Step) -> Json:
    calls = [{"name": call.name, "args": call.args} for call in step.calls]
    said: Json = {"text": step.text, "calls": calls, "thinking": step.reasoning}
    return {"hang": True} if step.delay else said


def shape(value: Any) -> Any:
    """Its types, and the code of an error."""
    if isinstance(value, dict):
        named: Json = value  # pyright: ignore[reportUnknownVariableType]
        return {key: of if key == "code" else shape(of) for key, of in named.items()}
    if isinstance(value, list):
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
        return [shape(item) for item in items]
    return type(value).__name__


def beyond(ours: Any, real: Any, place: str = "") -> list[str]:
    """Where ``ours`` has what the real one has not, or has it otherwise."""
    if isinstance(ours, dict) and isinstance(real, dict):
        mine: Json = ours  # pyright: ignore[reportUnknownVariableType]
        theirs: Json = real  # pyright: ignore[reportUnknownVariableType]
        found = [f"{place}.{key}" for key in mine if key not in theirs]
        for key in mine.keys() & theirs.keys():
            found += beyond(mine[key], theirs[key], f"{place}.{key}")
        return found
    if isinstance(ours, list) and isinstance(real, list):
        pairs: Any = zip(ours[:1], real[:1], strict=False)  # pyright: ignore
        return [each for one, other in pairs for each in beyond(one, other, f"{place}[]")]
    return [] if ours == real else [f"{place}: {ours} is {real}"]
