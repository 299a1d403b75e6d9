"""A client that applies edits and does not tell of what changes: nothing is edited blindly."""

from dataclasses import replace

import pytest
from support.scripted_editor import POLICIES, Policy, ScriptedEditor, VirtualClock, run

from lsp_agent.text.lines import Text
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.placing.deaf_client import DeafClient
from lsp_agent.workspace.placing.placement import Proof, place

URI = "untitled:doc"
TEXT = "one\ntwo\nthree\n"
NEOVIMS = [policy for policy in POLICIES if policy.traits.may_be_deaf]
NEOVIM = NEOVIMS[-1]
PLAIN = POLICIES[0]


def opened(clock: VirtualClock, policy: Policy) -> tuple[ScriptedEditor, OpenDocument]:
    documents = Documents(clock=clock)
    editor = ScriptedEditor(documents, URI, TEXT, policy)
    document = documents.get(URI)
    assert document is not None
    return editor, document


async def upper(editor: ScriptedEditor, document: OpenDocument, word: str) -> Proof:
    def resolve(now: Text) -> Text:
        return Text.of(now.content.replace(word, word.upper()))

    return await place(document, editor, resolve, "edit", still_wanted=lambda: True)


@pytest.mark.parametrize("policy", NEOVIMS, ids=lambda policy: policy.name)
def test_a_deaf_document_is_not_edited(policy: Policy) -> None:
    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock, replace(policy, tells=False))
        editor.type(0, "zero\n")
        for _ in range(2):
            with pytest.raises(DeafClient, match="doc: the editor does not say"):
                await upper(editor, document, "two")
            assert editor.buffer.text == "zero\n" + TEXT
        assert (editor.sends, editor.probes) == (0, 2)  # a reload may have dropped the first

    run(main)


@pytest.mark.parametrize("policy", NEOVIMS, ids=lambda policy: policy.name)
def test_only_the_first_edit_asks_whether_it_is_told_of(policy: Policy) -> None:
    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock, policy)
        for word in ("two", "three"):
            assert (await upper(editor, document, word)).outcome == "in"
        assert editor.buffer.text == "one\nTWO\nTHREE\n"
        assert (editor.sends, editor.probes) == (2, 1)
        assert clock.now < 1

    run(main)


def test_a_document_that_has_told_of_a_change_is_not_asked() -> None:
    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock, NEOVIM)
        editor.type(0, "zero\n")
        await editor.settle()
        assert (await upper(editor, document, "two")).outcome == "in"
        assert (editor.sends, editor.probes) == (1, 0)

    run(main)


def test_a_deaf_document_that_is_opened_anew_is_edited_again() -> None:
    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock, replace(NEOVIM, tells=False))
        with pytest.raises(DeafClient):
            await upper(editor, document, "two")
        editor.documents.close(URI)
        again, document = opened(clock, NEOVIM)
        assert (await upper(again, document, "two")).outcome == "in"

    run(main)


def test_a_refusal_of_the_edit_that_changes_nothing_is_one_of_the_edit() -> None:
    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock, replace(NEOVIM, lie="refuses"))
        assert (await upper(editor, document, "two")).outcome == "refused"
        assert (editor.sends, editor.probes) == (0, 1)
        assert document.tells is None

    run(main)


def test_an_unknown_client_that_does_not_tell_of_its_first_edit_gets_no_other() -> None:
    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock, replace(PLAIN, tells=False))
        assert (await upper(editor, document, "two")).outcome == "unknown"
        with pytest.raises(DeafClient):
            await upper(editor, document, "three")
        assert editor.buffer.text == "one\nTWO\nthree\n"

    run(main)


def test_an_edit_that_changes_nothing_is_not_taken_for_typing() -> None:
    async def main(clock: VirtualClock) -> None:
        _, document = opened(clock, PLAIN)
        before = document.typed_at
        document.take_changes([((0, 3, 0, 3), "")])
        assert document.typed_at == before
        assert document.tells
        document.take_changes([((0, 3, 0, 3), "x")])
        assert document.typed_at > before

    run(main)
