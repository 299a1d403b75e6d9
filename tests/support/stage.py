"""The stage of these tests: a real server, an editor that we play, an agent that fails."""

import contextlib
import json
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from support.raw_client import (
    NO_ANSWER,
    Json,
    RawClient,
    RpcError,
    descendants,
    left_behind,
    wait_until,
)
from support.warm import LSP_AGENT, SERVE

PUPPET = Path(__file__).with_name("puppet_agent.py")
#: The longest that a request may take that a fault ends at once.
BOUND = 8.0
#: One that no fault is in, on a machine that is busy with other tests.
PATIENCE = 60.0
_FOLDERS = ("CONFIG", "DATA", "STATE", "CACHE")
_CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-32"]},
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
    "window": {"workDoneProgress": True},
    "experimental": {"agent": {"events": True, "ask": True, "save": True}},
}
#: Texts of these events are counted and then dropped: a flood is not kept here.
_STREAMS = ("textDelta", "toolProgress")


class Editor(RawClient):
    """An editor with documents: it applies what the server asks for, and keeps their texts.

    ``reads`` pauses it when cleared. ``on_event`` sees each agent event, ``on_apply`` and
    ``on_applied`` are called before and after an edit is carried out, all in the reader's thread.
    """

    def __init__(
        self,
        home: Path,
        *,
        env: dict[str, str] | None = None,
        command: Sequence[str] = SERVE,
        timeout: float = 15.0,
    ) -> None:
        self.home = home
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.streamed = 0
        self.reads = threading.Event()
        self.reads.set()
        self.on_event: Callable[[Json], None] = lambda _event: None
        self.on_apply: Callable[[], None] = lambda: None
        self.on_applied: Callable[[], None] = lambda: None
        self.naps: list[str] = []
        super().__init__(
            command,
            cwd=home,
            env=isolated(home) | (env or {}),
            timeout=timeout,
            warm_start=True,
        )
        self.handlers |= {
            "workspace/applyEdit": self._apply,
            "agent/ask": lambda question: {"optionId": question["options"][0]["optionId"]},
            "agent/saveDocument": lambda _params: {"saved": False},
            "window/workDoneProgress/create": lambda _params: None,
        }

    def start(self, folder: Path, options: Json, *, process_id: int | None = None) -> None:
        self.initialize(
            _CAPABILITIES,
            folders=[folder],
            initializationOptions=options,
            processId=process_id or os.getpid(),
        )

    # Documents

    def open(self, path: Path, text: str) -> str:
        """Opens a file and types: the document then has ``text``, which is not saved."""
        uri = path.as_uri()
        on_disk = path.read_text(encoding="utf-8")
        self.texts[uri], self.versions[uri] = on_disk, 1
        item = {"uri": uri, "languageId": "x", "version": 1, "text": on_disk}
        self.notify("textDocument/didOpen", {"textDocument": item})
        self._changed(uri, text)
        return uri

    def _apply(self, params: Json) -> Json:
        self.on_apply()
        (change,) = params["edit"]["documentChanges"]
        uri = change["textDocument"]["uri"]
        if change["textDocument"]["version"] != self.versions[uri]:
            return {"applied": False}
        text = self.texts[uri]
        for edit in sorted(change["edits"], key=lambda e: _key(e["range"]["start"]), reverse=True):
            start = _offset(text, edit["range"]["start"])
            end = _offset(text, edit["range"]["end"])
            text = text[:start] + edit["newText"] + text[end:]
        self._changed(uri, text)
        self.on_applied()
        return {"applied": True}

    def _changed(self, uri: str, text: str) -> None:
        self.texts[uri] = text
        self.versions[uri] += 1
        self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": uri, "version": self.versions[uri]},
                "contentChanges": [{"text": text}],
            },
        )

    # Prompts

    def prompt(self, text: str, session: str | None = None, **order: object) -> int:
        """Sends a prompt; ``order`` is the puppet's."""
        message = json.dumps(order) if order else text
        return self.request("agent/prompt", {"text": message, "sessionId": session})

    def new_session(self, agent: str | None = None) -> str:
        return self.call("agent/newSession", {"agent": agent})["sessionId"]

    def nap(self) -> str:
        """Arguments for a ``sleep`` that no other process has."""
        nap = f"{3000 + len(self.naps)}.{uuid.uuid4().int % 10**9:09}"
        self.naps.append(nap)
        return nap

    # What happened

    def events(self, **wanted: object) -> list[Json]:
        return [
            event
            for event in self.received("agent/event")
            if all(event.get(key) == value for key, value in wanted.items())
        ]

    def event(self, timeout: float | None = None, **wanted: object) -> Json:
        return self.notification("agent/event", timeout, **wanted)

    def check_turn(self, turn: str) -> Json:
        """The one ``turnEnded`` of a turn; its calls are closed, its events have no gap."""
        ended = self.event(turnId=turn, type="turnEnded")
        session = ended["sessionId"]
        mine = self.events(turnId=turn)
        assert [event["type"] for event in mine].count("turnEnded") == 1
        calls = [event["toolCallId"] for event in mine if event["type"] == "toolCall"]
        results = [event["toolCallId"] for event in mine if event["type"] == "toolResult"]
        started = [event["toolCallId"] for event in mine if event["type"] == "toolCallStarted"]
        assert sorted(results) == sorted(set(started) | set(calls))
        assert len(calls) == len(set(calls))
        after = mine[mine.index(ended) + 1 :]
        assert {event["type"] for event in after} <= {"notice", "editApplied", "editUnknown"}
        numbers = [event["seq"] for event in self.events(sessionId=session)]
        assert numbers == list(range(1, len(numbers) + 1))
        return ended

    def failure(self, request: int, kind: str, timeout: float = BOUND) -> RpcError:
        """The error of a prompt: -32803 of that kind, its turn well ended."""
        with pytest.raises(RpcError) as caught:
            self.result(request, timeout)
        error = caught.value
        assert (error.code, error.data["kind"]) == (-32803, kind), (error, error.data)
        ended = self.check_turn(error.data["turn"]["turnId"])
        assert (ended["stopReason"], ended["error"]) == ("error", error.message)
        return error

    def answered(self, request: int, stop_reason: str = "endTurn", timeout: float = BOUND) -> Json:
        """The result of a prompt that ended so."""
        result = self.result(request, timeout)
        assert result["stopReason"] == stop_reason, result
        assert self.check_turn(result["turnId"])["stopReason"] == stop_reason
        return result

    def works(self, session: str | None = None, text: str = '{"at": null}') -> Json:
        """The state can be asked for and another prompt works, to its end."""
        assert wait_until(
            lambda: self.call("agent/state", {"sessionId": session})["busy"] is False, 2
        )
        return self.answered(self.prompt(text, session), timeout=PATIENCE)

    # Memory and streams

    def _incoming(self) -> Iterator[Json]:
        for message in super()._incoming():
            self.reads.wait()
            if message.get("method") == "agent/event":
                event = message["params"]
                if event["type"] in _STREAMS and len(event["text"]) > 1_000:
                    self.streamed += len(event["text"])
                    event["text"] = event["text"][:100]
                self.on_event(event)
            yield message

    # Processes

    def agents(self) -> list[int]:
        """The supervisors below the server."""
        return [
            pid
            for pid in descendants(self.process.pid)
            if b"guard/" in cmdline(pid) and b"supervise" in cmdline(pid)
        ]

    def find(self, word: str) -> int:
        """The one process below the server with ``word`` in its command line."""
        found: list[int] = []

        def look() -> bool:
            found[:] = [
                pid for pid in descendants(self.process.pid) if word.encode() in cmdline(pid)
            ]
            return bool(found)

        assert wait_until(look), f"no process with {word}"
        return found[-1]

    def agent_pid(self) -> int:
        """The agent itself: the supervisor's child."""
        (supervisor,) = self.agents()
        children = [pid for pid in descendants(supervisor) if parent(pid) == supervisor]
        return children[0]

    def left(self) -> list[str]:
        """All that is still there of this server, or sleeps for it."""
        pids = {pid for pid in left_behind(self.mark) if pid != self.process.pid}
        naps = [nap.encode() for nap in self.naps]
        for folder in Path("/proc").glob("[0-9]*"):
            line = cmdline(int(folder.name))
            if line.startswith(b"sleep\0") and any(nap in line for nap in naps):
                pids.add(int(folder.name))
        return [f"{pid}: {cmdline(pid).replace(bytes(1), b' ').decode()}" for pid in sorted(pids)]

    def nothing_left(self, seconds: float = 5.0) -> None:
        """All is gone, the server too."""
        wait_until(lambda: self.process.poll() is not None and not self.left(), seconds)
        assert self.process.poll() is not None, "the server runs on"
        assert self.left() == []

    def end(self) -> None:
        """Shuts down as editors do; then nothing is left."""
        assert self.shut_down() == 0
        self.nothing_left()

    def kill(self) -> None:
        self.reads.set()
        left = self.left() if self.naps else []
        super().kill()
        for line in left:
            signal_process(int(line.partition(":")[0]), signal.SIGKILL)


def isolated(home: Path) -> dict[str, str]:
    """This environment, with every folder of the user's below ``home``."""
    folders = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in _FOLDERS}
    return dict(os.environ) | folders | {"HOME": str(home)}


def puppet(start_file: Path) -> Json:
    """The settings of an agent that is the puppet."""
    return {"wire": "zot", "command": [sys.executable, "-S", "-E", str(PUPPET), str(start_file)]}


def embedded(script: Path) -> Json:
    """The settings of the embedded agent on its script provider."""
    command = [*LSP_AGENT, "rpc", "--script", str(script)]
    return {"wire": "zot", "command": command, "provider": "script"}


def cmdline(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def signal_process(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def within(seconds: float, since: float) -> None:
    """Of what a limit or another try would have brought later: not how fast a busy machine is."""
    took = time.monotonic() - since
    assert took < seconds, f"took {took:.2f} s"


def _key(position: Json) -> tuple[int, int]:
    return position["line"], position["character"]


def _offset(text: str, position: Json) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: position["line"]])) + position["character"]


__all__ = ["NO_ANSWER", "Editor", "RpcError", "embedded", "isolated", "puppet", "within"]
