"""A stand-in for an agent on zot's rpc wire, which fails where and how it is told.

    puppet_agent.py START_FILE [the wire's flags]

START_FILE, if it is there, holds the fault of this start and is removed. A prompt's message is
a JSON object, an order: after ``at`` frames of the recorded turn (the reply to the prompt is the
first) the ``fault`` happens. Without one the turn is played to its end. ``nap``, the arguments
of a ``sleep``, is started in a session of its own once the recording's command runs.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_SHOUTING = threading.Lock()

RECORDING = Path(__file__).parents[1] / "recordings" / "zot" / "multi_tool_calls.jsonl"


def recorded_turn() -> list[Json]:
    """What the agent of the recording said, from the reply to the prompt to ``done``."""
    lines = [json.loads(line) for line in RECORDING.read_text(encoding="utf-8").splitlines()]
    return [entry["line"] for entry in lines if entry["dir"] == "out"]


def open_calls(at: int) -> bool:
    """Whether a call of the turn is open after ``at`` frames."""
    frames = recorded_turn()[:at]
    started = {frame["id"] for frame in frames if frame["type"].startswith("tool_use_start")}
    return bool(started - {frame["id"] for frame in frames if frame["type"] == "tool_result"})


class Extension:
    """The one that ``--ext`` names, which is asked before a command and not heeded: what the
    recording did is done anyway."""

    def __init__(self) -> None:
        folder = sys.argv[sys.argv.index("--ext") + 1]
        manifest = json.loads((Path(folder) / "extension.json").read_text(encoding="utf-8"))
        self.process = subprocess.Popen(
            [manifest["exec"], *manifest["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.send({"type": "hello_ack", "protocol_version": 1})

    def ask(self, call: Json) -> None:
        """Returns once the answer is there."""
        question: Json = {"type": "event_intercept", "id": "1", "event": "tool_call"}
        self.send(
            question | {"tool_id": call["id"], "tool_name": call["name"], "tool_args": call["args"]}
        )
        assert self.process.stdout
        while b'"event_intercept_response"' not in self.process.stdout.readline():
            pass

    def send(self, frame: Json) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(frame, separators=(",", ":")).encode() + b"\n")
        self.process.stdin.flush()


class Puppet:
    def __init__(self, extension: Extension) -> None:
        self.extension = extension
        self.aborted = threading.Event()
        self.deaf = False
        self.turn: threading.Thread | None = None

    def serve(self) -> None:
        for line in sys.stdin:
            frame = json.loads(line)
            match frame["type"]:
                case "prompt":
                    self.begin(frame)
                    if '"close stdin"' in frame["message"]:
                        os.close(0)
                        time.sleep(3600)
                case "abort" if self.deaf:
                    pass
                case "abort":
                    self.aborted.set()
                    reply(frame)
                case "hello":
                    reply(frame, protocol_version=1)
                case "get_state":
                    reply(frame, busy=False, message_count=1)
                case _:
                    reply(frame)
        self.extension.send({"type": "shutdown"})

    def begin(self, frame: Json) -> None:
        if self.turn is not None:
            self.turn.join()
        self.aborted.clear()
        self.turn = threading.Thread(target=self.play, args=(frame,), daemon=True)
        self.turn.start()

    def play(self, prompt: Json) -> None:
        # Before it may stand what the process before this one was told.
        order: Json = json.loads(prompt["message"].splitlines()[-1])
        self.deaf = order.get("deaf", False)
        for number, frame in enumerate(recorded_turn()):
            if number == order.get("at"):
                self.fail(order["fault"], order)
            if self.aborted.is_set():
                say({"type": "turn_end", "stop": "aborted"}, {"type": "done"})
                return
            if frame["type"] == "response":
                frame |= {"id": prompt["id"]}
            say(frame)
            if frame["type"] == "tool_call" and frame["name"] == "bash":
                self.extension.ask(frame)
            if order.get("nap") and frame["type"] == "tool_call" and frame["name"] == "bash":
                out = subprocess.DEVNULL if order.get("fault") == "close stdout" else None
                subprocess.Popen(["sleep", order["nap"]], start_new_session=True, stdout=out)
        if order.get("at") == "end":
            self.fail(order["fault"], order)

    def fail(self, fault: str, order: Json) -> None:
        if fault in GARBAGE:
            shout(GARBAGE[fault]())
        elif fault in SILENT:
            SILENT[fault](self)
        elif fault == "pause":
            self.aborted.wait(order["seconds"])
        elif fault == "flood":
            self.flood(order["kind"], order["bytes"])
        else:
            END[fault]()

    def flood(self, kind: str, size: int) -> None:
        """``size`` bytes of text or of a command's output, without a line's end."""
        piece = "x" * 65536
        frame: Json = {"type": "text_delta", "delta": piece}
        if kind == "progress":
            frame = {"type": "tool_progress", "id": "toolu_02", "text": piece}
        line = json.dumps(frame).encode() + b"\n"
        for _ in range(size // len(piece)):
            if self.aborted.is_set():
                return
            shout(line)


def say(*frames: Json) -> None:
    shout("".join(json.dumps(frame) + "\n" for frame in frames).encode())


def shout(data: bytes) -> None:
    """Whole: requests are answered in another thread than the turn's, and a pipe takes parts."""
    with _SHOUTING:
        while data:
            data = data[os.write(1, data) :]


def reply(frame: Json, **data: object) -> None:
    say({"type": "response", "id": frame["id"], "success": True, "data": data})


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def exit_3() -> None:
    print("puppet: the model's service is gone", file=sys.stderr, flush=True)
    os._exit(3)


def freeze() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(3600)  # the other threads may be stopped a moment before this one


def close_stdout() -> None:
    os.close(1)
    time.sleep(3600)


END: dict[str, Callable[[], None]] = {
    "kill": die,
    "exit 3": exit_3,
    "exit 0": lambda: os._exit(0),
    "close stdout": close_stdout,
}
#: Ways to be silent: for good, or until the turn is aborted.
SILENT: dict[str, Callable[["Puppet"], object]] = {
    "hang": lambda puppet: puppet.aborted.wait(),
    "freeze": lambda _puppet: freeze(),
}


def wrong_types() -> bytes:
    values: list[object] = [None, 1, "text", [], {}, {"type": 1}, {"type": None}, {"type": []}]
    keys = ("id", "delta", "name", "args", "content", "message", "stop", "text", "error", "step")
    telling = ("turn_start", "assistant_message", "turn_end", "done")  # their type alone says much
    kinds = [frame["type"] for frame in recorded_turn() if frame["type"] not in telling]
    for kind in dict.fromkeys([*kinds, "unknown_kind", "ext_notify"]):
        for odd in (None, 7, -1.5, True, [[]], {"x": {}}):
            values.append({"type": kind} | dict.fromkeys(keys, odd))
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def nested_arguments() -> bytes:
    lines: list[bytes] = []
    kinds = [frame["type"] for frame in recorded_turn() if frame["type"].startswith("tool")]
    for kind in dict.fromkeys(kinds):
        for levels in (100, 253, 254, 500, *range(900, 1023)):
            deep = b'{"a":' * levels + b"1" + b"}" * levels
            fields = (b'"%s":%s' % (key, deep) for key in (b"args", b"content", b"usage"))
            named = b'{"type":"%s","id":"deep%d","name":"odd",' % (kind.encode(), levels)
            lines.append(named + b",".join(fields) + b"}\n")
    return b"".join(lines)


GARBAGE: dict[str, Callable[[], bytes]] = {
    "binary": lambda: bytes(range(256)) * 40 + b"\n",
    "half JSON": lambda: b'{"type":"text_delta","delta":"cut off\n',
    "a text": lambda: b"Traceback (most recent call last):\n\n   \r\n",
    "deep nesting": lambda: b"[" * 100_000 + b"\n" + b'{"a":' * 1000 + b"1" + b"}" * 1000 + b"\n",
    "nested arguments": nested_arguments,
    "wrong types": wrong_types,
    "invalid UTF-8": lambda: b'{"type":"text_delta","delta":"\xff\xfe\xed\xa0\x80"}\n',
    "lone surrogates": lambda: b'{"type":"ext_notify","message":"\\ud800\\udfff \\ud83d"}\n',
    "huge numbers": lambda: b'{"type":"usage","input":' + b"9" * 400 + b',"step":1e999}\n',
    "a line too long": lambda: b"x" * 3_000_000 + b"\n",
    "100 MB in one line": lambda: b"x" * 100_000_000 + b"\n",
}


def start(fault: str) -> None:
    """The fault of a start, before the first frame is read or in the answer to it."""
    if fault == "hang in hello":
        time.sleep(3600)
    elif fault == "late":
        time.sleep(2)
    elif fault == "die in hello":
        sys.stdin.readline()
        die()
    elif fault == "refuse hello":
        frame = json.loads(sys.stdin.readline())
        say({"type": "response", "id": frame["id"], "success": False, "error": "no, thank you"})
    elif fault == "garbage":
        for make in list(GARBAGE.values())[:-1]:
            shout(make())
    else:
        END[fault]()


def main() -> None:
    extension = Extension()
    order = Path(sys.argv[1])
    if order.exists():
        fault = order.read_text(encoding="utf-8")
        order.unlink()
        start(fault)
    Puppet(extension).serve()


def points() -> Iterator[int]:
    """Every number of frames after which a turn can be cut."""
    yield from range(len(recorded_turn()))


if __name__ == "__main__":
    main()
