"""What a person does with the agent's changes while typing: looks at them, undoes some, keeps
some, takes turns back; nothing is waited for at the keyboard."""

import random
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from support.neovim import Json
from support.neovim_desk import Desk

#: A decision in small steps: asks for the answer of each request that it yields.
Steps = Generator[int, Json, None]


@dataclass
class Reviewer:
    """Decides on a hunk now and then, by request, by command or by code action. ``act`` goes as
    far as it can without waiting."""

    desk: Desk
    rng: random.Random
    #: How likely a decision is begun at a key.
    eager: float = 0.15
    undone: int = 0
    kept: int = 0
    said: Counter[str] = field(default_factory=Counter)
    #: Ranges that were compared with the shown text, and what was wrong with some.
    compared: int = 0
    wrong: list[str] = field(default_factory=list)
    _running: Steps | None = None
    _awaited: int = 0

    @property
    def busy(self) -> bool:
        return self._running is not None

    def act(self) -> None:
        if self.desk.nvim.mode() == "blocked":  # at a prompt nothing is answered
            return
        if self._running is None:
            if self.rng.random() < self.eager:
                self._running = self._decide()
                self._awaited = next(self._running)
            return
        answer = self.desk.answer(self._awaited)
        if answer is not None:
            try:
                self._awaited = self._running.send(answer)
            except StopIteration:
                self._running = None

    def _decide(self) -> Steps:
        listed = yield self.desk.send("agent/edits", uri=self.desk.uri())
        edits = listed["result"]["edits"]
        if listed.get("lines") is not None:
            self._compare(edits, listed["lines"])
        hunks = [(e["editId"], h) for e in edits for h in e["hunks"] if h["status"] == "applied"]
        if not hunks:
            return
        edit_id, hunk = self.rng.choice(hunks)
        undo = self.rng.random() < 0.6
        method = "rejectEdit" if undo else "keepEdit"
        argument = {"editId": edit_id, "hunks": [hunk["hunkId"]]}
        way = self.rng.choice(("request", "command", "action"))
        if way == "action":
            title = "Undo" if undo else "Keep"
            offered = yield self.desk.send(
                "textDocument/codeAction",
                textDocument={"uri": self.desk.uri()},
                range=hunk["range"],
                context={"diagnostics": []},
            )
            command = action_for(offered["result"], title, argument)
            if command is None:  # decided or taken over meanwhile
                self.said["gone before it was decided"] += 1
                return
            answer = yield self.desk.send("workspace/executeCommand", **command)
        elif way == "command":
            command = {"command": f"lspAgent.{method}", "arguments": [argument]}
            answer = yield self.desk.send("workspace/executeCommand", **command)
        else:
            answer = yield self.desk.send(f"agent/{method}", **argument)
        self._note(answer, hunk["hunkId"], undo=undo)

    def _note(self, answer: Json, hunk_id: str, *, undo: bool) -> None:
        if answer.get("err") is not None:
            kind = (answer["err"].get("data") or {}).get("kind", "")
            self.said[kind] += 1
            if kind != "conflict":
                self.wrong.append(f"{answer['err']}")
            return
        statuses = {h["hunkId"]: h["status"] for h in answer["result"]["edit"]["hunks"]}
        status = statuses.get(hunk_id, answer["result"]["edit"]["status"])
        if status == ("rejected" if undo else "kept"):
            self.undone += undo
            self.kept += not undo
        else:
            self.said[f"{status} before it was decided"] += 1

    def _compare(self, edits: list[Json], lines: list[str]) -> None:
        """The ranges of the hunks that are in are in the text that is shown."""
        for each in edits:
            for hunk in each["hunks"]:
                if hunk["status"] == "applied":
                    self.compared += 1
                    there = lines_of(hunk, lines)
                    if there != hunk["newText"]:
                        text = f"hunk {hunk}: there is {there!r}"
                        self.wrong.append(text)


def lines_of(hunk: Json, lines: Sequence[str]) -> str:
    """What a text has at a hunk's range, which is of whole lines."""
    start, end = hunk["range"]["start"], hunk["range"]["end"]
    assert start["character"] == end["character"] == 0, hunk
    return "".join(f"{line}\n" for line in lines[start["line"] : end["line"]])


def action_for(actions: list[Json], title: str, argument: Json) -> Json | None:
    """The command of the code action that does this to the hunk."""
    for action in actions:
        command = action["command"]
        if action["title"].startswith(title) and command["arguments"] == [argument]:
            return {"command": command["command"], "arguments": command["arguments"]}
    return None
