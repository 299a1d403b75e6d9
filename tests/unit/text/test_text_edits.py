import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_texts import contents, numbered, pairs

from lsp_agent.text.edits import TextEdit, apply_edits, replace_spans, text_edits
from lsp_agent.text.lines import Text, body_length


def edits_of(old: str, new: str) -> list[TextEdit]:
    return text_edits(Text.of(old), Text.of(new))


@given(pairs())
def test_the_edits_make_old_into_new(pair: tuple[str, str]):
    old, new = map(Text.of, pair)
    edited = apply_edits(old, text_edits(old, new))
    assert edited.lines == new.lines


@given(pairs())
def test_edits_are_ascending_and_none_touches_another(pair: tuple[str, str]):
    end = (-1, -1)
    for edit in edits_of(*pair):
        start = (edit.start_line, edit.start_column)
        assert end < start <= (edit.end_line, edit.end_column)
        end = (edit.end_line, edit.end_column)


@given(pairs())
def test_edits_lie_inside_the_document_and_cut_no_line_end(pair: tuple[str, str]):
    lines = Text.of(pair[0]).lines
    for edit in edits_of(*pair):
        start = (edit.start_line, edit.start_column)
        assert not lines or start < (len(lines), 0)
        for line, column in (start, (edit.end_line, edit.end_column)):
            assert column <= body_length(lines[line]) if line < len(lines) else column == 0


def cuts(content: str, at: int) -> bool:
    left, right = content[at - 1 : at], content[at : at + 1]
    return (left == "\r" and right == "\n") or (
        "\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff"
    )


@given(pairs())
def test_no_edit_parts_a_line_end_or_a_surrogate_pair_in_either_text(pair: tuple[str, str]):
    old, new = map(Text.of, pair)
    shift = 0
    for edit in text_edits(old, new):
        start, end = (
            sum(map(len, old.lines[:line])) + column
            for line, column in (
                (edit.start_line, edit.start_column),
                (edit.end_line, edit.end_column),
            )
        )
        new_start, new_end = start + shift, start + shift + len(edit.new_text)
        assert not cuts(old.content, start)
        assert not cuts(old.content, end)
        assert not cuts(new.content, new_start)
        assert not cuts(new.content, new_end)
        shift += len(edit.new_text) - (end - start)


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        ("one two\n", "one 2\n", TextEdit(0, 4, 0, 7, "2")),
        ("a\nb\n", "a\nx\nb\n", TextEdit(1, 0, 1, 0, "x\n")),
        ("a\nb\nc\n", "a\nc\n", TextEdit(1, 0, 2, 0, "")),
        ("a\r\nb\r\n", "a\nb\r\n", TextEdit(0, 1, 1, 0, "\n")),
        ("a😀b\n", "a😁b\n", TextEdit(0, 1, 0, 2, "😁")),
    ],
)
def test_a_change_is_trimmed_to_what_differs(old: str, new: str, edit: TextEdit):
    assert edits_of(old, new) == [edit]


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        # An insertion at (lineCount, 0) leaves a blank line in Neovim before 0.12.
        ("one\ntwo\n", "one\ntwo\nthree\n", TextEdit(1, 3, 1, 3, "\nthree")),
        ("one\r\ntwo\r\n", "one\r\ntwo\r\nthree\r\n", TextEdit(1, 3, 1, 3, "\r\nthree")),
        ("one\ntwo", "one\ntwo\nthree", TextEdit(1, 3, 1, 3, "\nthree")),
        ("one\ntwo", "one\ntwo\nthree\n", TextEdit(1, 3, 1, 3, "\nthree\n")),
        ("one\n", "one\ntwo", TextEdit(0, 3, 1, 0, "\ntwo")),
        ("one\r\n", "one\r\ntwo\n", TextEdit(0, 3, 1, 0, "\r\ntwo\n")),
        ("one\ntwo\n", "one\n", TextEdit(0, 3, 1, 3, "")),
        ("one\n", "one", TextEdit(0, 3, 1, 0, "")),
        ("one", "one\n", TextEdit(0, 3, 0, 3, "\n")),
        ("one\ntwo\n", "", TextEdit(0, 0, 2, 0, "")),
        # Neovim shows an empty file as one line end; "x\n" before it would be one too many.
        ("\n", "x\n", TextEdit(0, 0, 0, 0, "x")),
        ("", "x\n", TextEdit(0, 0, 0, 0, "x\n")),
    ],
)
def test_a_change_at_the_end_takes_a_form_that_all_editors_apply_alike(
    old: str, new: str, edit: TextEdit
):
    assert edits_of(old, new) == [edit]


def test_lines_that_no_edit_touches_stay_the_same_objects():
    old = numbered(60)
    edits = [
        TextEdit(10, 0, 10, 4, "LINE"),
        TextEdit(20, 0, 20, 0, "new\n"),
        TextEdit(30, 0, 31, 0, ""),
    ]
    new = apply_edits(old, edits)
    ours = {id(line) for line in old.lines}
    assert [line for line in new.lines if id(line) not in ours] == ["LINE 10\n", "new\n"]


def test_encoding_and_bom_stay():
    old = Text(("a\n",), "utf-16-le", bom=True)
    new = apply_edits(old, [TextEdit(0, 0, 0, 1, "b")])
    assert (new.content, new.encoding, new.bom) == ("b\n", "utf-16-le", True)


@pytest.mark.parametrize(
    "edits",
    [
        [TextEdit(0, 0, 0, 2, ""), TextEdit(0, 1, 0, 3, "")],
        [TextEdit(1, 0, 1, 0, "x"), TextEdit(0, 0, 0, 0, "y")],
        [TextEdit(0, 2, 0, 1, "")],
    ],
)
def test_overlapping_or_reversed_edits_are_refused(edits: list[TextEdit]):
    with pytest.raises(ValueError, match=r"overlap|ends before"):
        apply_edits(Text.of("abc\ndef\n"), edits)


@given(contents, st.lists(st.tuples(st.integers(0, 60), contents), max_size=8))
def test_replaced_spans_are_the_split_of_the_new_content(
    content: str, cuts_and_news: list[tuple[int, str]]
):
    ordered = sorted(cuts_and_news, key=lambda each: each[0])
    cuts = [min(cut, len(content)) for cut, _ in ordered]
    # Every other stretch between two cuts is replaced.
    spans = [
        (start, end, new)
        for start, end, (_, new) in zip(cuts[::2], cuts[1::2], ordered[::2], strict=False)
    ]
    expected = content
    for start, end, new in reversed(spans):
        expected = expected[:start] + new + expected[end:]
    text = replace_spans(Text.of(content), spans)
    assert text.content == expected
    assert text == Text.of(text.content)


def test_replaced_spans_keep_untouched_lines_encoding_and_bom():
    text = Text(numbered(50, "\r\n").lines, "utf-16-le", bom=True)
    places = [text.content.index(f"line {number}") for number in (20, 30)]
    new = replace_spans(text, [(at, at + 4, "LINE") for at in places])
    assert [line for line in range(50) if new.lines[line] is not text.lines[line]] == [20, 30]
    assert (new.encoding, new.bom) == ("utf-16-le", True)


@pytest.mark.parametrize("spans", [[(1, 3, "")], [(1, 0, "")], [(0, 2, ""), (1, 2, "")]])
def test_spans_outside_the_text_or_out_of_order_are_refused(spans: list[tuple[int, int, str]]):
    with pytest.raises(ValueError, match="not in order in 2 code points"):
        replace_spans(Text.of("ab"), spans)
