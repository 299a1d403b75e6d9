"""One run: its files, the person's buffers, the agents' minds, and the steps that change them.

A step is a list: a name and numbers. Numbers mean "the n-th of what there is", counted round, so
that every part of a list of steps is a run as well; what cannot be done is left out.
"""

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from provenance.agent import Mind, Work
from provenance.desk import AGENTS, Desk
from provenance.hub import Json, Refused
from provenance.oracle import Oracle, State, is_agents, words
from provenance.person import Buffer, edited

Step = list[Any]
Hunks = list[tuple[str, str, str]]

WORKS = ("add", "front", "swap", "cut", "line")


@dataclass
class File:
    """``state`` is what is on disk, ``hot`` the unsaved text that a closed editor has kept."""

    name: str
    path: Path
    state: State
    buffer: Buffer | None = None
    hot: Buffer | None = None


@dataclass
class Turn:
    session: str
    turn_id: str
    owner: str


@dataclass
class World:
    desk: Desk
    folder: Path
    files: list[File]
    oracle: Oracle
    minds: dict[str, Mind]
    mirror: frozenset[str]
    open_turns: dict[str, Turn] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    reverts: list[str] = field(default_factory=list)
    cause: str = ""
    log: list[str] = field(default_factory=list)
    _words: int = 0

    @classmethod
    def laid_out(cls, desk: Desk, number: int, setup: Json) -> "World":
        """``setup``: how many ``files`` of how many ``lines``, and which agents are ``mirror``."""
        folder = desk.folder / f"r{number}"
        folder.mkdir()
        oracle = Oracle()
        files: list[File] = []
        start = 0
        for name in "ab"[: setup.get("files", 1)]:
            lines: list[str] = []
            for _ in range(setup.get("lines", 12)):
                lines.append(f" s{start} s{start + 1}\n")
                start += 2
            path = folder / f"{name}.txt"
            path.write_text("".join(lines))
            files.append(File(f"{name}.txt", path, State.start("".join(lines))))
            oracle.born(words(files[-1].state.text))
            oracle.seen(files[-1].name, files[-1].state.text)
        minds = {f"a{n}": Mind(f"a{n}") for n in range(1, AGENTS + 1)}
        mirror = frozenset(f"a{n}" for n in setup.get("mirror", ()))
        world = cls(desk, folder, files, oracle, minds, mirror)
        desk.editor = world
        for agent in minds:
            if agent in desk.sessions and (agent in desk.mirror) == (agent in mirror):
                desk.server.call("agent/clear", {"sessionId": desk.sessions[agent]})
        return world

    # -- what the person sees

    def now(self, file: File) -> State:
        return file.buffer.state if file.buffer else file.state

    def say(self, what: str) -> None:
        texts = " ; ".join(
            f"{file.name}{'' if file.buffer else ' (closed)'} {self.now(file).text!r}"
            for file in self.files
        )
        self.log.append(f"{what}\n    {texts}")

    def word(self) -> str:
        """A new word of the person's; every third is not of the plane that UTF-16 counts as one."""
        self._words += 1
        new = f"p{self._words}" + ("😀é" if self._words % 3 == 0 else "")
        self.oracle.born([new])
        return new

    def _file(self, number: int) -> File:
        return self.files[number % len(self.files)]

    def _typed(self, file: File, text: str) -> None:
        """The person makes the open document this text, as one step."""
        buffer = file.buffer
        assert buffer is not None
        before = buffer.state
        self._tell(buffer.step(before.written(text)))
        self.oracle.touched(file.name, "p", before.text, text)
        self.oracle.seen(file.name, text)

    def _tell(self, changed: Json | None) -> None:
        if changed is not None:
            self.desk.server.notify("textDocument/didChange", changed)

    # -- the server's requests

    def take_edit(self, params: Json) -> Json:
        (of_document,) = params["edit"]["documentChanges"]
        item = of_document["textDocument"]
        file = self._shown(item["uri"])
        if file is None or file.buffer is None or file.buffer.version != item["version"]:
            return {"applied": False, "failureReason": "another version"}
        before = file.buffer.state
        after = edited(before.text, of_document["edits"])
        state = self.oracle.server_changed(file.name, before, after, self.cause)
        self._tell(file.buffer.step(state))
        return {"applied": True}

    def asked_to_save(self, params: Json) -> Json:
        file = self._shown(params["uri"])
        if file is None or file.buffer is None:
            return {"saved": False}
        self._save(file)
        return {"saved": True}

    def asked_to_reload(self, params: Json) -> Json:
        file = self._shown(params["uri"])
        if file is None or file.buffer is None or file.buffer.dirty:
            return {"reloaded": False}
        self._look_at_disk(file)
        self._reload(file)
        return {"reloaded": True}

    def _shown(self, uri: str) -> File | None:
        return next((f for f in self.files if f.buffer and f.buffer.uri == uri), None)

    def _save(self, file: File) -> None:
        buffer = file.buffer
        assert buffer is not None
        file.path.write_bytes(buffer.text.encode())
        file.state = buffer.state
        buffer.disk = buffer.text
        self.desk.server.notify("textDocument/didSave", {"textDocument": {"uri": buffer.uri}})

    def _reload(self, file: File) -> None:
        """The editor shows what is on disk, as one step that can be undone."""
        buffer = file.buffer
        assert buffer is not None
        buffer.disk = file.state.text
        self._tell(buffer.step(file.state))

    def _look_at_disk(self, file: File) -> None:
        """What somebody made of the file, where that was not the person."""
        text = file.path.read_bytes().decode() if file.path.exists() else ""
        if text != file.state.text:
            file.state = self.oracle.server_changed(file.name, file.state, text, self.cause)

    # -- the person's steps

    def open(self, number: int) -> None:
        file = self._file(number)
        if file.buffer is not None:
            return
        if file.hot is not None:
            buffer, file.hot = file.hot, None
            buffer.version, buffer.done, buffer.undone = 1, [], []
        else:
            buffer = Buffer(file.path.as_uri(), file.path, file.state, file.state.text)
        file.buffer = buffer
        item = {
            "uri": buffer.uri,
            "languageId": "text",
            "version": buffer.version,
            "text": buffer.text,
        }
        self.desk.server.notify("textDocument/didOpen", {"textDocument": item})

    def close(self, number: int, keep: int = 0) -> None:
        """``keep``: the editor keeps what is unsaved and shows it at the next opening."""
        file = self._file(number)
        buffer = file.buffer
        if buffer is None:
            return
        file.buffer = None
        if keep and buffer.dirty:
            file.hot = buffer
        else:  # the person gives up what was not saved, and what was undone in it
            file.state = buffer.state.back_to(file.state)
        item = {"uri": buffer.uri}
        self.desk.server.notify("textDocument/didClose", {"textDocument": item})

    def type(self, number: int, line: int, gap: int) -> None:
        file = self._file(number)
        if file.buffer is None:
            return
        lines = file.buffer.text.splitlines()
        if not lines:
            return
        here = words(lines[line % len(lines)])
        here.insert(gap % (len(here) + 1), self.word())
        lines[line % len(lines)] = "".join(f" {word}" for word in here)
        self._typed(file, "".join(f"{line}\n" for line in lines))

    def newline(self, number: int, line: int) -> None:
        file = self._file(number)
        if file.buffer is None:
            return
        lines = file.buffer.text.splitlines(keepends=True)
        lines.insert(line % (len(lines) + 1), f" {self.word()} {self.word()}\n")
        self._typed(file, "".join(lines))

    def delete(self, number: int, place: int) -> None:
        """The person takes out a word, whosever it is."""
        file = self._file(number)
        if file.buffer is None or not (there := words(file.buffer.text)):
            return
        gone = there[place % len(there)]
        lines = file.buffer.text.splitlines()
        kept = ["".join(f" {w}" for w in words(line) if w != gone) for line in lines]
        self._typed(file, "".join(f"{line}\n" for line in kept))

    def undo(self, number: int, *, redo: bool = False) -> None:
        file = self._file(number)
        if file.buffer is None:
            return
        before = file.buffer.text
        self._tell(file.buffer.redo() if redo else file.buffer.undo())
        self.oracle.touched(file.name, "p", before, file.buffer.text)
        self.oracle.seen(file.name, file.buffer.text)

    def save(self, number: int) -> None:
        file = self._file(number)
        if file.buffer is not None and file.buffer.dirty:
            self._look_at_disk(file)
            if file.state.text == file.buffer.disk:  # else an editor asks, and the person says no
                self._save(file)

    def other(self, number: int, line: int) -> None:
        """Another program saves the file; an editor that has nothing unsaved shows it."""
        file = self._file(number)
        self._look_at_disk(file)
        before = file.state.text
        lines = before.splitlines(keepends=True)
        self._words += 1
        new = f"x{self._words}"
        self.oracle.born([new])
        lines.insert(line % (len(lines) + 1), f" {new}\n")
        clean = file.buffer is not None and not file.buffer.dirty
        file.path.write_bytes("".join(lines).encode())
        file.state = file.state.written("".join(lines))
        self.oracle.touched(file.name, "p", before, file.state.text)
        self.oracle.seen(file.name, file.state.text)
        if clean:
            self._reload(file)

    # -- the end of things

    def restart(self, kill: int, editor: int) -> None:
        """The server ends, in order or by a kill; with ``editor`` the editor does as well."""
        for agent in list(self.open_turns):
            if kill:
                self.open_turns.pop(agent)
            else:
                self.end(agent)
        if editor:
            for number in range(len(self.files)):
                self.close(number, keep=1)
        self.desk.stop(kill=bool(kill))
        self.look()
        for mind in self.minds.values():
            mind.forget()
        self.desk.start()
        for file in self.files:
            if file.buffer is not None:
                buffer, file.buffer = file.buffer, None
                done, undone = buffer.done, buffer.undone
                file.hot = buffer
                self.open(self.files.index(file))
                buffer.done, buffer.undone = done, undone
        self.cause = "the server had started again"

    def look(self) -> None:
        """Takes in what is on disk now."""
        for file in self.files:
            with contextlib.suppress(FileNotFoundError):
                self._look_at_disk(file)

    # -- the agents' steps

    def begin(self, agent: str) -> None:
        if agent in self.open_turns:
            return
        session = self.desk.session(agent, mirror=agent in self.mirror)
        mind = self.minds[agent]
        mind.turn += 1
        turn_id, prompt = self.desk.begin_turn(agent)
        mind.takes_note(prompt, self._names())
        turn = Turn(session, turn_id, f"{agent}t{mind.turn}")
        self.open_turns[agent] = turn
        self.turns.append(turn)

    def end(self, agent: str) -> None:
        if turn := self.open_turns.pop(agent, None):
            self.desk.end_turn(agent, turn.turn_id)

    def read(self, agent: str, number: int) -> None:
        file = self._file(number)
        self.begin(agent)
        result, is_error = self._call(agent, "read", file, {})
        if not is_error:
            answer = self.minds[agent].takes_note(result, self._names())
            self.minds[agent].learns(file.name, answer)
            self.minds[agent].unsure.discard(file.name)

    def write(self, agent: str, number: int, age: int, works: list[Work]) -> None:
        """The whole file from what the agent knows, or knew ``age`` results ago."""
        file = self._file(number)
        mind = self.minds[agent]
        self.begin(agent)
        if mind.known(file.name) is None or file.name in mind.unsure:
            self.read(agent, number)
        known = mind.known(file.name, age)
        if known is None:
            return
        content = mind.worked(known, works)
        gone = mind.shown[file.name] - set(words(content))
        result, is_error = self._change(
            agent, "write", file, {"content": content}, known, content, gone
        )
        mind.takes_note(result, self._names()) if is_error else self._knows(
            agent, file, content, result
        )

    def edit(self, agent: str, number: int, age: int, work: Work) -> None:
        """One line of what the agent knows, as an exact replacement."""
        file = self._file(number)
        mind = self.minds[agent]
        self.begin(agent)
        if mind.known(file.name) is None or file.name in mind.unsure:
            self.read(agent, number)
        known, latest = mind.known(file.name, age), mind.known(file.name)
        if known is None or latest is None or not (lines := known.splitlines(keepends=True)):
            return
        old = lines[work[1] % len(lines)]
        new = mind.worked(old, [("swap" if work[0] == "cut" else work[0], 0)])
        args: Json = {"edits": [{"oldText": old, "newText": new}]}
        gone = set(words(old)) - set(words(new))
        result, is_error = self._change(agent, "edit", file, args, old, new, gone)
        if is_error:
            mind.takes_note(result, self._names())
        elif latest.count(old) == 1:
            self._knows(agent, file, latest.replace(old, new), result)
        else:  # it went by what it once knew, and the file has it again
            answer = mind.takes_note(result, self._names())
            mind.shown[file.name].update(words(answer))
            mind.unsure.add(file.name)

    def fail(self, agent: str, number: int) -> None:
        """An edit of what is not there."""
        self.begin(agent)
        file = self._file(number)
        args: Json = {"edits": [{"oldText": "no such words\n", "newText": "nothing\n"}]}
        result, _ = self._call(agent, "edit", file, args)
        self.minds[agent].takes_note(result, self._names())

    def _knows(self, agent: str, file: File, text: str, result: str) -> None:
        mind = self.minds[agent]
        mind.learns(file.name, text)
        answer = mind.takes_note(result, self._names())
        mind.shown[file.name].update(words(answer))

    def _change(
        self,
        agent: str,
        tool: str,
        file: File,
        args: Json,
        old: str,
        new: str,
        gone: set[str],
    ) -> tuple[str, bool]:
        oracle, turn = self.oracle, self.open_turns[agent].owner
        oracle.born(word for word in words(new) if is_agents(word))
        oracle.touched(file.name, turn, old, new)
        if agent in self.mirror:
            # It writes the disk itself, and nobody can keep it from what is there.
            gone = gone | (set(words(file.state.text)) - set(words(new)))
        oracle.license(file.name, gone)
        before = self.now(file)
        result, is_error = self._call(agent, tool, file, args)
        after = set(words(self.now(file).text))
        went = [w for w in words(before.text) if before.will.get(w) and w not in after]
        if went:
            oracle.visible(file.name, went, self._hunks(file))
        return result, is_error

    def _call(self, agent: str, tool: str, file: File, args: Json) -> tuple[str, bool]:
        self.cause = f"{self.open_turns[agent].owner} called {tool}"
        result = self.desk.call(agent, tool, {"path": str(file.path)} | args)
        self.log.append(f"  {self.cause} {args}: {result}")
        self._look_at_disk(file)
        return result

    def _names(self) -> dict[str, str]:
        return {str(file.path): file.name for file in self.files}

    # -- the person's decisions

    def edits(self, file: File | None = None) -> list[Json]:
        params = {"uri": file.path.as_uri()} if file else {}
        found = self.desk.server.call("agent/edits", params)["edits"]
        ours = {f.path.as_uri() for f in self.files}
        return [edit for edit in found if edit["uri"] in ours]

    def _hunks(self, file: File) -> Hunks:
        return [
            (hunk["status"], hunk["oldText"], hunk["newText"])
            for edit in self.edits(file)
            for hunk in edit.get("hunks", [])
        ]

    def decide(self, what: str, number: int, hunk: int | None = None) -> None:
        """``what`` is keep, reject or apply; the whole edit, or one of its hunks."""
        wanted = ("proposed", "lost", "conflict") if what == "apply" else ("applied", "proposed")
        open_edits = [edit for edit in self.edits() if edit["status"] in wanted]
        if not open_edits:
            return
        edit = open_edits[number % len(open_edits)]
        params: Json = {"editId": edit["editId"]}
        hunks = [h for h in edit.get("hunks", []) if h["status"] in wanted]
        if hunk is not None and hunks:
            hunks = [hunks[hunk % len(hunks)]]
            params["hunks"] = [hunks[0]["hunkId"]]
        file = next(f for f in self.files if f.path.as_uri() == edit["uri"])
        self.cause = f"the person chose {what} of {edit['editId']}"
        try:
            answer = self.desk.server.call(f"agent/{what}Edit", params)
        except Refused as refused:
            answer = {}
            self.log.append(f"  {self.cause}: {refused.kind}: {refused}")
            if refused.kind == "conflict":
                touched = [word for h in hunks for word in words(h["oldText"] + h["newText"])]
                self.oracle.decided(what, file.name, touched)
        self._look_at_disk(file)
        if what == "keep" and answer:
            self._kept_is_in(file, answer["edit"], params.get("hunks"))

    def _kept_is_in(self, file: File, edit: Json, chosen: list[str] | None) -> None:
        here = set(words(self.now(file).text))
        for hunk in edit.get("hunks", []):
            if hunk["status"] != "kept" or (chosen is not None and hunk["hunkId"] not in chosen):
                continue
            gone = [w for w in words(hunk["newText"]) if is_agents(w) and w not in here]
            if gone:
                self.oracle.say("kept", f"{gone} of a kept hunk are not in {file.name}")

    def revert(self, number: int, *, only: int = 0) -> None:
        """Takes a turn back, with those after it or alone."""
        if self.turns:
            self._revert(self.turns[number % len(self.turns)], only=bool(only))

    def unrevert(self, number: int) -> None:
        """Takes a revert back."""
        if self.reverts:
            params = {"turnId": self.reverts[number % len(self.reverts)]}
            self.cause = "the person took a revert back"
            self._answer_of_revert(params, self.turns)

    def revert_all(self, order: int = 0) -> dict[str, str]:
        """All turns of all sessions; the last outcome of each file."""
        for agent in list(self.open_turns):
            self.end(agent)
        first: dict[str, Turn] = {}
        for turn in self.turns:
            first.setdefault(turn.session, turn)
        outcomes: dict[str, str] = {}
        turns = list(first.values())
        for turn in reversed(turns) if order else turns:
            outcomes |= self._revert(turn, only=False)
        return outcomes

    def _revert(self, turn: Turn, *, only: bool) -> dict[str, str]:
        for agent in list(self.open_turns):
            self.end(agent)
        later = [t for t in self.turns if t.session == turn.session]
        later = [turn] if only else later[later.index(turn) :]
        self.cause = f"the person reverted {[t.owner for t in later]}"
        params: Json = {"sessionId": turn.session, "turnId": turn.turn_id}
        return self._answer_of_revert(params | ({"only": True} if only else {}), later)

    def _answer_of_revert(self, params: Json, turns: list[Turn]) -> dict[str, str]:
        try:
            answer = self.desk.server.call("agent/revert", params)
        except Refused as refused:
            self.log.append(f"  {self.cause}: {refused.kind}: {refused}")
            if refused.kind not in ("unknownTurn", "conflict"):
                self.oracle.say("refused", f"{self.cause}: {refused}")
            return {}
        self.reverts.append(answer["revertId"])
        self.log.append(f"  {self.cause}: {answer['files']}")
        outcomes: dict[str, str] = {}
        for reverted in answer["files"]:
            for file in self.files:
                if file.path.as_uri() == reverted["uri"]:
                    outcomes[file.name] = reverted["outcome"]
                    if reverted["outcome"] == "conflict":
                        self.oracle.reverted("revert", file.name, [t.owner for t in turns])
        self.look()
        return outcomes
