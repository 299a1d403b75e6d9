"""Many edits at random times while a person types, opens lines and undoes: nothing is lost."""

import random
from collections import Counter
from dataclasses import dataclass, field

import anyio
import pytest
from support.scripted_editor import POLICIES, Policy, ScriptedEditor, VirtualClock, run

from lsp_agent.text.lines import Text
from lsp_agent.text.positions import Encoding
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.placing.flight import Strayed, Timings
from lsp_agent.workspace.placing.not_made import NotWanted
from lsp_agent.workspace.placing.placement import Placement

URI = "untitled:doc"
LINES, EDITS, KEYS_A_SECOND = 260, 60, 15


class ChangedSinceRead(Exception):
    pass


@dataclass
class Session:
    """What was typed, what the agent did, and what the person undid of it."""

    random: random.Random
    keys: list[str] = field(default_factory=list)
    reported: Counter[str] = field(default_factory=Counter)
    landed: set[int] = field(default_factory=set)
    undone: set[int] = field(default_factory=set)
    most_sends: int = 0
    target: int = 0
    done: bool = False
    wrong: list[str] = field(default_factory=list)


def mark(number: int) -> str:
    return f"Agent{number}~"


@dataclass
class Replace:
    """Replaces a word (3 of 5), puts lines in before it, or deletes its line."""

    word: str
    number: int
    kind: int

    def __call__(self, text: Text) -> Text:
        content = text.content
        if content.count(self.word) != 1:
            raise ChangedSinceRead
        if self.kind < 3:
            return Text.of(content.replace(self.word, f"{mark(self.number)} "))
        lines = list(text.lines)
        at = next(i for i, line in enumerate(lines) if self.word in line)
        if self.kind == 3:
            lines[at:at] = [f"\t{mark(self.number)} first\r\n", "\r\n", "second 😀\r\n"]
        elif "«" in lines[at]:
            raise ChangedSinceRead  # the person's words are on that line
        else:
            del lines[at]
        return Text.of("".join(lines))

    def is_in(self, content: str) -> int:
        return int(self.word not in content) if self.kind == 4 else content.count(mark(self.number))


async def person(session: Session, editor: ScriptedEditor) -> None:
    """Types near the agent's next target. Each key is a text of its own that is looked for at
    the end; it goes behind the one before, wherever the agent's edits have moved that."""
    chance = session.random
    while not session.done:
        near = f"l{session.target + chance.choice([0, 0, -1, 1, 2])} "
        at = editor.buffer.text.find(near)
        if at < 0:
            at = editor.buffer.text.find(f"l{LINES - 1} ")
        if chance.random() < 0.15:
            editor.type(at, "\r\n")  # opens a line
            at += 2
        for _ in range(chance.randint(3, 9)):
            key = f"«{len(session.keys)}{chance.choice(['é', '😀', 'y'])}»"
            session.keys.append(key)
            editor.type(at, key)
            await anyio.sleep(chance.uniform(0.5, 1.5) / KEYS_A_SECOND)
            at = editor.buffer.text.find(key)
            if at < 0:
                break  # something is wrong there: the person looks up
            at += len(key)
        if chance.random() < 0.6:
            await anyio.sleep(chance.uniform(0.1, 1.2))


async def came_late(placement: Placement) -> bool:
    """Whether an edit of unknown fate is in after all, put right where it went astray."""
    while (late := placement.late) is not None:
        happened = anyio.Event()
        strays: list[Strayed | None] = []
        late.on_landed(lambda _before, _meant, happened=happened: happened.set())
        late.on_strayed(lambda s, h=happened, strays=strays: (strays.append(s), h.set()))
        with anyio.move_on_after(60):
            await happened.wait()
        if not strays:
            return happened.is_set()
        try:
            proof = await placement.put_right(strays[0])
        except NotWanted:
            return False
        if proof.outcome != "unknown":
            return proof.outcome == "in"
    return False


async def type_and_edit(
    session: Session, policy: Policy, encoding: Encoding, clock: VirtualClock
) -> None:
    documents = Documents(encoding, clock)
    content = "".join(f"\ta😀 l{n} target{n} z\r\n" for n in range(LINES))
    editor = ScriptedEditor(documents, URI, content, policy)
    document = documents.get(URI)
    assert document is not None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(person, session, editor)
        for number in range(EDITS):
            session.target = 3 + (number * 4) % (LINES - 8)
            await anyio.sleep(session.random.uniform(0, 0.2))
            edit = Replace(f"target{session.target} ", number, number % 5)
            try:
                placement = Placement(document, editor, edit, "test", lambda: True, None, Timings())
                proof = await placement.run()
            except ChangedSinceRead:
                session.reported["changed"] += 1
                outcome = "changed"
            else:
                outcome = proof.outcome
                session.reported[outcome] += 1
                session.most_sends = max(session.most_sends, proof.sends)
                if proof.late is not None and await came_late(placement):
                    outcome = "in"
                    session.reported["late"] += 1
            count = edit.is_in(editor.buffer.text)
            if count != (outcome == "in"):
                session.wrong.append(f"edit {number} ({edit.kind}) is in {count} times: {outcome}")
        session.done = True
    await editor.settle()
    await anyio.sleep(1)
    await editor.settle()
    text = editor.buffer.text
    session.wrong += [
        f"{w} is in {text.count(w)} times" for w in session.keys if text.count(w) != 1
    ]
    if document.text.content != text:
        session.wrong.append("mirror differs")


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_beside_a_fast_typist(policy: Policy, seed: int) -> None:
    session = Session(random.Random(seed))
    encoding: Encoding = ("utf-8", "utf-16", "utf-32")[seed % 3]
    run(lambda clock: type_and_edit(session, policy, encoding, clock))
    print(
        f"{policy.name:36} {encoding} {len(session.keys)} keys, {dict(session.reported)}, "
        f"at most {session.most_sends} sends"
    )
    assert session.wrong == []
