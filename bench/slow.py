"""A client that reads 20 KB a second stops an agent that talks faster than that."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.editor import EditingClient, scripted
from bench.measure import Limit, Row, in_turns
from bench.setting import Setting
from bench.vscode import Json
from bench.wire import SERVER

_A_SECOND = 20_000
_PIECES = 50
_STARE_SECONDS = 2.0
_WORDS = 200_000


class SlowClient(EditingClient):
    """``answers`` are those that came, whichever was waited for."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        super().__init__(command, env, cwd)
        self.slow = False
        self.answers: dict[int, Json] = {}

    def on_message(self, message: Json) -> None:
        super().on_message(message)
        if "method" not in message:
            self.answers[message["id"]] = message

    def receive(self) -> bytes:
        if not self.slow:
            return super().receive()
        time.sleep(1 / _PIECES)
        return os.read(self.stdout.fileno(), _A_SECOND // _PIECES)


def slow_stop(setting: Setting) -> Row:
    """From ``agent/abort`` to its answer; the floor is the same client at full speed."""
    rounds = min(3, setting.sizes.rounds)
    script = setting.home / "talk.json"
    talk = {"text": "some words " * (_WORDS // 2)}
    script.write_text(json.dumps({"steps": [talk] * 2 * rounds}), encoding="ascii")
    with SlowClient(SERVER, setting.env, setting.folder) as client:
        client.start(scripted(setting.folder, script))
        floor, ours = in_turns(
            rounds, lambda: _stopped(client, slow=False), lambda: _stopped(client, slow=True)
        )
        client.stop()
    what = f"answer to a stop, read at {_A_SECOND // 1000} KB/s, to full speed"
    return Row("slow_stop", what, "ms", floor, ours, Limit(added=2000))


def _stopped(client: SlowClient, *, slow: bool) -> float:
    said: list[str] = []
    client.seen = lambda event: said.append(event["type"])
    prompt = client.request("agent/prompt", {"text": "Talk."})
    while "textDelta" not in said:
        client.messages()
    client.slow = slow
    end = time.monotonic() + (_STARE_SECONDS if slow else 0)
    while time.monotonic() < end:
        client.messages()
    begun = time.perf_counter()
    abort = client.request("agent/abort", {})
    while abort not in client.answers:
        client.messages()
    milliseconds = 1000 * (time.perf_counter() - begun)
    client.slow = False
    while prompt not in client.answers:
        client.messages()
    if client.answers[prompt]["result"]["stopReason"] != "aborted":
        raise RuntimeError("there was nothing to stop")
    return milliseconds
