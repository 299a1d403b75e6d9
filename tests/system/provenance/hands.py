"""The same person at a real editor: what it holds is read from it, its undo is its own, and what it
says to the server goes by ``tap.py``, through which the agents and the review are asked for.

An editor has one of the classes of ``tests/editors/*/*_hands.py``, an ``App``.
"""

import os
import shlex
import socket
import stat
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from provenance.desk import SERVE, Desk
from provenance.editor import File
from provenance.hub import Hub, Json, Late, Peer
from provenance.many import Tally, between, fewest
from provenance.oracle import is_agents, words
from provenance.person import Buffer, change
from provenance.storm import Outcome, made, one_run
from provenance.world import Step, World

TAP = Path(__file__).with_name("tap.py")
#: Of an editor's start and the server's, in seconds.
_START = 90.0
#: How long an editor may take to show what is on disk: so often, so many seconds apart.
_LOOKS, _BETWEEN_LOOKS = 500, 0.02

#: A text that a document has been, and whether it was unsaved then.
Shown = tuple[str, bool]


class App(ABC):
    """A real editor. Paths are those of files that it has open."""

    #: Parts of steps that it has no way to do, and why.
    CANNOT: ClassVar[Mapping[str, str]]

    @abstractmethod
    def open(self, path: Path) -> None:
        """Shows the file; from now on its texts are noted."""

    @abstractmethod
    def close(self, path: Path) -> None:
        """Gives up what is unsaved."""

    @abstractmethod
    def change(self, path: Path, before: str, after: str, told: Json) -> bool:
        """What a person's keys make of the text, as one step of undo; ``told`` as LSP has it.
        False where the text was not ``before`` any more."""

    @abstractmethod
    def undo(self, path: Path, before: str, *, redo: bool) -> bool:
        """False where the text was not ``before`` any more."""

    @abstractmethod
    def save(self, path: Path) -> bool:
        """Whether it has done so."""

    @abstractmethod
    def reload(self, path: Path) -> None:
        """Takes in what another program has written; nothing is unsaved."""

    @abstractmethod
    def shown(self, path: Path) -> list[Shown]:
        """The texts since this was asked last, in order."""

    @abstractmethod
    def is_dirty(self, path: Path) -> bool: ...

    @abstractmethod
    def flush(self) -> None:
        """Has it tell the server of all changes so far."""


class Tapped(Peer):
    """The server of a real editor, which hears what the editor holds back before it is asked."""

    def __init__(self, hub: Hub, connection: socket.socket) -> None:
        self._connection = connection
        self.flush: Callable[[], None] = lambda: None
        super().__init__(hub, connection.fileno(), connection.fileno())

    def call(self, method: str, params: Any = None) -> Any:
        self.flush()
        return super().call(method, params)

    def close(self) -> None:
        super().close()
        self._connection.close()


class RealDesk(Desk):
    """``launch`` starts an editor on the desk's folder, with the program and settings given."""

    app: App

    def __init__(self, launch: Callable[["RealDesk", Path, Json], App]) -> None:
        self._launch = launch
        super().__init__("real")

    def start(self) -> None:
        (self.folder / ".git").mkdir()  # which makes it a workspace folder
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.base / "tap"))
            listener.listen()
            listener.settimeout(_START)
            settings: Json = {"agent": "hosted1", "agents": self.agents()}
            self.app = self._launch(self, self._program(), settings)
            connection, _ = listener.accept()
        self.server = Tapped(self.hub, connection)
        ready: list[bool] = []
        self.server.handlers = {
            "tap/ready": lambda _: ready.append(True),
            "agent/event": self.event,
        }
        self.hub.until(lambda: ready, "the editor's initialized", _START)
        self.server.flush = self.app.flush

    def _program(self) -> Path:
        """What the editor starts as its server."""
        program = self.base / "lsp-agent"
        tap = [sys.executable, "-I", "-S", str(TAP), str(self.base / "tap"), *SERVE[:-1]]
        lines = [f"export {name}={shlex.quote(at)}" for name, at in self.folders().items()]
        program.write_text("\n".join(["#!/bin/sh", *lines, f'exec {shlex.join(tap)} "$@"\n']))
        program.chmod(stat.S_IRWXU)
        return program

    def close(self) -> None:
        """Before the editor is ended: nothing is asked of a server that is to go with it."""
        self.server.notify("tap/kill")
        self.server.close()
        self._tidy()


class RealBuffer(Buffer):
    """The states that belong to the real undo stack; whether it is unsaved the editor says."""

    app: App

    @property
    def dirty(self) -> bool:
        return self.app.is_dirty(self.path)


@dataclass
class RealWorld(World):
    """Overrides where the modelled editor does something or tells of it. Whatever a document was
    made that the person has not typed, the server or a reload did."""

    #: Changes that the person and the agents have made.
    edits_made: int = 0

    @property
    def app(self) -> App:
        return cast(RealDesk, self.desk).app

    def now(self, file: File) -> Any:
        self._catch_up(file)
        return super().now(file)

    def _tell(self, name: str, params: Json | None) -> None:
        """Nothing: the editor tells of its documents by itself."""

    def _catch_up(self, file: File) -> None:
        if file.buffer is not None:
            self._take(file, file.buffer, self.app.shown(file.path))

    def _take(self, file: File, buffer: Buffer, shown: list[Shown]) -> None:
        for text, is_dirty in shown:
            if text == buffer.text:
                continue
            if not is_dirty:
                super()._look_at_disk(file)
            if not is_dirty and text == file.state.text:  # read again, and judged as it was written
                buffer.disk = text
                buffer.step(file.state)
            else:
                buffer.step(self.oracle.server_changed(file.name, buffer.state, text, self.cause))

    def _look_at_disk(self, file: File) -> None:
        self._catch_up(file)
        buffer = file.buffer
        if buffer is not None and file.path.read_bytes().decode() == buffer.text:  # saved, or read
            file.state, buffer.disk = buffer.state, buffer.text
        else:
            super()._look_at_disk(file)

    # -- the person's steps

    def open(self, number: int) -> None:
        file = self._file(number)
        if file.buffer is not None:
            return
        super()._look_at_disk(file)
        self.app.open(file.path)
        buffer = RealBuffer(file.path.as_uri(), file.path, file.state, file.state.text)
        buffer.app = self.app
        file.buffer = buffer
        self._catch_up(file)

    def close(self, number: int, keep: int = 0) -> None:
        file = self._file(number)
        if file.buffer is None:
            return
        self._look_at_disk(file)
        self.app.close(file.path)
        super().close(number)

    def undo(self, number: int, *, redo: bool = False) -> None:
        file = self._file(number)
        if file.buffer is None:
            return
        self._catch_up(file)
        buffer, before = file.buffer, file.buffer.text
        if not self.app.undo(file.path, before, redo=redo):
            self._left_out(file)
            return
        super().undo(number, redo=redo)
        shown = self.app.shown(file.path)
        text = shown[0][0] if shown else before
        if text != buffer.text:
            wanted = f"{text!r}, and a step was {buffer.text!r}"
            self.oracle.say("undone", f"{file.name} is {wanted}: {self.cause}")
        self._take(file, buffer, shown)

    def _typed(self, file: File, text: str) -> None:
        buffer = file.buffer
        assert buffer is not None
        told = change(buffer.text, text)
        if text != buffer.text and not self.app.change(file.path, buffer.text, text, told):
            self._left_out(file)
            return
        super()._typed(file, text)
        self.edits_made += 1
        self._catch_up(file)

    def _left_out(self, file: File) -> None:
        """A step that met what the server did just then."""
        self.log.append("  left out: the text had changed")
        self._catch_up(file)

    def _call(self, agent: str, tool: str, file: File, args: Json) -> tuple[str, bool]:
        result = super()._call(agent, tool, file, args)
        if agent in self.mirror:
            self._settle(file)
        return result

    def _settle(self, file: File) -> None:
        """What was written by others is shown by an editor with nothing unsaved, and told of in
        the review of one that has, a moment later."""
        buffer = file.buffer
        for _ in range(_LOOKS):
            self._look_at_disk(file)
            if buffer is None or buffer.text == file.state.text:
                return
            if buffer.dirty and not self._untold(file):
                return
            self.desk.hub.rest(_BETWEEN_LOOKS)
        if not buffer.dirty:
            self.oracle.say("reloaded", f"{file.name} is not as it is shown: {self.cause}")

    def _untold(self, file: File) -> set[str]:
        """The agents' words on disk that are in no hunk, whatever has become of it."""
        told = {word for _, _, new in self.hunks(file) for word in words(new)}
        return {word for word in words(file.state.text) if is_agents(word)} - told

    def _change(self, *arguments: Any) -> tuple[str, bool]:
        result, is_error = super()._change(*arguments)
        self.edits_made += not is_error
        return result, is_error

    def _saved_unless_newer(self, file: File) -> bool:
        buffer = file.buffer
        assert buffer is not None
        self._look_at_disk(file)
        if file.state.text != buffer.disk or not self.app.save(file.path):
            return False
        if file.path.read_bytes().decode() != buffer.text:
            self.oracle.say("saved", f"{file.name} on disk is not what its editor shows")
        file.state, buffer.disk = buffer.state, buffer.text
        return True

    def _reload(self, file: File) -> None:
        assert file.buffer is not None
        self.app.reload(file.path)
        self._catch_up(file)
        if file.buffer.text != file.state.text:
            self.oracle.say("reloaded", f"{file.name} in its editor is not what is on disk")


# -- runs


def run(desk: RealDesk, setup: Json, steps: list[Step]) -> Outcome:
    try:
        return one_run(desk, setup, possible(desk.app, steps), RealWorld)
    except Late as late:
        return Outcome([("late", str(late))])


def possible(app: App, steps: list[Step]) -> list[Step]:
    """Without what the editor cannot do."""
    return [
        ["close", step[1], 0] if step[0] == "close" and "hot exit" in app.CANNOT else step
        for step in steps
        if step[0] not in app.CANNOT
    ]


def batch(desk: RealDesk, edits: int) -> None:
    """Seeds from 0 on, until so many edits were made. Fails for those that go wrong."""
    tally, edits_made = Tally(), 0
    for seed in count():
        tally.add(seed, run(desk, *made(seed)))
        edits_made += desk.editor.edits_made
        if edits_made >= edits or tally.failed.get(seed) == "late":
            break
    came = f"{edits_made} edits; {tally}"
    print(came)
    if tally.failed:
        failed = [f"seed {seed}: {kind}" for seed, kind in tally.failed.items()]
        first = next(iter(tally.failed))
        pytest.fail(between([came, *failed], [least(desk, first, tally.outcomes[first])]))


def one_seed(desk: RealDesk) -> None:
    """The run of the seed that STORM_SEED names; its steps, and the fewest if it goes wrong."""
    seed = int(os.environ.get("STORM_SEED", "0"))
    outcome = run(desk, *made(seed))
    print("\n".join(outcome.log))
    if outcome.wrongs:
        pytest.fail(least(desk, seed, outcome))


def least(desk: RealDesk, seed: int, first: Outcome) -> str:
    """The run of that seed with the fewest steps."""
    setup, steps = made(seed)
    return fewest(seed, first, (setup, possible(desk.app, steps)), lambda *it: run(desk, *it))
