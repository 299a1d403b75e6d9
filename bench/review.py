"""The review of an agent's edits in a long document that is open in the editor.

By a whole server, from the request to its answer; the editor takes each edit at once. Floors are
diffs of the texts before and after, from strings to hunks, made in this process.

Limits: a list has nothing to compare that was not compared when the edit went in, so it may not
cost more than its diff. An undo and a revert are edits (1.5) that also bring the review up to
date and tell of it, a few comparisons more.
"""

import gc
import json
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from bench.editor import EditingClient, scripted
from bench.measure import Limit, Row, in_turns
from bench.setting import Setting
from bench.texts import long_text
from bench.vscode import Json
from bench.wire import SERVER
from lsp_agent.text.diff import diff
from lsp_agent.text.lines import split_lines

# Of one turn, so many lines apart in the middle of the document.
_HUNKS = 20
_APART = 50
# What the agent makes of these words, in turn.
_WORDS = ("1.5", "2.5")
# Turns that were kept, before the one that waits.
_KEPT = 8


def hunk_list(setting: Setting) -> Row:
    """``agent/edits`` of a document with a turn's hunks to review."""
    with Reviewed(setting, "listed.py", turns=1) as document:
        before = document.text()
        document.take_turn()
        after = document.text()
        floor, ours = in_turns(
            setting.sizes.rounds, lambda: _diffed(before, after, _HUNKS), document.list_hunks
        )
    what = f"list of {_HUNKS} hunks, {document.lines:,} lines, to their diff"
    return Row("hunk_list", what, "ms", floor, ours, Limit(times=1))


def hunk_list_kept(setting: Setting) -> Row:
    """``agent/edits`` of a document of which many edits were kept, to one of which none was."""
    with (
        Reviewed(setting, "fresh.py", turns=1) as fresh,
        Reviewed(setting, "kept.py", turns=_KEPT + 1) as document,
    ):
        for _ in range(_KEPT):
            document.take_turn()
            document.keep()
        for each in (fresh, document):
            each.take_turn()
        floor, ours = in_turns(setting.sizes.rounds, fresh.list_hunks, document.list_hunks)
    what = f"list of {_HUNKS} hunks, {_KEPT} edits kept before, to none"
    return Row("hunk_list_kept", what, "ms", floor, ours, Limit(times=1.5))


def undo(setting: Setting) -> Row:
    """``agent/rejectEdit`` of one hunk of a turn's, and another one each time."""
    with Reviewed(setting, "undone.py", turns=1) as document:
        document.take_turn()
        before = document.text()
        document.undo()
        after = document.text()
        floor, ours = in_turns(
            setting.sizes.rounds, lambda: _diffed(before, after, 1), document.undo
        )
    what = f"undo of a hunk, {document.lines:,} lines, to its diff"
    return Row("undo", what, "ms", floor, ours, Limit(times=4))


def revert(setting: Setting) -> Row:
    """``agent/revert`` of the last turn, each time a new one."""
    rounds = setting.sizes.rounds
    with Reviewed(setting, "reverted.py", turns=rounds + 1) as document:
        before = document.text()
        document.take_turn()
        after = document.text()
        document.revert()

        def reverted() -> float:
            document.take_turn()
            milliseconds = document.revert()
            if document.text() != before:
                raise RuntimeError("the turn was not taken back")
            return milliseconds

        floor, ours = in_turns(rounds, lambda: _diffed(before, after, _HUNKS), reverted)
    what = f"revert of {_HUNKS} hunks, {document.lines:,} lines, to their diff"
    return Row("revert", what, "ms", floor, ours, Limit(times=4))


class Reviewed:
    """A server with the long document, and an agent that can take so many ``turns``. No review of
    a file of that ``name`` is there from before."""

    def __init__(self, setting: Setting, name: str, turns: int) -> None:
        self.lines = setting.sizes.lines
        self._path = setting.folder / name
        self._path.write_text(long_text(self.lines), encoding="ascii")
        script = setting.home / f"{name}.json"
        steps = [step for number in range(turns) for step in self._steps(number)]
        script.write_text(json.dumps({"steps": steps}), encoding="ascii")
        self._params = scripted(setting.folder, script)
        self._client = EditingClient(SERVER, setting.env, setting.folder)
        self._client.seen = self._seen
        self._tool_said: object = None
        self._edit_id = ""
        self._undone = 0

    def __enter__(self) -> Self:
        self._client.__enter__()
        self._client.start(self._params)
        self._client.open(self._path)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self._client.stop()
        self._client.__exit__(kind, error, traceback)

    def text(self) -> str:
        return self._client.text(self._path)

    def take_turn(self) -> None:
        """The agent edits the document; not measured."""
        result = self._client.call("agent/prompt", {"text": "Go on."})
        if [edit["status"] for edit in result["edits"]] != ["applied"]:
            raise RuntimeError(f"the turn's edit is not in: {self._tool_said}")
        self._edit_id = result["edits"][0]["editId"]

    def keep(self) -> None:
        self._client.call("agent/keepAll", {})

    def list_hunks(self) -> float:
        open_ = {"uri": self._path.as_uri(), "open": True}
        result, milliseconds = self._timed("agent/edits", open_)
        if [len(edit["hunks"]) for edit in result["edits"]] != [_HUNKS]:
            raise RuntimeError("hunks are missing")
        return milliseconds

    def undo(self) -> float:
        hunk = {"editId": self._edit_id, "hunks": [str(self._undone)]}
        self._undone += 1
        result, milliseconds = self._timed("agent/rejectEdit", hunk)
        statuses = [hunk["status"] for hunk in result["edit"]["hunks"]]
        if statuses.count("rejected") != self._undone:
            raise RuntimeError(f"hunks are {statuses}")
        return milliseconds

    def revert(self) -> float:
        result, milliseconds = self._timed("agent/revert", {})
        if [file["outcome"] for file in result["files"]] != ["restored"]:
            raise RuntimeError(f"the turn was not taken back: {result}")
        return milliseconds

    def _seen(self, event: Json) -> None:
        if event["type"] == "toolResult":
            self._tool_said = event["content"]

    def _timed(self, method: str, params: Json) -> tuple[Json, float]:
        gc.collect()
        begun = time.perf_counter()
        result = self._client.call(method, params)
        return result, 1000 * (time.perf_counter() - begun)

    def _steps(self, turn: int) -> Sequence[Json]:
        old, new = _WORDS
        first = self.lines // 2 + 1 + turn
        olds = [f"compute({first + _APART * place}, scale={old})" for place in range(_HUNKS)]
        edits = [{"oldText": line, "newText": line.replace(old, new)} for line in olds]
        call = {"name": "edit", "args": {"path": self._path.name, "edits": edits}}
        return [{"text": "I edit.", "calls": [call]}, {"text": "Done."}]


def _diffed(before: str, after: str, hunks: int) -> float:
    gc.collect()
    begun = time.perf_counter()
    found = diff(split_lines(before), split_lines(after))
    milliseconds = 1000 * (time.perf_counter() - begun)
    if len(found) != hunks:
        raise RuntimeError(f"{len(found)} hunks, not {hunks}")
    return milliseconds
