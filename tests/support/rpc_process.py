"""Drives the real ``lsp-agent rpc`` over pipes."""

import json
import os
import queue
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from support.warm import LSP_AGENT, start

Frame = dict[str, Any]

RECORDINGS = Path(__file__).parent.parent / "recordings" / "zot"
PATIENCE = 60.0


class RpcProcess:
    """One agent process. Every frame that it ever sent is in ``frames``."""

    def __init__(
        self,
        cwd: Path,
        steps: Iterable[Frame] = (),
        *flags: str,
        env: dict[str, str] | None = None,
        script: bool = True,
    ) -> None:
        arguments = list(flags)
        if script:
            file = cwd.parent / f"{cwd.name}-script.json"
            file.write_text(json.dumps({"steps": list(steps)}), encoding="utf-8")
            arguments += ["--provider", "script", "--script", str(file)]
        command = [*LSP_AGENT, "rpc", "--cwd", str(cwd), *arguments]
        self.process = start(command, cwd=None, env=os.environ | (env or {}))
        self.frames: list[Frame] = []
        self.stderr = ""
        self._arrived: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "RpcProcess":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._arrived.put(json.loads(line))
        self._arrived.put(None)

    def _errors(self) -> None:
        assert self.process.stderr is not None
        self.stderr = self.process.stderr.read().decode()

    # -- talking

    def raw(self, line: bytes | str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write((line.encode() if isinstance(line, str) else line) + b"\n")
        self.process.stdin.flush()

    def send(self, kind: str, **fields: object) -> None:
        self.raw(json.dumps({"type": kind, **fields}))

    def next(self) -> Frame:
        frame = self._arrived.get(timeout=PATIENCE)
        assert frame is not None, f"the agent has ended: {self.stderr}"
        self.frames.append(frame)
        return frame

    def until(self, kind: str | Callable[[Frame], bool]) -> list[Frame]:
        """The frames up to and with the first of that type, or that it holds for."""
        wanted = (lambda frame: frame["type"] == kind) if isinstance(kind, str) else kind
        got = [self.next()]
        while not wanted(got[-1]):
            got.append(self.next())
        return got

    def ask(self, kind: str, **fields: object) -> Frame:
        """Sends a command and waits for its response."""
        number = f"q{len(self.frames)}"
        self.send(kind, id=number, **fields)
        return self.until(lambda frame: frame.get("id") == number and "success" in frame)[-1]

    def prompt(self, message: str = "go") -> list[Frame]:
        """Runs a prompt to its ``done``."""
        self.send("prompt", id=f"p{len(self.frames)}", message=message)
        return self.until("done")

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait(self, patience: float = PATIENCE) -> int:
        """Waits for the end; the exit code. What was still sent is in ``frames``."""
        code = self.process.wait(patience)
        for thread in self._threads:
            thread.join()
        while (frame := self._arrived.get(timeout=PATIENCE)) is not None:
            self.frames.append(frame)
        return code


def call(name: str, **args: object) -> Frame:
    return {"name": name, "args": args}


def types(frames: Iterable[Frame]) -> list[str]:
    """The sequence of types, runs of streamed pieces as one."""
    pieces = {"text_delta", "tool_use_args", "tool_progress"}
    names: list[str] = []
    for frame in frames:
        if frame["type"] not in pieces or names[-1:] != [frame["type"]]:
            names.append(frame["type"])
    return names


def result_texts(frames: Iterable[Frame]) -> list[str]:
    return [
        "".join(block.get("text", "") for block in frame["content"])
        for frame in frames
        if frame["type"] == "tool_result"
    ]


def recorded(name: str) -> list[Frame]:
    """What zot sent in a recording."""
    rows = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    entries = [json.loads(row) for row in rows if row]
    return [entry["line"] for entry in entries if entry["dir"] == "out"]


def recorded_steps(name: str) -> list[Frame]:
    """The steps of a script that does what the model in a recording did."""
    steps: list[Frame] = []
    for frame in recorded(name):
        match frame["type"]:
            case "turn_start":
                steps.append({"text": "", "calls": []})
            case "text_delta":
                steps[-1]["text"] += frame["delta"]
            case "tool_call":
                steps[-1]["calls"].append({"name": frame["name"], "args": frame["args"] or {}})
            case _:
                pass
    return steps


def marked(mark: str) -> list[int]:
    """The live processes that have ``mark`` in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
                command = (entry / "cmdline").read_bytes()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if mark.encode() in command and stat.rpartition(")")[2].split()[0] != "Z":
                found.append(int(entry.name))
    return found
