"""A client that holds back what is typed until it is given an edit, and checks nothing: Kakoune."""

from collections.abc import Callable

import anyio
from support.scripted_editor import KAKOUNE, Point, ScriptedEditor, VirtualClock, run

from lsp_agent.text.lines import Text
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.placing.placement import place

URI = "untitled:doc"
TEXT = "one\ntwo\nthree\n"

Keys = Callable[[ScriptedEditor, Point, int], None]


def opened(
    clock: VirtualClock, keys: Keys = lambda *_: None
) -> tuple[ScriptedEditor, OpenDocument]:
    documents = Documents(clock=clock)
    editor = ScriptedEditor(documents, URI, TEXT, KAKOUNE, keys)
    document = documents.get(URI)
    assert document is not None
    return editor, document


async def put(editor: ScriptedEditor, document: OpenDocument, old: str, new: str) -> str:
    """What the edit rule says of it."""

    def resolve(now: Text) -> Text:
        return Text.of(now.content.replace(old, new))

    proof = await place(document, editor, resolve, "edit", still_wanted=lambda: True)
    assert document.text.content == editor.buffer.text
    return proof.outcome


def typed_in_flight(what: str, at: int = 0) -> Keys:
    """With the first edit already on its way."""

    def keys(editor: ScriptedEditor, point: Point, send: int) -> None:
        if (point, send) == ("before apply", 1):
            editor.buffer.type(at, what)

    return keys


def test_an_edit_of_nothing_brings_what_it_has_not_told_of() -> None:
    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock)
        editor.buffer.type(0, "zero\n")
        assert await put(editor, document, "two", "TWO") == "in"
        assert editor.buffer.text == "zero\none\nTWO\nthree\n"
        assert (editor.probes, editor.sends) == (1, 1)

    run(main)


def test_nothing_is_put_between_the_keys_of_a_person_who_types() -> None:
    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock)

        async def person() -> None:
            for number in range(10):
                editor.buffer.type(0, f"{number}\n")
                editor.flush()
                assert "TWO" not in editor.buffer.text
                await anyio.sleep(0.3)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(person)
            await anyio.sleep(0.01)
            assert await put(editor, document, "two", "TWO") == "in"
        assert editor.buffer.text.endswith("0\none\nTWO\nthree\n")
        assert editor.sends == 1

    run(main)


def test_words_that_went_in_a_line_too_high_are_found_and_put_right() -> None:
    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock, typed_in_flight("zero\n"))
        assert await put(editor, document, "two\n", "two\nand some more\n") == "in"
        assert editor.buffer.text == "zero\none\ntwo\nand some more\nthree\n"
        assert editor.sends == 2

    run(main)


def test_words_that_went_to_the_end_of_a_shorter_line_are_put_right() -> None:
    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock, typed_in_flight("\n"))
        assert await put(editor, document, "three", "three and a half") == "in"
        assert editor.buffer.text == "\none\ntwo\nthree and a half\n"

    run(main)


def test_words_beside_which_was_typed_elsewhere_stay_where_they_are() -> None:
    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock, typed_in_flight(" and so on", len(TEXT) - 1))
        assert await put(editor, document, "one", "one and a half") == "in"
        assert editor.buffer.text == "one and a half\ntwo\nthree and so on\n"
        assert editor.sends == 1

    run(main)
