"""A client that holds back what is typed until it is given an edit, and checks nothing: Kakoune."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import anyio
from hypothesis import assume, given
from hypothesis import strategies as st
from support.scripted_editor import KAKOUNE, Point, ScriptedEditor, VirtualClock, run

from lsp_agent.text.lines import Text
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.placing.placement import place

URI = "untitled:doc"
TEXT = "one\ntwo\nthree\n"

Keys = Callable[[ScriptedEditor, Point, int], None]


def opened(
    clock: VirtualClock, keys: Keys = lambda *_: None, text: str = TEXT
) -> tuple[ScriptedEditor, OpenDocument]:
    documents = Documents(clock=clock)
    editor = ScriptedEditor(documents, URI, text, KAKOUNE, keys)
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


def _first_line_goes(editor: ScriptedEditor, point: Point, send: int) -> None:
    if (point, send) == ("before apply", 1):
        editor.buffer.replace(0, editor.buffer.text.index("\n") + 1, "")


TYPED_ABOVE, TAKEN_OUT = typed_in_flight("zero\n"), _first_line_goes


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


def test_a_line_that_an_edit_took_for_its_own_is_put_back() -> None:
    """A line was typed above it, or one taken out."""

    async def main(clock: VirtualClock) -> None:
        text = "one\ntwo\nthree\nfour\nfive\nsix\n"
        for keys, lines in ((TYPED_ABOVE, ("zero", "one", "two")), (TAKEN_OUT, ("two",))):
            for old, new in (
                ("three\n", "3, in words\n"),
                ("three\nfour", "some words of the agent's"),
                ("three\n", ""),
                ("three\nfour\n", ""),
                ("five", "fifth"),
            ):
                editor, document = opened(clock, keys, text)
                assert await put(editor, document, old, new) == "in"
                rest = "three\nfour\nfive\nsix\n".replace(old, new)
                assert editor.buffer.text == "\n".join([*lines, rest]), (old, new)

    run(main)


def test_the_end_of_an_answer_that_went_a_line_too_low_is_put_right() -> None:
    """As it was in a real Kakoune: its last words came with the marker's going."""

    async def main(clock: VirtualClock) -> None:
        said = "one two three four "
        text = f"first\nsecond\n{said}\n<!-- at work -->\n\n## You\n\nlast\n"
        editor, document = opened(clock, TAKEN_OUT, text)
        old, new = f"{said}\n<!-- at work -->\n", f"{said}five six\n\n- a call\n\nDone.\n"
        assert await put(editor, document, old, new) == "in"
        assert editor.buffer.text == f"second\n{new}\n## You\n\nlast\n"

    run(main)


def text_of(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


_NEW = st.lists(st.sampled_from(["new", "some words", ""]), max_size=3)


@given(st.data())
def test_whatever_lines_move_above_an_edit_all_of_it_and_nothing_else_goes_in(
    data: st.DataObject,
) -> None:
    """As long as it takes none of what was typed: that nobody was told of."""
    lines = [f"line {number} of the text" for number in range(data.draw(st.integers(8, 14)))]
    first = data.draw(st.integers(6, len(lines) - 1))
    stop = data.draw(st.integers(first, len(lines)))
    new = [*lines[:first], *data.draw(_NEW), *lines[stop:]]
    assume(new != lines)  # else nothing is sent
    at = data.draw(st.integers(0, 2))
    taken, typed = data.draw(st.integers(0, 2)), data.draw(st.lists(st.just("typed"), max_size=2))

    def keys(editor: ScriptedEditor, point: Point, send: int) -> None:
        if (point, send) == ("before apply", 1):
            begin, stop = (sum(map(len, lines[:n])) + n for n in (at, at + taken))
            editor.buffer.replace(begin, stop, text_of(typed))

    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock, keys, text_of(lines))
        assert await put(editor, document, text_of(lines[6:]), text_of(new[6:])) == "in"
        assert editor.buffer.text == text_of([*new[:at], *typed, *new[at + taken :]])

    run(main)


#: A line is typed at the top or taken out there, and whether that is told before the edit comes.
_MOVES = st.lists(st.tuples(st.sampled_from(["typed", ""]), st.booleans()), max_size=2)


@given(st.tuples(_MOVES, _MOVES, _MOVES), st.integers(1, 10))
def test_the_end_of_an_answer_goes_in_however_often_lines_move_above_it(
    moves: tuple[list[tuple[str, bool]], ...], length: int
) -> None:
    head = [f"line {number}" for number in range(8)]
    said = f"{'word ' * length}\n\n- a call"
    old, new = f"{said}\n<!-- the agent is at work -->\n", f"{said}\n\nDone.\n"
    rest = "\n## You\n\nlast\nof all\n"

    def keys(editor: ScriptedEditor, point: Point, send: int) -> None:
        for typed, told in moves[send - 1] if point == "before apply" and send <= 3 else ():
            if typed:
                editor.buffer.type(0, f"{typed}\n")
                head.insert(0, typed)
            else:
                editor.buffer.replace(0, len(head.pop(0)) + 1, "")
            if told:
                editor.flush()

    async def main(clock: VirtualClock) -> None:
        editor, document = opened(clock, keys, f"{text_of(head)}{old}{rest}")
        assert await put(editor, document, old, new) == "in"
        assert editor.buffer.text == f"{text_of(head)}{new}{rest}"

    run(main)


class Slow(ScriptedEditor):
    """Answers at once and tells a second later, as on a busy machine."""

    def _deliver(self, version: int, changes: list[dict[str, Any]]) -> Callable[[], None]:
        tell = super()._deliver(version, changes)
        return lambda: asyncio.get_running_loop().call_later(1.0, tell) and None


def test_who_told_late_of_an_edit_is_given_as_long_to_tell_of_what_was_typed() -> None:
    async def main(clock: VirtualClock) -> None:
        documents = Documents(clock=clock)
        editor = Slow(documents, URI, TEXT, KAKOUNE)
        document = documents.get(URI)
        assert document is not None
        assert await put(editor, document, "two", "TWO") == "in"
        editor.buffer.type(0, "zero\n")
        assert await put(editor, document, "three", "THREE") == "in"
        assert editor.buffer.text == "zero\none\nTWO\nTHREE\n"
        assert editor.sends == 2

    run(main)
