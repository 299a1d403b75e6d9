"""A real server, an editor at it, and the agents that it starts; used for many runs.

Only what each run has of its own is in ``world.py``: a folder of files, and turns.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.warm import SERVE

from provenance.hub import Hub, Json, Late, Seats, Server

PUPPET = Path(__file__).with_name("puppet.py")
AGENTS = 3
SEATS = [f"{kind}{n}" for n in range(1, AGENTS + 1) for kind in ("hosted", "mirror")]
#: What an editor can do beyond the standard, by its kind; the "prompt" one reads at once what
#: an agent has written, where nothing is unsaved.
EDITORS: dict[str, Json] = {
    "plain": {"events": True, "sync": True},
    "full": {"events": True, "sync": True, "save": True, "reload": True},
    "bare": {"events": True},
    "prompt": {"events": True, "sync": True},
}
CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
}


class Desk:
    #: In seconds, how long the server may take to look at what an agent has written: on a busy
    #: machine longer than it waits.
    looks_within = 0.5

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.hub = Hub()
        fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.base = Path(tempfile.mkdtemp(prefix="la-", dir=fast))
        self.folder = self.base / "work"
        self.folder.mkdir()
        self._seats = Seats(self.hub, self.base / "seats")
        #: Of the run that is on: what takes the server's edits and its questions.
        self.editor: Any = None
        self.ended_turns: set[str] = set()
        self.results: set[str] = set()
        #: By seat (``hosted1``), its session in the server that runs.
        self.sessions: dict[str, str] = {}
        self._calls = 0
        try:
            self.start()
        except BaseException:
            self._tidy()
            raise

    # -- the server

    def start(self) -> None:
        self.sessions.clear()
        env = os.environ | self.folders()
        server = self.server = Server(self.hub, SERVE, self.base, env)
        server.handlers = {
            "workspace/applyEdit": self._asked("take_edit"),
            "agent/event": self.event,
            "agent/saveDocument": self._asked("asked_to_save"),
            "agent/reloadDocument": self._asked("asked_to_reload"),
            "agent/sync": lambda _: {},
            "window/workDoneProgress/create": lambda _: None,
        }
        server.call(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": None,
                "capabilities": CAPABILITIES | {"experimental": {"agent": EDITORS[self.kind]}},
                "workspaceFolders": [{"uri": self.folder.as_uri(), "name": "work"}],
                "initializationOptions": {"agent": "hosted1", "agents": self.agents()},
            },
        )
        server.notify("initialized")

    def _asked(self, name: str) -> Callable[[Json], Any]:
        """Of the editor of the run that is on by then."""

        def handler(params: Json) -> Any:
            return getattr(self.editor, name)(params)

        return handler

    def folders(self) -> dict[str, str]:
        """A person's own, in the server's environment."""
        kinds = ("CONFIG", "DATA", "STATE", "CACHE")
        own = {f"XDG_{kind}_HOME": str(self.base / kind.lower()) for kind in kinds}
        return own | {"HOME": str(self.base / "home"), "XDG_RUNTIME_DIR": str(self.base)}

    def agents(self) -> Json:
        return {
            seat: {
                "wire": "zot",
                "command": self._puppet(seat),
                "provider": "puppet",
                "hosting": seat[:-1],
            }
            for seat in SEATS
        }

    def _puppet(self, name: str) -> list[str]:
        return [sys.executable, "-I", "-S", str(PUPPET), str(self.base / "seats"), name]

    def stop(self, *, kill: bool) -> None:
        if kill:
            self.server.kill()
        else:
            self.server.shut_down()
        self._seats.all_gone()

    def close(self) -> None:
        self.server.kill()
        self._tidy()

    def _tidy(self) -> None:
        self._seats.close()
        self.hub.close()
        shutil.rmtree(self.base, ignore_errors=True)

    def barrier(self) -> None:
        """Returns when the server has heard all that it was told."""
        self.server.call("agent/sessions")

    # -- the agents

    def session(self, seat: str) -> str:
        """The session of that agent, a new one where there is none."""
        if seat not in self.sessions:
            made = self.server.call("agent/newSession", {"agent": seat})
            self.sessions[seat] = made["sessionId"]
        return self.sessions[seat]

    def begin_turn(self, seat: str) -> tuple[str, str]:
        """The turn's id, and the prompt that the agent received."""
        params = {"sessionId": self.sessions[seat], "text": "go on"}
        started = self.server.call(
            "workspace/executeCommand", {"command": "lspAgent.prompt", "arguments": [params]}
        )
        prompt = self._seats.wait_for(seat).next("prompt")["prompt"]
        return started["turnId"], prompt

    def end_turn(self, seat: str, turn: str) -> None:
        self._seats.wait_for(seat).order(end=True)
        self._seats.wait_for(seat).next("ended")
        self.hub.until(lambda: turn in self.ended_turns, "a turn's end")

    def call(self, seat: str, tool: str, args: Json) -> tuple[str, bool]:
        """A call and its result, as the agent received it; whether it is an error."""
        identifier = self.send_call(seat, tool, args)
        return self.call_result(seat, identifier)

    def send_call(self, seat: str, tool: str, args: Json) -> str:
        self._calls += 1
        identifier = f"c{self._calls}"
        self._seats.wait_for(seat).order(id=identifier, tool=tool, args=args)
        return identifier

    def call_result(self, seat: str, identifier: str) -> tuple[str, bool]:
        answer = self._seats.wait_for(seat).next("result")
        self.hub.until(lambda: identifier in self.results, "a toolResult event")
        return answer["result"], answer["is_error"]

    def event(self, event: Json) -> None:
        if event["type"] == "turnEnded":
            self.ended_turns.add(event["turnId"])
        elif event["type"] == "toolResult":
            self.results.add(event["toolCallId"])


class Desks:
    """Desks that runs share; one that did not end well is not used again. Those that are started
    again have few runs: each of them is looked through at the next start."""

    MOST_RUNS = 100
    MOST_RESTARTS = 10

    def __init__(self) -> None:
        #: By their kind, and whether they are started again.
        self._desks: dict[tuple[str, bool], tuple[Desk, int]] = {}

    def used(self, work: Callable[[Desk], Any], *, kind: str, restarts: bool) -> Any:
        of = kind, restarts
        desk, runs = self._desks.pop(of, (None, 0))
        if desk is not None and runs >= (self.MOST_RESTARTS if restarts else self.MOST_RUNS):
            desk.close()
            desk, runs = None, 0
        desk = desk or Desk(kind)
        try:
            done = work(desk)
        except (Late, OSError):
            desk.close()
            raise
        self._desks[of] = desk, runs + 1
        return done

    def close(self) -> None:
        for desk, _ in self._desks.values():
            desk.close()
        self._desks.clear()
