"""Edits are sent between the keys of a person who types, not on top of them."""

import asyncio
import random

from support.scripted_editor import POLICIES, ScriptedEditor, VirtualClock, run

from lsp_agent.text.lines import Text
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.placing.flight import Timings
from lsp_agent.workspace.placing.placement import place

URI = "untitled:doc"
NEOVIM = next(policy for policy in POLICIES if policy.name == "Neovim with the barrier")
EDITS = 100


async def edits_beside_typing(clock: VirtualClock, keys_a_second: int) -> tuple[int, float]:
    """How often edits were sent, and the longest that one took, in seconds."""
    rng = random.Random(3)
    documents = Documents(clock=clock)
    text = "".join(f"word{n} rest\n" for n in range(EDITS)) + "typed: "
    editor = ScriptedEditor(documents, URI, text, NEOVIM)
    document = documents.get(URI)
    assert document is not None

    async def type_on() -> None:
        while True:
            editor.type(len(editor.buffer.text), "k")
            await asyncio.sleep(rng.uniform(0.8, 1.2) / keys_a_second)

    typing = asyncio.create_task(type_on())
    longest = 0.0
    for n in range(EDITS):
        await asyncio.sleep(rng.uniform(0, 0.2))
        started = clock()

        def resolve(now: Text, old: str = f"word{n} ") -> Text:
            return Text.of(now.content.replace(old, old.upper()))

        proof = await place(document, editor, resolve, "edit", still_wanted=lambda: True)
        assert proof.outcome == "in"
        longest = max(longest, clock() - started)
    typing.cancel()
    return editor.sends, longest


def test_no_edit_is_refused_beside_a_fast_typist() -> None:
    """A refusal costs the person a message on the screen, in a narrow one a key."""
    sends, longest = run(lambda clock: edits_beside_typing(clock, 15))
    assert sends == EDITS
    assert longest < 0.4


def test_keys_that_come_too_fast_to_fit_between_hold_nothing_up() -> None:
    _, longest = run(lambda clock: edits_beside_typing(clock, 150))
    assert longest < 1


def test_nothing_waits_for_keys_after_an_edit_of_ours_in_many_places() -> None:
    async def two_edits(clock: VirtualClock) -> float:
        documents = Documents(clock=clock)
        text = "".join(f"word{n}\nkept\n" for n in range(20))
        editor = ScriptedEditor(documents, URI, text, NEOVIM)
        document = documents.get(URI)
        assert document is not None
        started = 0.0
        for old, new in (("word", "WORD"), ("WORD", "Word")):
            started = clock()

            def resolve(now: Text, old: str = old, new: str = new) -> Text:
                return Text.of(now.content.replace(old, new))

            proof = await place(document, editor, resolve, "edit", still_wanted=lambda: True)
            assert proof.outcome == "in"
        return clock() - started

    assert run(two_edits) < Timings().align_wait
