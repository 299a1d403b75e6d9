"""A stand-in for an agent on zot's rpc wire, which makes the calls that a test tells it to make.

    puppet.py SOCKET NAME [the wire's flags]

It connects to SOCKET, says NAME, and then a line of JSON a message: it tells of each prompt, is
told of one call at a time, and answers with what the call's result was. With ``--tools`` among
the flags its file calls go through the extension; without, it reads and writes the disk itself.
Only the standard library, started with ``-I -S``: a storm starts many.
"""

import json
import os
import selectors
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Lines:
    """Whole lines out of a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.rest = b""

    def read(self) -> list[Json]:
        chunk = os.read(self.descriptor, 1 << 16)
        if not chunk:
            os._exit(0)  # whoever it was, without it there is nothing to do
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        return [json.loads(line) for line in lines]


class Puppet:
    def __init__(self, path: str, name: str) -> None:
        self.hosted = "--tools" in sys.argv
        self.seat = socket.socket(socket.AF_UNIX)
        self.seat.connect(path)
        self.tell(name=name)
        folder = Path(sys.argv[sys.argv.index("--ext") + 1])
        manifest = json.loads((folder / "extension.json").read_bytes())
        self.extension = subprocess.Popen(
            [manifest["exec"], *manifest["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.ask({"type": "hello_ack", "protocol_version": 1})
        self.prompt: Json | None = None
        self.call: Json | None = None
        self.step = 0

    def tell(self, **message: object) -> None:
        self.seat.sendall(json.dumps(message).encode() + b"\n")

    def ask(self, frame: Json) -> None:
        """To the extension; blanks and the order of fields matter to its pipe."""
        assert self.extension.stdin
        self.extension.stdin.write(json.dumps(frame, separators=(",", ":")).encode() + b"\n")
        self.extension.stdin.flush()

    def serve(self) -> None:
        assert self.extension.stdout
        chooser = selectors.DefaultSelector()
        for descriptor, take in (
            (0, self.from_server),
            (self.extension.stdout.fileno(), self.from_extension),
            (self.seat.fileno(), self.from_test),
        ):
            chooser.register(descriptor, selectors.EVENT_READ, (Lines(descriptor), take))
        while True:
            for key, _ in chooser.select():
                lines, take = key.data
                for message in lines.read():
                    take(message)

    def from_server(self, frame: Json) -> None:
        match frame["type"]:
            case "prompt":
                reply(frame, started=True)
                say(user_message(frame["message"]))
                self.prompt = frame
                self.tell(prompt=frame["message"])
            case "abort":
                reply(frame)
                self.end("aborted")
            case "hello":
                reply(frame, protocol_version=1)
            case "get_state":
                reply(frame, busy=self.prompt is not None, message_count=1)
            case _:
                reply(frame)

    def from_test(self, order: Json) -> None:
        if order.get("end"):
            self.end("end")
            self.tell(ended=True)
            return
        self.call = order
        self.step += 1
        call: Json = {"id": order["id"], "name": order["tool"]}
        args = order["args"]
        say(
            {"type": "turn_start", "step": self.step},
            {"type": "tool_use_start"} | call,
            {"type": "tool_use_args", "id": order["id"], "delta": json.dumps(args)},
            {"type": "tool_use_end", "id": order["id"]},
            {"type": "tool_call", "args": args} | call,
            {"type": "turn_end", "stop": "tool_use"},
        )
        question: Json = {"type": "event_intercept", "id": order["id"], "event": "tool_call"}
        self.ask(question | {"tool_id": order["id"], "tool_name": order["tool"], "tool_args": args})

    def from_extension(self, frame: Json) -> None:
        call = self.call
        if call is None:
            return
        match frame["type"]:
            case "event_intercept_response" if frame.get("block"):
                self.done(frame.get("reason", ""), is_error=True)
            case "event_intercept_response" if self.hosted:
                self.ask(
                    {
                        "type": "tool_call",
                        "id": call["id"],
                        "name": call["tool"],
                        "args": call["args"],
                    }
                )
            case "event_intercept_response":
                try:
                    self.done(on_disk(call["tool"], call["args"]), is_error=False)
                except (OSError, ValueError) as error:
                    self.done(str(error), is_error=True)
            case "tool_result":
                text = "".join(block.get("text", "") for block in frame["content"])
                self.done(text, is_error=frame.get("is_error") is True)
            case _:
                pass

    def done(self, text: str, *, is_error: bool) -> None:
        assert self.call is not None
        content = [{"type": "text", "text": text}]
        say(
            {
                "type": "tool_result",
                "id": self.call["id"],
                "is_error": is_error,
                "content": content,
            }
        )
        self.tell(result=text, is_error=is_error, id=self.call["id"])
        self.call = None

    def end(self, stop: str) -> None:
        if self.prompt is None:
            return
        self.prompt = self.call = None
        self.step += 1
        content = [{"type": "text", "text": "ok"}]
        say(
            {"type": "turn_start", "step": self.step},
            {"type": "assistant_start"},
            {"type": "assistant_message", "content": content, "time": TIME},
            {"type": "turn_end", "stop": stop},
            {"type": "done"},
        )
        self.step = 0


TIME = "2026-11-20T21:30:00Z"


def on_disk(tool: str, args: Json) -> str:
    """What an agent's own tools do: no editor knows of it."""
    path = Path(args["path"])
    if tool == "write":
        path.write_bytes(args["content"].encode())
        return str(args["content"])
    text = path.read_bytes().decode()
    if tool == "read":
        return text
    for edit in args["edits"]:
        if text.count(edit["oldText"]) != 1:
            raise ValueError(f"oldText not found in {path}")
        text = text.replace(edit["oldText"], edit["newText"])
    path.write_bytes(text.encode())
    return text


def user_message(text: str) -> Json:
    return {"type": "user_message", "content": [{"type": "text", "text": text}], "time": TIME}


def say(*frames: Json) -> None:
    data = "".join(json.dumps(frame) + "\n" for frame in frames).encode()
    while data:
        data = data[os.write(1, data) :]


def reply(frame: Json, **data: object) -> None:
    say({"type": "response", "id": frame["id"], "success": True, "data": data})


if __name__ == "__main__":
    Puppet(sys.argv[1], sys.argv[2]).serve()
