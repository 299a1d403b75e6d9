"""One document, a person, two agents' sessions, a file on disk: everything at random, in one
thread and in virtual time, so that a run takes milliseconds and its seed repeats it.

Every insertion is a unique token. The person's are ``«n»``, or ``«n,»`` with a line end; the
document's own are ``<n>``; the agents' are ``⟦n⟧``, which stand in place of the document's or of
each other. Nobody but the person takes out what the person typed.
"""

import queue
import random
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from lsp_agent.protocol.edits import Edit
from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.protocol.settings.settings import EditSettings, Settings
from lsp_agent.sessions.reverts.reverts import Reverted, Reverts
from lsp_agent.text.lines import Text, split_lines
from lsp_agent.text.positions import Encoding
from lsp_agent.workspace.changing.file_host import FileHost, Origin, View
from lsp_agent.workspace.disk.paths import Confinement, path_to_uri
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Editor
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.ledger.saves import Saves
from lsp_agent.workspace.mirror.mirror import Mirror
from lsp_agent.workspace.mirror.watcher import Known
from lsp_agent.workspace.review.edits import Edits
from support.loose_tasks import LooseTasks
from support.scripted_editor import POLICIES, Point, Policy, ScriptedEditor, VirtualClock

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
#: Clients that hold back what is typed for as long as it is typed get proposals: not here.
TELLING = [policy for policy in POLICIES if policy.checks != "sent"]
BETWEEN = (" ", "", "\t", " é ", "😀", "a\u0301", "\u2028", "\f", " 汉 ", "  ")

OURS = re.compile("⟦[0-9]+⟧")
MINE = re.compile("«[0-9]+»|«[0-9]+,»(?:\r\n|\n)")
PARTED = re.compile("«[0-9]+,»(?![\r\n])")
PLACE = re.compile(f"<[0-9]+>|{OURS.pattern}|{MINE.pattern}")


class Inline(threading.Thread):
    """Runs at once what would run in a thread."""

    def start(self) -> None:
        self.run()

    def join(self, timeout: float | None = None) -> None: ...


class Jobs(queue.SimpleQueue[Any]):
    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        if item is not None:
            item()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        return None


async def _at_once(function: Callable[..., Any], *args: Any, **_: Any) -> Any:
    return function(*args)


@contextmanager
def without_threads() -> Generator[None]:
    with (
        mock.patch.object(anyio.to_thread, "run_sync", _at_once),
        mock.patch("lsp_agent.workspace.documents.open_document.threading.Thread", Inline),
        mock.patch("lsp_agent.workspace.ledger.journal.threading.Thread", Inline),
        mock.patch("lsp_agent.workspace.ledger.journal.queue.SimpleQueue", Jobs),
    ):
        yield


class NobodyShows:
    """The editor while the document is closed."""

    def __init__(self, policy: Policy) -> None:
        self.traits = policy.traits

    async def apply(self, *_: object) -> None:
        raise AssertionError("nothing is open")

    sync = save = reload = apply


class Desk:
    """The ``Editor`` port: the scripted editor while the document is open."""

    def __init__(self, policy: Policy) -> None:
        self.closed: Any = NobodyShows(policy)
        self.shown: ScriptedEditor | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.shown or self.closed, name)


class World:
    def __init__(self, folder: Path, chance: random.Random, clock: VirtualClock) -> None:
        self.chance = chance
        self.numbers = iter(range(1_000_000))
        self.policy = chance.choice(TELLING)
        self.encoding: Encoding = chance.choice(ENCODINGS)
        self.file = folder / "doc.txt"
        self.start = self._document()
        self.file.write_bytes(self.start.encode())
        self.uri = path_to_uri(str(self.file))
        self.documents = Documents(self.encoding, clock)
        self.desk = Desk(self.policy)
        self.ledger = Ledger(str(folder / "ledger"))
        self.reviews = Reviews(self.ledger)
        editor = cast(Editor, self.desk)
        self.host = FileHost(self.documents, editor, self.ledger, self.reviews)
        settings = Settings(edits=EditSettings(save=chance.choice(("clean", "never"))))
        self.edits = Edits(self.ledger, self.host, self.documents, self.reviews, lambda _: settings)
        self.mirror = Mirror(self.documents, editor, self.host, self.ledger, self.reviews)
        confinement = Confinement([str(folder)])
        self.path = confinement.confine("doc.txt", str(folder), write=True)
        services = SimpleNamespace(
            ledger=self.ledger,
            reviews=self.reviews,
            saves=Saves(self.ledger, self.documents, cast(TaskGroup, LooseTasks())),
            edits=self.edits,
            host=self.host,
            documents=self.documents,
            settings=lambda _: settings,
            confinement=lambda _: confinement,
        )
        nobody = SimpleNamespace(all=list, get=lambda _: None, to_stop=lambda *_: None)
        self.reverts = Reverts(cast(Any, services), cast(Any, nobody), lambda _: None)
        self.known = Known()
        self.tokens: set[str] = set()
        self.kept = self.formatted = False
        self.bare: set[str] = set()
        self.twins = False
        self.turns: list[str] = []
        #: The words of each turn's edits that went in, and what came of taking turns back.
        self.words_of: defaultdict[str, set[str]] = defaultdict(set)
        self.left: list[str] = []
        self.log: list[str] = [f"{self.policy.name}, {self.encoding}: {self.start!r}"]

    def say(self, what: str) -> None:
        self.log.append(f"{what}\n    {self.text!r}")

    # -- what there is

    @property
    def text(self) -> str:
        if self.desk.shown is not None:
            return self.desk.shown.buffer.text
        return self.file.read_bytes().decode()

    def _document(self) -> str:
        chance = self.chance
        ends = chance.choice((("\n",), ("\r\n",), ("\n", "\r\n"), ("\n", "\n", "\r\n")))
        lines: list[str] = []
        for _ in range(chance.randint(1, 7)):
            words = (f"<{next(self.numbers)}>" for _ in range(chance.randint(0, 3)))
            line = "".join(word + chance.choice(BETWEEN) for word in words)
            lines.append(line + chance.choice(ends))
        text = "".join(lines)
        return text if chance.random() < 0.7 else text.rstrip("\r\n")

    # -- the person

    def type(self) -> None:
        editor = self.desk.shown
        if editor is None:
            return
        text = editor.buffer.text
        if re.search("[«»⟦⟧<>]", PLACE.sub("", PARTED.sub("", text))):
            return  # a word stands broken until an edit that went astray is put right
        places = {0, len(text)} | {p for m in PLACE.finditer(text) for p in (m.start(), m.end())}
        offset = self.chance.choice(sorted(places))
        if text[offset - 1 : offset + 1] == "\r\n":
            offset -= 1  # no editor lets a person type there
        opens = self.chance.random() < 0.25
        name = f"«{next(self.numbers)}{',' if opens else ''}»"
        end = ("\r\n" if "\r\n" in text else "\n") if opens else ""
        self.log.append(f"type {name}{end!r} at {offset}")
        self._look_for_twins(text, offset if opens else None)
        editor.type(offset, name + end)
        self.tokens.add(name)

    def _look_for_twins(self, text: str, broken_at: int | None) -> None:
        """An agent may have left a line with no word in it, or of blanks alone. Where the person
        breaks such a line off another one, no comparison can tell which of the two is the
        agent's."""
        self.bare.update(
            line for line in split_lines(text) if line.strip("\r\n") and _is_bare(line)
        )
        if broken_at is not None:
            self.twins |= split_lines(text[broken_at:] or " ")[0] in self.bare

    def delete(self) -> None:
        editor = self.desk.shown
        mine = [
            name
            for name in sorted(self.tokens)
            if any(m[0].startswith(name) for m in MINE.finditer(self.text))
        ]
        if editor is None or not mine:
            return
        name = self.chance.choice(mine)
        self.log.append(f"delete {name}")
        text = editor.buffer.text
        (start, end) = next(m.span() for m in MINE.finditer(text) if m[0].startswith(name))
        editor.buffer.replace(start, end, "")
        editor.flush()
        self.tokens.discard(name)

    def keys(self, _editor: ScriptedEditor, point: Point, _send: int) -> None:
        if self.chance.random() < 0.25:
            self.log.append(f"-- {point}")
            self.type()

    async def open(self) -> None:
        if self.desk.shown is not None:
            return
        self.log.append("open")
        text = self.file.read_bytes().decode()
        self.desk.shown = ScriptedEditor(
            self.documents, self.uri, text, self.policy, self.keys, self._write
        )

    async def close(self) -> None:
        if self.desk.shown is None:
            return
        self.log.append("close")
        await self.save(formats=False)
        editor = self.desk.shown
        editor.flush()
        await anyio.sleep(4 * self.policy.travel)
        self._write(editor.buffer.text)
        self.documents.save(self.uri)
        self.desk.shown = None
        self.documents.close(self.uri)

    async def save(self, *, formats: bool) -> None:
        editor = self.desk.shown
        if editor is None:
            return
        if formats and "  " in editor.buffer.text:
            self.log.append("format")
            self.formatted = True
            at = editor.buffer.text.index("  ")
            editor.buffer.replace(at, at + 2, " ")
        self.log.append("save")
        await editor.save(self.uri)
        await anyio.sleep(4 * self.policy.travel)

    def _write(self, text: str) -> None:
        self.file.write_bytes(text.encode())

    # -- the agents

    async def edit(self, session: str, review: str = "after") -> None:
        """Finds tokens that are not the person's, and puts its own in their place."""
        wanted = self._words(self.text)
        if not wanted:
            return
        news = [self._new() for _ in wanted]
        self.log.append(f"{session} {review}: {wanted} -> {news}")

        def resolve(view: View) -> Text:
            text = view.require_text()
            return Text.of(_replaced(text.content, wanted, news), like=text)

        origin = Origin(session, self._turn(session), f"c{next(self.numbers)}", "agent: edit")
        try:
            placed = await self.host.replace(
                self.path, origin, resolve, review=cast(Any, review), save="clean"
            )
        except LookupError:
            self.log.append(f"{session}: changed since")
        else:
            if placed.status == "applied":
                self.words_of[origin.turn_id or ""].update(OURS.findall(" ".join(news)))
            self.say(f"{session}: {placed.status}, {placed.note}")

    async def command(self, session: str) -> None:
        """Writes the disk by itself."""
        wanted = self._words(self.file.read_bytes().decode())
        if not wanted:
            return
        news = [self._new() for _ in wanted]
        self.log.append(f"{session} on disk: {wanted} -> {news}")
        with self.mirror.watching():
            await self.mirror.look(self.known, [self.path.path], claim=lambda _: True)
            self._write(_replaced(self.file.read_bytes().decode(), wanted, news))
            changes = await self.mirror.look(self.known, [self.path.path], claim=lambda _: True)
            for change in changes:
                origin = Origin(session, self._turn(session), f"c{next(self.numbers)}", "agent")
                brought = await self.mirror.take(change, origin)
                self.say(f"{session}: {brought.what}")

    def _words(self, text: str) -> list[str]:
        words = [m[0] for m in PLACE.finditer(text) if m[0][0] in "<⟦"]
        return self.chance.sample(words, min(len(words), self.chance.choice((1, 1, 2))))

    def _new(self) -> str:
        name = f"⟦{next(self.numbers)}⟧"
        return self.chance.choice(
            (name, name, f"{name}\n", f"{name}\n⟦{next(self.numbers)}⟧ x", "")
        )

    def _turn(self, session: str) -> str:
        if not self.turns or self.chance.random() < 0.5:
            self.turns.append(f"{session}-t{next(self.numbers)}")
        mine = [turn for turn in self.turns if turn.startswith(session)]
        if not mine:
            self.turns.append(mine := f"{session}-t{next(self.numbers)}")
            return mine
        return mine[-1]

    # -- the review

    async def decide(self, what: str) -> None:
        found = [
            (edit, hunk)
            for edit in await self.edits.find(path=self.path.path)
            for hunk in edit.hunks
            if hunk.status in ("applied", "proposed")
        ]
        if not found:
            return
        edit, hunk = self.chance.choice(found)
        hunks = [hunk.hunk_id] if self.chance.random() < 0.7 else None
        self.log.append(f"{what} {edit.edit_id[:4]} {hunks} ({edit.status})")
        try:
            await self._decide(what, edit, hunks)
        except LspAgentError as error:
            self.log.append(f"not done: {error}")

    async def _decide(self, what: str, edit: Edit, hunks: Sequence[str] | None) -> None:
        if what == "keep" and edit.status == "applied":
            await self.edits.keep(edit.edit_id, hunks)
            self.kept = True
        elif what == "apply":
            # What a proposal shows as taken out, whoever accepts it takes out.
            for hunk in edit.hunks:
                if hunk.status == "proposed" and hunks in (None, [hunk.hunk_id]):
                    gone = set(MINE.findall(hunk.old_text)) - set(MINE.findall(hunk.new_text))
                    self.tokens -= {name.rstrip("\r\n") for name in gone}
                    self.kept = self.kept or bool(gone)
            await self.edits.apply(edit.edit_id, hunks)
        elif what == "reject":
            await self.edits.reject(edit.edit_id, hunks)

    async def revert(self) -> None:
        if not self.turns:
            return
        turn = self.chance.choice(self.turns)
        known = {change.turn_id for change in self.ledger.changes()}
        if turn not in known:
            return
        only = self.chance.random() < 0.4
        self.log.append(f"revert {turn} {only=}")
        mine = [each for each in self.turns if each[:2] == turn[:2]]
        gone = [turn] if only else mine[mine.index(turn) :]
        words = set[str]().union(*(self.words_of[each] for each in gone))
        before = self._in_sight(words)
        done = await self.reverts.revert(None, turn, only=only)
        self.say(f"reverted: {[(f.outcome, f.reason) for f in done.files]}")
        if _is_done(done):
            self.left += [f"{word} is in after the revert" for word in self._in_sight(words)]
        if self.chance.random() < 0.4:
            self.log.append("and back")
            back = await self.reverts.revert(None, done.revert_id)
            self.kept = True  # what came back is no longer under review
            if _is_done(done) and _is_done(back):
                lost = before - self._in_sight(words)
                self.left += [f"{word} did not come back" for word in lost]

    def _in_sight(self, words: set[str]) -> set[str]:
        return {word for word in words if word in self.text}

    # -- the end

    async def settle(self) -> None:
        if self.desk.shown is not None:
            await self.desk.shown.settle()
            await anyio.sleep(8 * self.policy.travel)

    def agreed(self) -> list[str]:
        """What is wrong with the texts and the tokens, whatever happened."""
        wrong = list(self.left)
        document = self.documents.get(self.uri)
        if self.desk.shown is not None:
            assert document is not None
            if document.text.content != self.desk.shown.buffer.text:
                wrong.append("client and server do not show the same text")
        text = self.text
        for name in sorted(self.tokens):
            if text.count(name) != 1:
                wrong.append(f"the person's {name} is there {text.count(name)} times")
        for name in OURS.findall(text):
            if text.count(name) != 1:
                wrong.append(f"the agent's {name} is there {text.count(name)} times")
        return wrong

    async def without_agents(self) -> list[str]:
        """What is wrong once everything open is undone."""
        for _ in range(2):  # what is typed meanwhile may stand in the way of the first
            self.say("undo all")
            await self.edits.undo_all()
            await self.settle()
        self.say("undone")
        wrong = self.agreed()
        text = self.text
        # A client that tells of an edit and of typing in it as one change leaves it open which
        # is which: the edit is then said to be in conflict.
        doubtful = (
            ("applied", "unknown", "conflict") if self.policy.joins else ("applied", "unknown")
        )
        left = await self.edits.find(path=self.path.path, statuses=doubtful)
        review = self.reviews.current(self.path.path, Text.of(text))
        wrong += [
            f"a hunk nobody touched is still open: {review.lines_of(hunk)}"
            for hunk in review.hunks
            if not hunk.touched
        ]
        # Typing may have come between a line end and the token that it was typed with.
        parted = PARTED.search(text)
        if self.kept or self.formatted or left or review.hunks or parted:
            return wrong
        alike = _but_for_places if self.twins else _but_for_places_of_line_ends
        if alike(MINE.sub("", text)) != alike(self.start):
            wrong.append(f"without the agent it is {MINE.sub('', text)!r}, was {self.start!r}")
        return wrong

    def close_all(self) -> None:
        self.ledger.close()


def _but_for_places_of_line_ends(content: str) -> tuple[str, int]:
    """Which of several empty lines the agents had emptied, no comparison of lines can tell."""
    return re.sub("[\r\n]+", "", content), content.count("\n")


def _but_for_places(content: str) -> tuple[list[str], list[str], int]:
    words, rest = PLACE.findall(content), re.sub("[\r\n]+", "", PLACE.sub("", content))
    return sorted(words), sorted(rest), content.count("\n")


def _is_done(reverted: Reverted) -> bool:
    done = {"restored", "merged", "created", "deleted"}
    return {file.outcome for file in reverted.files} <= done


def _is_bare(line: str) -> bool:
    return PLACE.search(line) is None


def _replaced(content: str, wanted: Sequence[str], news: Sequence[str]) -> str:
    for old, new in zip(wanted, news, strict=True):
        if content.count(old) != 1:
            raise LookupError(old)
        content = content.replace(old, new)
    return content
