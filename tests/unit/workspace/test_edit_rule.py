"""Keys that are typed where they hurt: nothing is lost, nothing doubled, nothing misreported."""

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import pytest
from support.scripted_editor import (
    POINTS,
    POLICIES,
    Point,
    Policy,
    ScriptedEditor,
    VirtualClock,
    run,
)

from lsp_agent.text.lines import Text
from lsp_agent.text.merge import merge3
from lsp_agent.text.positions import Encoding
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import EditorTraits
from lsp_agent.workspace.placing.deaf_client import DeafClient
from lsp_agent.workspace.placing.placement import Proof, place

URI = "untitled:doc"
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")

#: Line end, what stands in the lines, and the last line's end.
CONTENTS = {
    "emoji": ("\n", "a 😀é e\u0301 b", "\n"),
    "CRLF": ("\r\n", "x 😀", "\r\n"),
    "form feeds": ("\n", "p\x0cq\x0b", "\n"),
    "U+2028": ("\r\n", "m\u2028n\x85o", "\r\n"),
    "no last newline": ("\n", "tail 👩\u200d🚒", ""),
}
KINDS = ("replace", "insert", "delete", "write", "append")
PLACES = ("same line", "above", "below", "new line above")
EDITS = 3


class ChangedSinceRead(Exception):
    pass


@dataclass
class Case:
    policy: Policy
    encoding: Encoding
    content: str
    kind: str
    place: str
    point: Point

    def __str__(self) -> str:
        return " / ".join(
            (self.policy.name, self.encoding, self.content, self.kind, self.place, self.point)
        )


@dataclass
class Outcome:
    proofs: list[Proof | None] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    editor: ScriptedEditor | None = None
    documents: Documents | None = None
    late: list[int] = field(default_factory=list)


def document(content: str) -> str:
    end, filler, last = CONTENTS[content]
    lines = [f"{filler} l{n} target{n} {filler} gone{n} z" for n in range(4 * EDITS)]
    return end.join(lines) + last


def replacing(kind: str, number: int, served: str, end: str) -> Callable[[Text], Text]:
    """The agent's edit number ``number``, by words found again or as a whole text."""
    line = 4 * number + 1
    word, new = f"target{line} ", f"AGENT{number}\\{number} "

    def resolve(text: Text) -> Text:
        now = text.content
        if kind == "write":
            merge = merge3(Text.of(served), Text.of(served.replace(word, new)), text)
            if not merge.clean:
                raise ChangedSinceRead
            return merge.text
        if kind == "append":
            last = "" if not now or now.endswith(("\n", "\r")) else end
            return Text.of(f"{now}{last}AGENT{number}\\{number} appended")
        if kind == "delete":
            whole = next((each for each in text.lines if word in each), None)
            if whole is None or whole not in served:
                raise ChangedSinceRead
            return Text.of(now.replace(whole, ""))
        if now.count(word) != 1:
            raise ChangedSinceRead
        if kind == "insert":
            return Text.of(now.replace(word, f"{word}{end}{new}{end}one more line{end}"))
        return Text.of(now.replace(word, new))

    return resolve


def type_near(editor: ScriptedEditor, case: Case, number: int, token: str) -> None:
    text, end = editor.buffer.text, CONTENTS[case.content][0]
    line = 4 * number + {"same line": 1, "above": 0, "below": 2, "new line above": 0}[case.place]
    at = text.find(f"l{line} ")
    if at < 0:  # the line is gone: the person goes on somewhere else
        at = text.find(f"l{4 * number + 3} ")
    editor.type(at, f"{token}{end} " if case.place == "new line above" else token)


async def edits_under_typing(case: Case, clock: VirtualClock) -> Outcome:
    outcome = Outcome()
    documents = outcome.documents = Documents(case.encoding, clock)
    number = 0

    def key(point: Point) -> None:
        token = f"«{len(outcome.tokens)}😀{point[:3]}»"
        outcome.tokens.append(token)
        type_near(editor, case, number, token)

    def keys(_: ScriptedEditor, point: Point, send: int) -> None:
        refuses = case.point == "before retry" and point == "before apply"
        if send == 1 and (point == case.point or refuses):
            key(point)

    editor = outcome.editor = ScriptedEditor(
        documents, URI, document(case.content), case.policy, keys
    )
    opened = documents.get(URI)
    assert opened is not None
    for number in range(EDITS):
        # As the agent read it: what the editor has not sent yet is not in it.
        resolve = replacing(case.kind, number, opened.text.content, CONTENTS[case.content][0])
        editor.sends = 0

        async def prepare(before: Text, meant: Text) -> None:
            if case.point == "before send":
                key("before send")
                await anyio.sleep(case.policy.travel)

        try:
            proof = await place(
                opened, editor, resolve, "test", still_wanted=lambda: True, prepare=prepare
            )
            outcome.proofs.append(proof)
            if proof.late is not None:
                proof.late.on_landed(lambda _before, _meant, n=number: outcome.late.append(n))
                await anyio.sleep(12)
        except (ChangedSinceRead, DeafClient):
            outcome.proofs.append(None)
    await editor.settle()
    await anyio.sleep(1)
    await editor.settle()
    return outcome


def mistakes(case: Case, outcome: Outcome) -> list[str]:
    editor, documents = outcome.editor, outcome.documents
    assert editor is not None
    assert documents is not None
    text, wrong = editor.buffer.text, []
    opened = documents.get(URI)
    if opened is None or opened.text.content != text:
        wrong.append("mirror differs")
    if editor.most_in_flight > 1:
        wrong.append("two requests in flight")
    wrong += [
        f"token {token!r} is in {text.count(token)} times"
        for token in outcome.tokens
        if text.count(token) != 1
    ]
    if len(set(outcome.late)) != len(outcome.late):
        wrong.append("an edit was late twice")
    for number, proof in enumerate(outcome.proofs):
        mark, line = f"AGENT{number}\\{number}", 4 * number + 1
        gone = f"target{line} " not in text
        count = int(gone) if case.kind == "delete" else text.count(mark)
        reported = "refused" if proof is None else proof.outcome
        if count > 1:
            wrong.append(f"edit {number} is in {count} times, reported {reported}")
        if number in outcome.late:
            reported = "in"
        if reported == "unknown" and count:
            wrong.append(f"edit {number} is in, and stays unknown")
        if reported == "in" and count != 1:
            wrong.append(f"edit {number} is reported in, and is not")
        if reported in {"refused", "conflict"} and count:
            wrong.append(f"edit {number} is in, reported {reported}")
        if case.place != "same line" and not case.policy.lie and reported != "in":
            wrong.append(f"edit {number} is {reported} though the person typed elsewhere")
    return wrong


def cases(policy: Policy) -> list[Case]:
    """Every point, place and kind; encodings and contents go round with them."""
    around = itertools.cycle(itertools.product(ENCODINGS, CONTENTS))
    points = [point for point in POINTS if point != "during save"]
    return [
        Case(policy, encoding, content, kind, place_, point)
        for (kind, place_, point, _), (encoding, content) in zip(
            itertools.product(KINDS, PLACES, points, range(2)), around, strict=False
        )
    ]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_every_key_and_every_edit_is_in_exactly_once(policy: Policy) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    for case in cases(policy):
        outcome = run(lambda clock, case=case: edits_under_typing(case, clock))
        for proof in outcome.proofs:
            counts[case.point, proof.outcome if proof else "refused"] += 1
        wrong += [f"{case}: {mistake}" for mistake in mistakes(case, outcome)]
    for point in sorted({point for point, _ in counts}):
        row = {kind: n for (p, kind), n in sorted(counts.items()) if p == point}
        print(f"{policy.name:36} {point:16} {row}")
    assert wrong == []


LIES = [
    Policy(f"{name}, {lie}", lie=lie, debounce=debounce, traits=EditorTraits(can_sync=can_sync))
    for lie in ("true, not done", "false, done", "silent, done", "silent, not done", "late")
    for name, debounce, can_sync in (("at once", 0.0, False), ("synced 150 ms", 0.15, True))
]


@pytest.mark.parametrize("policy", LIES, ids=lambda policy: policy.name)
def test_an_editor_that_lies_is_not_believed(policy: Policy) -> None:
    expected = {
        "true, not done": {"unknown"},
        "silent, not done": {"unknown"},
        # One that refused before is waited for until it answers.
        "late": {"unknown", "in"},
        "false, done": {"in"},
        "silent, done": {"in"},
    }[policy.lie]
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for case in cases(policy)[::7]:
        outcome = run(lambda clock, case=case: edits_under_typing(case, clock))
        counts.update(proof.outcome if proof else "refused" for proof in outcome.proofs)
        wrong += [f"{case}: {mistake}" for mistake in mistakes(case, outcome)]
        if policy.lie == "late" and case.place != "same line":
            unknown = [proof for proof in outcome.proofs if proof and proof.outcome == "unknown"]
            assert len(outcome.late) == len(unknown), str(case)
    print(f"{policy.name:36} {dict(counts)}")
    assert wrong == []
    assert set(counts) <= expected | {"refused"}


def only_edit(
    policy: Policy,
    content: str,
    resolve: Callable[[Text], Text],
    keys: Callable[[ScriptedEditor, Point, int], None] = lambda *_: None,
) -> tuple[Proof, ScriptedEditor]:
    async def main(clock: VirtualClock) -> tuple[Proof, ScriptedEditor]:
        documents = Documents("utf-16", clock)
        editor = ScriptedEditor(documents, URI, content, policy, keys)
        opened = documents.get(URI)
        assert opened is not None
        proof = await place(opened, editor, resolve, "test", still_wanted=lambda: True)
        await anyio.sleep(70)
        await editor.settle()
        assert opened.text.content == editor.buffer.text
        assert not opened.observed
        return proof, editor

    return run(main)


def two(text: Text) -> Text:
    return Text.of(text.content.replace("two", "2"))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_an_undo_right_after_an_edit_is_not_answered_by_another_one(policy: Policy) -> None:
    def undo(editor: ScriptedEditor, point: Point, send: int) -> None:
        if point == "same didChange":
            at = editor.buffer.text.index("2")
            editor.buffer.replace(at, at + 1, "two")

    proof, editor = only_edit(policy, "one\ntwo\n", two, undo)
    if policy.joins:  # nothing of it is ever seen: at most it is unknown
        assert proof.outcome in {"in", "unknown"}
        return
    assert (proof.outcome, proof.sends, editor.sends) == ("in", 1, 1)
    assert editor.buffer.text == "one\ntwo\n"


def test_line_ends_are_those_of_the_document() -> None:
    proof, editor = only_edit(
        POLICIES[0], "one\r\ntwo\r\n", lambda text: Text.of(text.content + "a\nb\n")
    )
    assert (proof.outcome, editor.buffer.text) == ("in", "one\r\ntwo\r\na\r\nb\r\n")
    mixed = "one\r\ntwo\n"
    proof, editor = only_edit(POLICIES[0], mixed, lambda text: Text.of(text.content + "a\n"))
    assert (proof.outcome, editor.buffer.text) == ("in", mixed + "a\n")


def test_what_is_so_already_is_not_sent() -> None:
    proof, editor = only_edit(POLICIES[0], "one\n2\n", two)
    assert (proof.outcome, proof.how, editor.sends) == ("in", "same", 0)


def test_an_editor_that_always_refuses_is_asked_four_times_and_believed() -> None:
    policy = Policy("refuses", lie="refuses")
    proof, editor = only_edit(policy, "one\ntwo\n", two)
    assert (proof.outcome, proof.sends) == ("refused", 4)
    assert editor.buffer.text == "one\ntwo\n"


def test_an_editor_that_refuses_beside_a_typist_is_heard_out_however_slow_it_is() -> None:
    def key(editor: ScriptedEditor, point: Point, send: int) -> None:
        if point == "before apply":
            editor.type(0, "k")

    proof, editor = only_edit(Policy("slow", travel=1.5), "one\ntwo\n", two, key)
    assert proof.outcome == "refused"
    assert editor.buffer.text == "k" * proof.sends + "one\ntwo\n"
