"""One run: its files, the person's buffers, the agents' minds, and the steps that change them.

A step is a list: a name and numbers. Numbers mean "the n-th of what there is", counted round, so
that every part of a list of steps is a run as well; what cannot be done is left out.
"""

from dataclasses import dataclass, field
from typing import Any

from provenance.agent import Mind, Work
from provenance.desk import AGENTS, Desk
from provenance.editor import Editor, File
from provenance.hub import Json, Refused
from provenance.oracle import Oracle, State, is_agents, words

Step = list[Any]
Hunks = list[tuple[str, str, str]]

WORKS = ("add", "front", "swap", "cut", "line")
#: What a read says in place of nothing.
_EMPTY = "(the file is empty)"


@dataclass
class Turn:
    session: str
    turn_id: str
    owner: str


@dataclass
class World(Editor):
    minds: dict[str, Mind] = field(default_factory=dict)
    mirror: frozenset[str] = frozenset()
    open_turns: dict[str, Turn] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    reverts: list[str] = field(default_factory=list)

    @classmethod
    def laid_out(cls, desk: Desk, number: int, setup: Json) -> "World":
        """``setup``: how many ``files`` of how many ``lines``, which agents are ``mirror``, and
        whether the person ``overwrites``."""
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
        world = cls(desk, folder, files, oracle, minds=minds, mirror=mirror)
        world.overwrites = setup.get("overwrites", False)
        desk.editor = world
        for agent in minds:
            if session := desk.sessions.get(world._seat(agent)):
                desk.server.call("agent/clear", {"sessionId": session})
        return world

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

    # -- the agents' steps

    def begin(self, agent: str) -> None:
        if agent in self.open_turns:
            return
        session = self.desk.session(self._seat(agent))
        mind = self.minds[agent]
        mind.turn += 1
        turn_id, prompt = self.desk.begin_turn(self._seat(agent))
        mind.takes_note(prompt, self._names())
        turn = Turn(session, turn_id, f"{agent}t{mind.turn}")
        self.open_turns[agent] = turn
        self.turns.append(turn)

    def end(self, agent: str) -> None:
        if turn := self.open_turns.pop(agent, None):
            self.desk.end_turn(self._seat(agent), turn.turn_id)

    def read(self, agent: str, number: int) -> None:
        file = self._file(number)
        self.begin(agent)
        result, is_error = self._call(agent, "read", file, {})
        if not is_error:
            answer = self.minds[agent].takes_note(result, self._names())
            self.minds[agent].learns(file.name, "" if answer == _EMPTY else answer)
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
        # What it knows to be gone, and writes again, is its own doing.
        gone |= set(words(content)) - set(words(mind.known(file.name) or ""))
        lines = known.splitlines()
        anew = "\n".join(line for line in content.splitlines() if line not in lines)
        self.oracle.written(file.name, words(anew))
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
            oracle.written(file.name, set(words(new)) - set(words(file.state.text)))
        oracle.license(file.name, gone)
        before = self.now(file)
        result, is_error = self._call(agent, tool, file, args)
        after = set(words(self.now(file).text))
        went = [w for w in words(before.text) if before.will.get(w) and w not in after]
        if went and (unseen := self._unseen(file, went)):
            oracle.say("unseen", f"{unseen} went from {file.name}, and no hunk shows it")
        return result, is_error

    def _unseen(self, file: File, went: list[str]) -> list[str]:
        """What an agent did to the disk by itself is found a moment later, perhaps during the call
        of another one."""
        for _ in range(20 if self.mirror else 0):
            if not self.oracle.unseen(went, self.hunks(file)):
                break
            self.desk.hub.rest(0.05)
        return self.oracle.unseen(went, self.hunks(file))

    def _call(self, agent: str, tool: str, file: File, args: Json) -> tuple[str, bool]:
        self.cause = f"{self.open_turns[agent].owner} called {tool}"
        clean = file.buffer is not None and not file.buffer.dirty
        result = self.desk.call(self._seat(agent), tool, {"path": str(file.path)} | args)
        self.log.append(f"  {self.cause} {args}: {result}")
        self._look_at_disk(file)
        if clean and agent in self.mirror and self.desk.kind == "prompt":
            self._reload(file)
        return result

    def _seat(self, agent: str) -> str:
        return ("mirror" if agent in self.mirror else "hosted") + agent[1:]

    def _names(self) -> dict[str, str]:
        return {str(file.path): file.name for file in self.files}

    # -- the person's decisions

    def edits(self, *files: File) -> list[Json]:
        """Of these files, or of all of this run's."""
        found: list[Json] = []
        for file in files or self.files:
            found += self.desk.server.call("agent/edits", {"uri": file.path.as_uri()})["edits"]
        return found

    def hunks(self, file: File) -> Hunks:
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
        if what == "apply":  # in place of what the hunk shows
            for each in hunks:
                self.oracle.license(file.name, words(each["oldText"]))
                self.oracle.written(file.name, words(each["newText"]))
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
            self._kept_is_in(file, answer["edit"], {each["hunkId"] for each in hunks})

    def _kept_is_in(self, file: File, edit: Json, chosen: set[str]) -> None:
        for hunk in edit.get("hunks", []):
            if hunk["status"] == "kept" and hunk["hunkId"] in chosen:
                hot = file.hot.text if file.hot else ""
                self.oracle.kept(file.name, self.now(file).text + hot, hunk["newText"])

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
        """All turns of all sessions; the last outcome of each file. Where one session's work lies
        on another's, the answer is a conflict until that is gone: a person then tries again."""
        first: dict[str, Turn] = {}
        for turn in self.turns:
            first.setdefault(turn.session, turn)
        turns = list(first.values())
        outcomes: dict[str, str] = {}
        for _ in range(len(turns)):
            again: list[Turn] = []
            conflicts: dict[str, str] = {}
            for turn in reversed(turns) if order else turns:
                answer = self._revert(turn, only=False)
                outcomes |= answer
                conflicts |= {file: it for file, it in answer.items() if it == "conflict"}
                if "conflict" in answer.values():
                    again.append(turn)
            outcomes |= conflicts
            if not again or again == turns:
                break
            turns = again
        return outcomes

    def _revert(self, turn: Turn, *, only: bool) -> dict[str, str]:
        later = [t for t in self.turns if t.session == turn.session]
        later = [turn] if only else later[later.index(turn) :]
        self.cause = f"the person reverted {[t.owner for t in later]}"
        params: Json = {"sessionId": turn.session, "turnId": turn.turn_id}
        return self._answer_of_revert(params | ({"only": True} if only else {}), later)

    def _answer_of_revert(self, params: Json, turns: list[Turn]) -> dict[str, str]:
        for agent in list(self.open_turns):
            self.end(agent)
        for session in {turn.session for turn in self.turns} - set(self.desk.sessions.values()):
            self.desk.server.call("agent/resumeSession", {"sessionId": session})
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
