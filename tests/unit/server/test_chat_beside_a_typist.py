"""A person types in a conversation while an answer comes into it: no key and no word is lost."""

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import anyio
import pytest
from support.scripted_editor import POLICIES, Policy, ScriptedEditor, VirtualClock, run

from lsp_agent.protocol.events import StampedEvent, StepStarted, TextDelta, TurnEnded
from lsp_agent.server.chat.conversations import Conversations
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.text.lines import Text
from lsp_agent.workspace.changing.entries import NoEntry
from lsp_agent.workspace.changing.file_host import View
from lsp_agent.workspace.disk.paths import SafePath
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.placing.flight import Strayed, Timings
from lsp_agent.workspace.placing.placement import Placement

PATH = "/nowhere/x.chat.md"
URI = f"file://{PATH}"
SESSION: Any = type("Session", (), {"id": "s", "turn": None, "cwd": "/"})()
TITLE = "# Notes of mine\n\n"
WORDS, TURNS = 40, 3


class Host:
    """What ``FileHost.put`` does with an open document, without files and threads."""

    def __init__(self, document: OpenDocument, editor: ScriptedEditor) -> None:
        self._document = document
        self._editor = editor

    async def put(self, path: SafePath, resolve: Callable[[View], Text], label: str) -> NoEntry:
        entry = NoEntry()

        def resolved(text: Text) -> Text:
            return resolve(View(path.path, text, open=True))

        placement = Placement(
            self._document, self._editor, resolved, label, lambda: True, None, Timings()
        )
        proof = await placement.run()
        while proof.outcome == "unknown":
            assert placement.late is not None
            happened, strays = anyio.Event(), list[Strayed | None]()
            placement.late.on_landed(lambda _b, _m, happened=happened: happened.set())
            placement.late.on_strayed(lambda s, h=happened, n=strays: (n.append(s), h.set()))
            with anyio.move_on_after(60):
                await happened.wait()
            if not strays:
                break
            proof = await placement.put_right(strays[0])
        (entry.clashed if proof.outcome in {"conflict", "refused"} else entry.landed)(None, None)
        return entry


class Desk:
    def __init__(self, policy: Policy, seed: int, clock: VirtualClock) -> None:
        self.chance = random.Random(seed)
        self.documents = Documents("utf-16", clock)
        self.editor = ScriptedEditor(self.documents, URI, f"{TITLE}## You\n\nGo on.\n", policy)
        document = self.documents.get(URI)
        assert document is not None
        self.document = document
        self.keys: list[str] = []
        self.done = False

    async def type(self) -> None:
        """In the title, in an answer, where it grows, and at the end: a key at a time, each behind
        the last."""
        chance = self.chance
        while not self.done:
            places = ["# Notes", "## Agent", "<!--", "a3b", "## You", ""]
            place = chance.choice(places)
            at = self.editor.buffer.text.rfind(place)
            for _ in range(chance.randint(2, 8)):
                if at < 0:
                    break
                key = f"«{len(self.keys)}»"
                self.keys.append(key)
                self.editor.type(at, key)
                await anyio.sleep(chance.uniform(0.03, 0.12))
                at = self.editor.buffer.text.find(key) + len(key)
            await anyio.sleep(chance.uniform(0.1, 1.5))

    async def answer(self, chats: Conversations, turn: int, words: int = WORDS) -> None:
        def tell(event: Any) -> None:
            chats.take(StampedEvent("s", f"t-{turn}", 1, 0.0, event))

        tell(StepStarted(1))
        for number in range(words):
            tell(TextDelta(f"a{turn * WORDS + number}b" + self.chance.choice([" ", " ", "\n\n"])))
            await anyio.sleep(self.chance.uniform(0, 0.2))
        tell(TurnEnded("endTurn"))

    @property
    def text(self) -> str:
        return self.editor.buffer.text


@asynccontextmanager
async def conversation(desk: Desk, keeps_after: float = 0) -> AsyncIterator[Conversations]:
    host: Any = Host(desk.document, desk.editor)
    nobody: Any = None
    living = {"s": SESSION}.get
    async with anyio.create_task_group() as tasks:
        chats = Conversations(nobody, host, desk.documents, tasks, living, keeps_after)
        chats.tie(SafePath(PATH, PATH), SESSION)
        yield chats
        tasks.cancel_scope.cancel()


async def talk(desk: Desk) -> None:
    async with conversation(desk) as chats, anyio.create_task_group() as tasks:
        tasks.start_soon(desk.type)
        for turn in range(TURNS):
            chats.sent(Turn(f"t-{turn}", "Go on.", "Go on."), SESSION)
            await desk.answer(chats, turn)
            await anyio.sleep(desk.chance.choice([0, 8]))
        desk.done = True
        await anyio.sleep(120)
        await desk.editor.settle()


async def pauses(desk: Desk, keeps_after: float) -> list[float]:
    """The seconds between changes of the document from a key on, beside an answer that is longer
    than a turn's here."""
    changed: list[float] = []
    async with conversation(desk, keeps_after) as chats, anyio.create_task_group() as tasks:
        chats.sent(Turn("t-0", "Go on.", "Go on."), SESSION)
        tasks.start_soon(desk.answer, chats, 0, 200)
        await anyio.sleep(6)
        desk.editor.type(0, "«0»")
        desk.documents.on_changed(lambda document: changed.append(document.clock()))
        await anyio.sleep(8)
        tasks.cancel_scope.cancel()
    return [after - before for before, after in pairwise(changed)]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("seed", range(2))
def test_no_key_and_no_word_is_lost(policy: Policy, seed: int) -> None:
    desks: list[Desk] = []

    async def main(clock: VirtualClock) -> None:
        desks.append(Desk(policy, seed, clock))
        await talk(desks[0])

    run(main)
    (desk,) = desks
    text = desk.text
    assert {key: text.count(key) for key in desk.keys if text.count(key) != 1} == {}
    words = [f"a{number}b" for number in range(WORDS * TURNS)]
    assert {word: text.count(word) for word in words if text.count(word) != 1} == {}
    for turn in range(TURNS):
        places = [text.index(word) for word in words[turn * WORDS : (turn + 1) * WORDS]]
        assert places == sorted(places)
    assert desk.document.text.content == text
    assert desk.editor.most_in_flight == 1


@pytest.mark.parametrize(("keeps_after", "longest"), [(1, 1), (0, 0)])
def test_an_editor_that_keeps_text_after_a_second_without_a_change_has_one_behind_a_key(
    keeps_after: float, longest: int
) -> None:
    found = run(lambda clock: pauses(Desk(POLICIES[0], 0, clock), keeps_after))
    assert len([pause for pause in found if pause > 1]) == longest
