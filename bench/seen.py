"""What an agent's write costs where its session has seen many files; none of them changes.

From the call to its result, by a whole server. The floor is a session that has seen ten.
"""

import json
import os
import time
from statistics import median
from types import TracebackType
from typing import Self

from bench.editor import EditingClient, scripted
from bench.measure import Limit, Row, in_turns
from bench.setting import Setting
from bench.vscode import Json
from bench.wire import SERVER

_FEW = 10
_READS_A_TURN = 20
_WRITES_A_TURN = 5
#: What was changed just now is looked at more closely.
_AGE_SECONDS = 3600


def write_seen(setting: Setting) -> Row:
    return _row("write_seen", setting, setting.sizes.seen)


def write_seen_many(setting: Setting) -> Row:
    return _row("write_seen_many", setting, 10 * setting.sizes.seen)


def _row(name: str, setting: Setting, many: int) -> Row:
    rounds = setting.sizes.rounds
    with _Session(setting, f"{name}-few", _FEW) as few, _Session(setting, name, many) as session:
        floor, ours = in_turns(rounds, few.write, session.write)
    what = f"a write, {many:,} files seen, to {_FEW}"
    return Row(name, what, "ms", floor, ours, Limit(times=1.1))


class _Session:
    """Its agent has read so many files."""

    def __init__(self, setting: Setting, name: str, files: int) -> None:
        self._folder = setting.folder / name
        names = [f"file{number}.py" for number in range(files)]
        self._folder.mkdir()
        before = time.time() - _AGE_SECONDS
        for each in names:
            path = self._folder / each
            path.write_text(f"name = {each!r}\n", encoding="ascii")
            os.utime(path, (before, before))
        self._turns = [names[at : at + _READS_A_TURN] for at in range(0, files, _READS_A_TURN)]
        script = setting.home / f"{name}.json"
        steps = [step for turn in self._turns for step in _turn([_read(each) for each in turn])]
        for number in range(setting.sizes.rounds):
            writes = [_write(f"{number}.{each}") for each in range(_WRITES_A_TURN)]
            steps += _turn(writes)
        script.write_text(json.dumps({"steps": steps}), encoding="ascii")
        self._script = script
        self._client = EditingClient(SERVER, setting.env, self._folder)
        self._called: dict[str, float] = {}
        self._milliseconds: list[float] = []

    def __enter__(self) -> Self:
        self._client.start(scripted(self._folder, self._script))
        self._client.seen = self._see
        for _ in self._turns:
            self._take_turn()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self._client.stop()
        self._client.__exit__(kind, error, traceback)

    def write(self) -> float:
        self._milliseconds.clear()
        self._take_turn()
        if len(self._milliseconds) != _WRITES_A_TURN:
            raise RuntimeError(f"{len(self._milliseconds)} of {_WRITES_A_TURN} writes were seen")
        return median(self._milliseconds)

    def _take_turn(self) -> None:
        result = self._client.call("agent/prompt", {"text": "Go on."})
        if result["stopReason"] != "endTurn":
            raise RuntimeError(f"the agent failed: {result}")

    def _see(self, event: Json) -> None:
        if event["type"] == "toolCall":
            self._called[event["toolCallId"]] = event["time"]
        elif event["type"] == "toolResult":
            if event["isError"]:
                raise RuntimeError(f"a call failed: {event['content']}")
            begun = self._called.pop(event["toolCallId"])
            self._milliseconds.append(1000 * (event["time"] - begun))


def _turn(calls: list[Json]) -> list[Json]:
    return [{"text": "", "calls": calls}, {"text": "Done."}]


def _read(name: str) -> Json:
    return {"name": "read", "args": {"path": name}}


def _write(value: str) -> Json:
    return {"name": "write", "args": {"path": "file0.py", "content": f"name = {value!r}\n"}}
