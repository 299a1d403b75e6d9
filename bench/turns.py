"""What a server's memory is after many turns."""

import json

from bench.editor import EditingClient, scripted
from bench.measure import Limit, Row, resident
from bench.setting import Setting
from bench.texts import long_text
from bench.vscode import Json
from bench.wire import SERVER

_LINES = 2_000
#: Has glibc give freed buffers of 128 kB and more back to the system. Else the first of them raises
#: that size, and the heap grows once by some MB that nobody holds.
_HELD = {"MALLOC_MMAP_THRESHOLD_": "131072"}
_WORDS = "some words as a model would say them " * 10


def turns_memory(setting: Setting) -> Row:
    """Each turn talks, reads the open document, edits a line of it and runs a command; nobody
    reviews. The floor is the same server after a fifth of the turns."""
    turns = setting.sizes.turns
    figures = Turns(setting, turns).resident_after([turns // 5, turns])
    what = f"memory at turn {turns:,}, to turn {turns // 5:,}"
    return Row("turns_memory", what, "MB", figures[0], figures[1], Limit(times=1.05))


class Turns:
    """The script is as long as it must be; a prompt goes on with the next steps."""

    def __init__(self, setting: Setting, count: int) -> None:
        self._setting = setting
        self._path = setting.folder / "turns.py"
        self._path.write_text(long_text(_LINES), encoding="ascii")
        self._script = setting.home / "turns.json"
        steps = [step for turn in range(count) for step in _steps(turn, self._path.name)]
        self._script.write_text(json.dumps({"steps": steps}), encoding="ascii")

    def resident_after(self, marks: list[int]) -> list[float]:
        """The server's resident set in MB when so many turns are done, ascending."""
        figures: list[float] = []
        with EditingClient(SERVER, self._setting.env | _HELD, self._setting.folder) as client:
            client.start(scripted(self._setting.folder, self._script))
            client.open(self._path)
            for turn in range(marks[-1]):
                result = client.call("agent/prompt", {"text": f"Turn {turn}, please."})
                if result["stopReason"] != "endTurn" or len(result["edits"]) != 1:
                    raise RuntimeError(f"turn {turn}: {result}")
                if turn + 1 == marks[len(figures)]:
                    figures.append(resident(client.process.pid))
            if client.text(self._path).count("scale=2.5") != marks[-1]:
                raise RuntimeError("edits were lost")
            client.stop()
        return figures


def _steps(turn: int, name: str) -> list[Json]:
    number = turn + turn // 9 + 1  # every tenth line is blank
    old = f"compute({number}, scale=1.5)"
    change = {"oldText": old, "newText": old.replace("1.5", "2.5")}
    return [
        {"text": _WORDS, "calls": [_call("read", path=name, limit=200)]},
        {"text": "Then.", "calls": [_call("edit", path=name, edits=[change])]},
        {"text": "And.", "calls": [_call("bash", command="echo done")]},
        {"text": _WORDS},
    ]


def _call(name: str, **args: object) -> Json:
    return {"name": name, "args": args}
