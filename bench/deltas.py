"""Text deltas on their way from an agent to a client: how late, how many, how much is held."""

import json
import re
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from statistics import median
from types import TracebackType
from typing import Protocol, Self

from bench.measure import Limit, Row, in_turns, resident
from bench.setting import COPIER, PUPPET, Setting
from bench.wire import SERVER, Child, Client, take_apart

_STAMP = re.compile(rb"@(\d+) ")
_RATE = 500  # events a second: about what the fastest models say
_STARE_SECONDS = 1.5
_LONG = 50  # characters of a delta: without a limit somewhere, a flood of these would show


class Pipe(Protocol):
    """The puppet's words, however they come."""

    def prompt(self, count: int, every: float = 0.0, length: int = 0) -> None: ...

    def receive(self) -> bytes: ...

    @property
    def end(self) -> bytes:
        """What comes right behind the last word."""
        ...

    def settle(self, data: bytes) -> None:
        """Reads what follows the end; ``data`` is what came with it."""
        ...


class RawPipe:
    """The floor: the puppet's output through a process that only copies."""

    end = b'"done"'

    def __init__(self, setting: Setting) -> None:
        self._copier = Child(COPIER, setting.env, setting.folder)
        self._puppet = subprocess.Popen(
            PUPPET, stdin=subprocess.PIPE, stdout=self._copier.stdin, env=setting.env
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._puppet.communicate()
        self._copier.__exit__(kind, error, traceback)

    def prompt(self, count: int, every: float = 0.0, length: int = 0) -> None:
        message = json.dumps({"count": count, "every": every, "length": length})
        frame = json.dumps({"id": "r", "type": "prompt", "message": message})
        assert self._puppet.stdin is not None
        self._puppet.stdin.write(frame.encode() + b"\n")
        self._puppet.stdin.flush()

    def receive(self) -> bytes:
        return self._copier.receive()

    def settle(self, data: bytes) -> None:
        """Nothing follows."""


class Served:
    """The same puppet as the agent of a server; its words come as ``agent/event``."""

    end = b'"turnEnded"'

    def __init__(self, client: Client) -> None:
        self._client = client

    def prompt(self, count: int, every: float = 0.0, length: int = 0) -> None:
        text = json.dumps({"count": count, "every": every, "length": length})
        self._client.request("agent/prompt", {"text": text})

    def receive(self) -> bytes:
        return self._client.receive()

    def settle(self, data: bytes) -> None:
        """The answer to the prompt: it has all the text once more, then the edits."""
        while b'"edits":' not in data:
            data = data[-10:] + self.receive()


@contextmanager
def serving(setting: Setting) -> Generator[Client]:
    """A server whose agent runs already."""
    with Client(SERVER, setting.env, setting.folder) as client:
        client.start(setting.params())
        client.answer(client.request("agent/prompt", {"text": json.dumps({"count": 1})}))
        yield client
        client.stop()


def added_delay(setting: Setting) -> Row:
    """How late half of the deltas are at most, at the rate of a quick model."""
    count = setting.sizes.drops

    def delay(pipe: Pipe) -> float:
        pipe.prompt(count, 1 / _RATE)
        delays: list[int] = []
        rest, ended, after = b"", b"", b""
        while not ended:
            chunk = pipe.receive()
            now = time.perf_counter_ns()
            words, ended, after = (rest + chunk).partition(pipe.end)
            stamps = list(_STAMP.finditer(words))
            delays += [now - int(stamp[1]) for stamp in stamps]
            rest = words[stamps[-1].end() :] if stamps else words
        pipe.settle(after)
        if len(delays) != count:
            raise RuntimeError(f"{len(delays)} of {count} deltas arrived")
        return median(delays) / 1e6

    with RawPipe(setting) as raw, serving(setting) as client:
        rounds = min(3, setting.sizes.rounds)
        floor, ours = in_turns(rounds, lambda: delay(raw), lambda: delay(Served(client)))
    what = f"delay of a delta, {_RATE}/s, p50, to a pipe"
    return Row("added_delay", what, "ms", floor, ours, Limit(added=1.0))


def throughput(setting: Setting) -> Row:
    count = setting.sizes.deltas

    def flood(pipe: Pipe) -> float:
        pipe.prompt(count)
        data, ended = _read_to_end(pipe)
        stamp = _STAMP.search(data)
        assert stamp is not None
        return 1000 * (ended - int(stamp[1]) / 1e9)

    with RawPipe(setting) as raw, serving(setting) as client:
        floor, ours = in_turns(
            setting.sizes.rounds, lambda: flood(raw), lambda: flood(Served(client))
        )
        _check_nothing_is_lost(raw, Served(client), count)
    what = f"{count:,} deltas, to a raw copy"
    return Row("throughput", what, "ms", floor, ours, Limit(times=12))


def held_back(setting: Setting) -> Row:
    """What a server's memory grows to while its client does not read and the agent pushes on;
    the floor is the same server, its agent at rest. What waited must all come in the end."""
    count = setting.sizes.held_back
    floors: list[float] = []
    peaks: list[float] = []
    for _ in range(min(3, setting.sizes.rounds)):
        with serving(setting) as client:
            floors.append(resident(client.process.pid))
            pipe = Served(client)
            pipe.prompt(count, length=_LONG)
            time.sleep(_STARE_SECONDS)
            peaks.append(resident(client.process.pid, "VmHWM:"))
            data, _ = _read_to_end(pipe)
        if len(_STAMP.sub(b"", _text_of_events(data).encode())) != (count - 1) * _LONG:
            raise RuntimeError("deltas were lost")
    what = "memory, client not reading"
    return Row("held_back", what, "MB", median(floors), median(peaks), Limit(added=20))


def _read_to_end(pipe: Pipe) -> tuple[bytes, float]:
    """All words, and when the last of them came."""
    chunks: list[bytes] = []
    tail = b""
    while pipe.end not in tail:
        chunks.append(pipe.receive())
        tail = tail[-len(pipe.end) :] + chunks[-1]
    ended = time.perf_counter()
    pipe.settle(tail)
    return b"".join(chunks), ended


def _check_nothing_is_lost(raw: RawPipe, served: Served, count: int) -> None:
    """One more round, in which the words themselves are compared."""
    raw.prompt(count)
    served.prompt(count)
    sent = _text_of_lines(_read_to_end(raw)[0])
    received = _text_of_events(_read_to_end(served)[0])
    if _STAMP.sub(b"", sent.encode()) != _STAMP.sub(b"", received.encode()):
        raise RuntimeError("what the client got is not what the agent said")


def _text_of_lines(data: bytes) -> str:
    frames = [json.loads(line) for line in data.splitlines()]
    return "".join(frame["delta"] for frame in frames if frame["type"] == "text_delta")


def _text_of_events(data: bytes) -> str:
    events = [m["params"] for m in take_apart(data)[0] if m.get("method") == "agent/event"]
    return "".join(event["text"] for event in events if event["type"] == "textDelta")
