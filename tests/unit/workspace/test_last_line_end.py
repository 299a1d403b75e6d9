"""Editors in which the end of the last line is the file's property: no edit can change it."""

import pytest
from support.scripted_editor import Policy, ScriptedEditor, VirtualClock, run

from lsp_agent.text.lines import Text
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import EditorTraits
from lsp_agent.workspace.placing.placement import Proof, place

URI = "untitled:doc"
KEEPS = Policy("keeps it", traits=EditorTraits(keeps_last_line_end=True))


def placed(shown: str, meant: str, policy: Policy = KEEPS) -> tuple[Proof, str, int]:
    """The proof, the text afterwards, and how often something was sent."""

    async def go(clock: VirtualClock) -> tuple[Proof, str, int]:
        documents = Documents(clock=clock)
        editor = ScriptedEditor(documents, URI, shown, policy)
        document = documents.get(URI)
        assert document is not None
        proof = await place(
            document, editor, lambda _: Text.of(meant), "edit", still_wanted=lambda: True
        )
        await editor.settle()
        return proof, editor.buffer.text, editor.sends

    return run(go)


@pytest.mark.parametrize(
    ("shown", "meant", "after"),
    [
        ("a\nb\n", "a\nc", "a\nc\n"),
        ("a\r\nb\r\n", "a\r\nc", "a\r\nc\r\n"),
        ("a\nb\n", "c", "c\n"),
        ("a\nb\n", "", "\n"),
        ("\n", "a", "a\n"),
        ("a\nb", "a\nc\n", "a\nc"),
        ("a\nb", "a\nb\nc\n", "a\nb\nc"),
        ("a\nb\n", "a\nc\n", "a\nc\n"),
        ("a\nb", "a\nc", "a\nc"),
    ],
)
def test_the_last_line_ends_as_it_did(shown: str, meant: str, after: str) -> None:
    proof, text, sends = placed(shown, meant)
    assert (proof.outcome, proof.how, text, sends) == ("in", "state", after, 1)
    assert proof.meant.content == after


@pytest.mark.parametrize(("shown", "meant"), [("a\nb\n", "a\nb"), ("a\nb", "a\nb\n"), ("\n", "")])
def test_an_edit_of_that_end_alone_is_in_without_being_sent(shown: str, meant: str) -> None:
    proof, text, sends = placed(shown, meant)
    assert (proof.outcome, proof.how, text, sends) == ("in", "same", shown, 0)


def test_elsewhere_an_edit_may_take_the_last_line_end_away() -> None:
    _, text, _ = placed("a\nb\n", "a\nb", Policy("plain"))
    assert text == "a\nb"
