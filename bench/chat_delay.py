"""How late an agent's words are in the document of its conversation, at the client.

The floor is the same words as events, in the same turn: what no way of writing them is before.

Limit: an edit every quarter of a second has half of the words an eighth late; as much again for the
edit, its answer and the proof that it is in.
"""

import json
import re
import time
from pathlib import Path
from statistics import median

from bench.editor import EditingClient
from bench.measure import Limit, Row
from bench.setting import Setting
from bench.vscode import Json
from bench.wire import SERVER

_STAMP = re.compile(r"@(\d+) ")
#: Words a second: about what the fastest models say.
_RATE = 500


class _Reader(EditingClient):
    """Notes when each stamp came, as an event and in the document."""

    def watch(self, path: Path) -> None:
        self._path = path
        self.told: dict[str, int] = {}
        self.written: dict[str, int] = {}
        self.has_ended = False

    def on_message(self, message: Json) -> None:
        now = time.perf_counter_ns()
        super().on_message(message)
        match message:
            case {"method": "agent/event", "params": {"type": "textDelta", "text": text}}:
                self._note(self.told, text, now)
            case {"method": "agent/event", "params": {"type": "turnEnded"}}:
                self.has_ended = True
            case {"method": "workspace/applyEdit"}:
                self._note(self.written, self.text(self._path), now)
            case _:
                pass

    def _note(self, found: dict[str, int], text: str, now: int) -> None:
        for stamp in _STAMP.findall(text):
            found.setdefault(stamp, now)


def chat_delay(setting: Setting) -> Row:
    count = setting.sizes.drops
    prompt = json.dumps({"count": count, "every": 1 / _RATE})
    floors: list[float] = []
    figures: list[float] = []
    with _Reader(SERVER, setting.env, setting.folder) as client:
        client.start(setting.params())
        for number in range(min(3, setting.sizes.rounds)):
            path = setting.folder / f"{number}.chat.md"
            path.write_text(f"## You\n\n{prompt}\n", encoding="ascii")
            client.watch(path)
            client.open(path)
            client.call("agent/sendChat", {"uri": path.as_uri()})
            while not client.has_ended or len(client.written) < count:
                client.messages()
            if client.told.keys() != client.written.keys():
                raise RuntimeError("the document is not what the agent said")
            floors.append(_delay(client.told))
            figures.append(_delay(client.written))
            path.unlink()
        client.stop()
    what = f"delay of a word in a conversation's document, {_RATE}/s, p50, to its event"
    return Row("chat_delay", what, "ms", median(floors), median(figures), Limit(added=250))


def _delay(came: dict[str, int]) -> float:
    return median(at - int(stamp) for stamp, at in came.items()) / 1e6
