"""An agent that only talks, as fast as it is read: just enough of zot's rpc.

A prompt's message is JSON: ``{"count": N, "every": SECONDS, "length": CHARACTERS}``. ``count``
text deltas follow, all at once (the first one says when), or one each ``every`` seconds, each
with its own time.

Standard library only, so that it starts with ``-I -S``.
"""

import json
import os
import subprocess
import sys
import time

_WORDS = ("some ", "words ", "as ", "a ", "model ", "would ", "say ", "them ")
_AT_ONCE = 64 * 1024


def say(*frames: dict[str, object]) -> None:
    write(b"".join(line(frame) for frame in frames))


def line(frame: dict[str, object]) -> bytes:
    return json.dumps(frame, separators=(",", ":")).encode() + b"\n"


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view[:_AT_ONCE]) :]


def stamp() -> bytes:
    return line({"type": "text_delta", "delta": f"@{time.perf_counter_ns()} "})


def flood(count: int, length: int) -> None:
    """The deltas are made before the clock starts: what is measured is who reads them."""
    words = [line({"type": "text_delta", "delta": word.rjust(length)}) for word in _WORDS]
    rounds, rest = divmod(count - 1, len(words))
    lines = b"".join(words) * rounds + b"".join(words[:rest])
    write(stamp())
    write(lines)


def drip(count: int, every: float) -> None:
    due = time.perf_counter()
    for _ in range(count):
        due += every
        time.sleep(max(0.0, due - time.perf_counter()))
        write(stamp())


def turn(job: dict[str, float]) -> None:
    say(
        {"type": "user_message", "content": [{"type": "text", "text": ""}]},
        {"type": "turn_start", "step": 1},
        {"type": "assistant_start"},
    )
    count, every = int(job["count"]), job.get("every", 0.0)
    if every:
        drip(count, every)
    else:
        flood(count, int(job.get("length", 0)))
    say({"type": "turn_end", "stop": "end"}, {"type": "done"})


def load_extension() -> None:
    """The one that ``--ext`` names, if any: no agent is kept that has not loaded it."""
    if "--ext" not in sys.argv:
        return
    folder = sys.argv[sys.argv.index("--ext") + 1]
    with open(f"{folder}/extension.json", encoding="utf-8") as file:  # noqa: PTH123
        manifest = json.load(file)
    child = subprocess.Popen([manifest["exec"], *manifest["args"]], stdin=subprocess.PIPE)
    assert child.stdin is not None
    child.stdin.write(line({"type": "hello_ack", "protocol_version": 1}))
    child.stdin.flush()


def main() -> None:
    load_extension()
    for received in sys.stdin:
        frame = json.loads(received)
        data = {"protocol_version": 1} if frame["type"] == "hello" else {}
        say({"type": "response", "id": frame["id"], "success": True, "data": data})
        if frame["type"] == "prompt":
            turn(json.loads(frame["message"]))


if __name__ == "__main__":
    main()
