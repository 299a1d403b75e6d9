"""zot's tools in words: what recordings of it say, and the rules that are known of it."""

import json
import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.zot_recordings import disk_texts, tool_calls, tool_results

from lsp_agent.text.lines import Text
from lsp_agent.toolset.arguments import (
    EditArgs,
    ReadArgs,
    Replacement,
    ToolFailure,
    parse_bash,
    parse_edit,
    parse_read,
    parse_write,
    unknown_tool,
)
from lsp_agent.toolset.commands import CommandOutput, bash_result, without_the_wait
from lsp_agent.toolset.editing import NO_CHANGE, edit_text, missing_open
from lsp_agent.toolset.reading import EMPTY_FILE, image_type, read_lines
from lsp_agent.toolset.writing import with_line_ends_of


def edited(content: str, *edits: tuple[str, str], path: str = "a.txt") -> str:
    return edit_text(
        path, Text.of(content), tuple(Replacement(old, new) for old, new in edits)
    ).content


def failure(function: object, *args: object) -> str:
    with pytest.raises(ToolFailure) as caught:
        function(*args)  # type: ignore[operator]
    assert str(caught.value) == caught.value.text
    return caught.value.text


# -- arguments


def test_names_of_arguments_match_without_case():
    assert parse_read({"PATH": "a", "Offset": 2}) == ReadArgs("a", 2, 0)


def test_null_is_as_good_as_absent():
    assert parse_read({"path": "a", "limit": None}).limit == 0
    assert failure(parse_write, {"path": None}) == "path is required"


@pytest.mark.parametrize(
    ("parse", "args", "message"),
    [
        (parse_read, None, "invalid args: unexpected end of JSON input"),
        (parse_read, {}, "path is required"),
        (parse_bash, {}, "command is required"),
        (
            parse_read,
            [],
            "invalid args: json: cannot unmarshal array into Go value of type tools.readArgs",
        ),
        (
            parse_edit,
            {"path": "a", "edits": "no"},
            "invalid args: json: cannot unmarshal string into Go struct field editArgs.edits"
            " of type []tools.editOp",
        ),
        (
            parse_read,
            {"path": "a", "offset": "1"},
            "invalid args: json: cannot unmarshal string into Go struct field readArgs.offset"
            " of type int",
        ),
        (
            parse_read,
            {"path": "a", "offset": 1.5},
            "invalid args: json: cannot unmarshal number 1.5 into Go struct field"
            " readArgs.offset of type int",
        ),
        (
            parse_write,
            {"path": "a", "content": True},
            "invalid args: json: cannot unmarshal bool into Go struct field writeArgs.content"
            " of type string",
        ),
        (
            parse_write,
            {"content": 5, "path": []},
            "invalid args: json: cannot unmarshal number into Go struct field writeArgs.content"
            " of type string",
        ),
        (
            parse_edit,
            {"path": "a", "edits": [{"oldText": 1}]},
            "invalid args: json: cannot unmarshal number into Go struct field"
            " editOp.edits.oldText of type string",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_zots_words(parse: object, args: object, message: str):
    assert failure(parse, args) == message


def test_halves_of_surrogate_pairs_become_replacement_characters():
    assert parse_write({"path": "a", "content": "\ud83d!"}).content == "\ufffd!"


# -- read


@given(
    st.binary(max_size=300).map(lambda data: data.replace(b"\0", b"\n")),
    st.integers(-2, 12),
    st.integers(-2, 12),
)
def test_a_read_is_the_selected_lines_each_with_an_end(data: bytes, offset: int, limit: int):
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    first = max(offset - 1, 0)
    selected = lines[first:][: limit if limit > 0 else None]
    expected = "".join(_go_string(line) + "\n" for line in selected)
    assert read_lines("a", data, offset, limit).text == expected


def _go_string(data: bytes) -> str:
    """Each byte that is no part of a character is a replacement character."""
    text, place = "", 0
    while place < len(data):
        for length in (1, 2, 3, 4):
            try:
                text += data[place : place + length].decode()
                break
            except UnicodeDecodeError:
                continue
        else:
            text, length = text + "\ufffd", 1
        place += length
    return text


def test_a_read_ends_after_2000_lines_and_says_where_to_go_on():
    text = read_lines("a", b"x\n" * 2001).text
    assert text == "x\n" * 2000 + "... [truncated at 2000 lines; go on with offset 2001]\n"
    assert read_lines("a", b"x\n" * 2001, 2001).text == "x\n"
    assert read_lines("a", b"x\n" * 2000).text == "x\n" * 2000
    assert read_lines("a", b"x\n" * 2001, limit=5).text == "x\n" * 5


def test_a_read_shows_51200_bytes_in_whole_lines_and_says_where_to_go_on():
    line = b"a" * 1023 + b"\n"
    data = line * 60 + b"the end\n"
    text = read_lines("a", data, 2).text
    assert text == line.decode() * 50 + "... [truncated at 51200 bytes; go on with offset 52]\n"
    assert read_lines("a", data, 52).text == line.decode() * 9 + "the end\n"
    assert read_lines("a", data, 2, 3).text == line.decode() * 3


def test_of_a_line_that_is_too_long_its_beginning_is_read():
    data = b"a" * 51199 + "é".encode() + b"\nmore\n"
    text = read_lines("a", data).text
    assert text == "a" * 51199 + "\ufffd\n... [truncated at 51200 bytes; go on with offset 2]\n"
    assert read_lines("a", data, 2).text == "more\n"


@given(
    st.lists(st.binary(max_size=9000).map(lambda line: re.sub(b"[\0\n\x80-\xff]", b"x", line))),
    st.integers(1, 9),
)
def test_a_long_file_is_read_whole_by_going_on_where_it_says(lines: list[bytes], times: int):
    data = b"".join(line + b"\n" for line in lines * times)
    got, offset = "", 1
    while offset:
        text, _, note = read_lines("a", data, offset).text.partition("... [truncated")
        got += text
        offset = int(note.removesuffix("]\n").rpartition(" ")[2] or 0)
    assert got.encode() == data


def test_a_binary_file_is_refused():
    assert failure(read_lines, "a.bin", b"ab\0") == ("a.bin looks binary; refusing to read as text")
    assert read_lines("a", b"a" * 8192 + b"\0").text


def test_carriage_returns_and_a_bom_are_shown_as_they_are():
    assert read_lines("a", "\ufeffa\r\nb".encode()).text == "\ufeffa\r\nb\n"


def test_a_read_of_the_recording_is_the_same():
    assert read_lines("empty.txt", b"").text == tool_results("edit_delete_all")[2]


@pytest.mark.parametrize(
    ("path", "kind"),
    [("a/b.PNG", "image/png"), ("x.jpeg", "image/jpeg"), ("a.png/b", None), ("png", None)],
)
def test_images_are_told_by_their_names(path: str, kind: str | None):
    assert image_type(path) == kind


# -- edit


def slow_edit(content: str, edits: list[tuple[str, str]], path: str) -> str:
    """zot's documented way for a text without CRLF; raises ToolFailure."""
    spans = []
    for number, (old, new) in enumerate(edits, 1):
        if not old:
            raise ToolFailure(f"edit {number}: oldText must not be empty")
        if old == new:
            raise ToolFailure(f"edit {number}: oldText equals newText")
        count = content.count(old)
        if count == 0:
            raise ToolFailure(f"edit {number}: oldText not found in {path}")
        if count > 1:
            raise ToolFailure(
                f"edit {number}: oldText matches {count} times (must be unique) in {path}"
            )
        spans.append((content.index(old), content.index(old) + len(old), new))
    for (start, end, _), (other_start, other_end, _) in combinations(spans, 2):
        if start < other_end and other_start < end:
            raise ToolFailure("edits overlap; merge them into one edit")
    for start, end, new in sorted(spans, reverse=True):
        content = content[:start] + new + content[end:]
    return content


def outcome(function: object, *args: object) -> str:
    """A failure without its hint where to look, which zot has not."""
    try:
        return "text " + function(*args)  # type: ignore[operator]
    except ToolFailure as failed:
        return "failure " + re.sub(r" \(at lines .*|; line \d+ differs .*", "", failed.text)


SHORT = st.text("ab\n\ré", max_size=3)
EDITS = st.lists(st.tuples(SHORT, SHORT), min_size=1, max_size=3)


@given(st.text("ab\n\ré", max_size=14).filter(lambda text: "\r\n" not in text), EDITS)
def test_every_edit_of_a_file_without_crlf_is_what_zot_would_do(
    content: str, edits: list[tuple[str, str]]
):
    expected = outcome(slow_edit, content, edits, "a.txt")
    assert outcome(lambda: edited(content, *edits)) == expected


@given(st.text("abc\n", max_size=14), EDITS)
def test_an_edit_of_a_crlf_file_is_that_of_the_lf_file_with_its_ends(
    content: str, edits: list[tuple[str, str]]
):
    edits = [(old.replace("\r", ""), new.replace("\r", "")) for old, new in edits]
    content = "x\n" + content
    expected = outcome(slow_edit, content, edits, "a.txt").replace("\n", "\r\n")
    assert outcome(lambda: edited(content.replace("\n", "\r\n"), *edits)) == expected


@given(st.lists(st.sampled_from(["\n", "\r\n"]), min_size=4, max_size=8), st.data())
def test_an_edit_keeps_every_line_end_outside_of_it(ends: list[str], data: st.DataObject):
    """Lines 0, 1, 2, …; a run of them is sent as context, one of them is changed."""
    count = len(ends)
    start = data.draw(st.integers(0, count - 1))
    end = data.draw(st.integers(start, count - 1))
    changed = data.draw(st.integers(start, end))
    content = "".join(f"line {number}{end}" for number, end in enumerate(ends))
    old = "\n".join(f"line {number}" for number in range(start, end + 1))
    new = old.replace(f"line {changed}", "another\nand more")
    place = ends[changed] if "\r\n" in ends else "\n"
    assert edited(content, (old, new)) == content.replace(
        f"line {changed}", f"another{place}and more"
    )


def test_a_crlf_edit_of_the_recording_leaves_the_recorded_file():
    numbers = "one two three four five six seven eight nine ten eleven twelve"
    before = "".join(f"{line}\r\n" for line in numbers.split())
    (_, args), *_ = [call for call in tool_calls("edit_crlf") if call[0] == "edit"]
    parsed = parse_edit(args)
    after = edit_text(parsed.path, Text.of(before), parsed.edits)
    assert after.content == disk_texts("edit_crlf")[-1]


def test_text_copied_with_crlf_matches_and_is_not_doubled():
    assert edited("a\r\nb\r\n", ("a\r\nb", "a\r\nB")) == "a\r\nB\r\n"


def test_a_last_line_without_an_end_goes_by_the_line_before():
    assert edited("a\r\nb", ("b", "b\nc")) == "a\r\nb\r\nc"


def test_an_edit_keeps_the_bom():
    text = Text.of("a\n", like=Text((), bom=True))
    assert edit_text("a", text, (Replacement("a", "b"),)).bom


def test_no_edit_at_all_is_refused():
    assert failure(edit_text, "a", Text.of("x"), ()) == "at least one edit is required"


def test_touching_edits_are_no_overlap():
    assert edited("abcd", ("ab", "1"), ("cd", "2")) == "12"


def test_every_failure_of_the_recording_has_the_recorded_words():
    content = "abcde dup dup\n"
    expected = tool_results("edit_failing")
    for (name, args), message in zip(tool_calls("edit_failing"), expected, strict=True):
        if name != "edit":
            assert unknown_tool(name) == message
        elif args and args["path"] == "missing.txt":
            assert missing_open("/workspace/missing.txt") == message
        else:
            assert failure(_edit, args, content).partition(" (at line")[0] == message


@pytest.mark.parametrize(
    ("old", "hint"),
    [
        ("b\n", " matches 3 times (must be unique) in a.py (at lines 2, 5, 6)"),
        ("  if x:\nreturn y", " not found in a.py; line 3 differs from it in white space only"),
        ("nothing like it", " not found in a.py"),
        (" \n ", " not found in a.py"),
    ],
)
def test_a_failed_edit_says_where_to_look(old: str, hint: str):
    content = "a\nb\n    if x:\n\treturn y  \nb\nb\n"
    edits = (Replacement(old, "z"),)
    assert failure(edit_text, "a.py", Text.of(content), edits) == f"edit 1: oldText{hint}"


def test_of_many_matches_the_first_lines_are_named():
    edits = (Replacement("x", "z"),)
    message = failure(edit_text, "a", Text.of("x\n" * 50), edits)
    assert message.endswith(" in a (at lines 1, 2, 3, 4, 5, 6, 7, 8, …)")


def _edit(args: object, content: str) -> Text:
    parsed: EditArgs = parse_edit(args)
    return edit_text(parsed.path, Text.of(content), parsed.edits)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_edit_makes_only_the_lines_anew_that_it_changes(end: str):
    text = Text.of("".join(f"line {number}{end}" for number in range(100)))
    after = edit_text("a", text, (Replacement("line 50\n", "changed\n"),))
    assert after.lines[50] == f"changed{end}"
    pairs = enumerate(zip(text.lines, after.lines, strict=True))
    assert [number for number, (old, new) in pairs if old is not new] == [50]


# -- write


def test_a_write_over_a_crlf_file_takes_its_line_ends():
    now = Text.of("a\r\nb\r\n", like=Text((), bom=True))
    written = with_line_ends_of("x\ny\n", now)
    assert (written.content, written.bom) == ("x\r\ny\r\n", True)


@pytest.mark.parametrize("old", ["a\n", "a\r\nb\n", ""])
def test_a_write_elsewhere_is_taken_as_it_is(old: str):
    assert with_line_ends_of("x\ny\r\n", Text.of(old)).content == "x\ny\r\n"
    assert with_line_ends_of("x\ny\n", Text.of(old)).content == "x\ny\n"


# -- bash


def test_commands_results_are_the_recorded_ones():
    for name, output, code, seconds in (
        ("bash_progress", "line 1\nline 2\nline 3\nerr\n", 3, 0.49),
        ("bash_timeout", "", -1, 1.001),
    ):
        ((_, args),) = tool_calls(name)
        result = bash_result(args["command"], CommandOutput(output), code, seconds)
        assert result == tool_results(name)[0]


def test_a_missing_line_end_is_added_to_output():
    result = bash_result("x", CommandOutput("a"), 0, 0)
    assert result == "$ x\n\na\n\n[exit 0]  Took 0.0s"


def test_cut_output_says_so_and_where_all_of_it_is():
    output = CommandOutput("a\n", cut_lines=True, cut_bytes=True, full_path="/tmp/all")
    assert bash_result("x", output, 0, 0) == (
        "$ x\n\na\n... [truncated at 2000 lines]\n... [truncated at 51200 bytes]\n"
        "\n[exit 0] (full output: /tmp/all)  Took 0.0s"
    )


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.31, "0.3s"), (59.94, "59.9s"), (71.2, "1m11s"), (3725, "1h2m")]
)
def test_durations_are_told_as_zot_does(seconds: float, shown: str):
    assert bash_result("x", CommandOutput(), 0, seconds).endswith(f"  Took {shown}")


@pytest.mark.parametrize(
    ("seconds", "end"), [(0.4, "[exit 3] (full output: /tmp/a b)  Took 0.4s"), (None, "[not run]")]
)
def test_the_time_of_a_question_is_taken_out_of_a_result(seconds: float | None, end: str):
    output = CommandOutput("Took 5m0s\n", full_path="/tmp/a b")
    counted = bash_result("x", output, 3, 756)
    assert without_the_wait(counted, seconds) == f"$ x\n\nTook 5m0s\n\n{end}"


@pytest.mark.timeout(20)  # where a long word is read anew from each of its letters, it takes hours
def test_the_time_is_taken_out_behind_a_line_without_a_blank():
    counted = bash_result("x", CommandOutput("x" * 1_000_000 + "\n"), 0, 756)
    assert without_the_wait(counted, 0.4).endswith("x\n\n[exit 0]  Took 0.4s")


def test_a_result_that_tells_no_time_stays_as_it_is():
    assert without_the_wait("$ x\n\nTook 5s", 1.0) == "$ x\n\nTook 5s"


def test_the_sentences_for_nothing_are_not_empty():
    assert json.dumps([EMPTY_FILE, NO_CHANGE]).count("(") == 2
