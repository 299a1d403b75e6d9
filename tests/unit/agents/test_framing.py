import json
from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.agents.framing import LineSplitter, TooLong, decoded, encoded

LIMIT = 8


def chunked(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(places)]


@given(
    st.lists(st.binary(max_size=2 * LIMIT).map(lambda line: line.replace(b"\n", b""))),
    st.lists(st.integers(min_value=0)),
)
def test_lines_come_out_the_same_however_they_are_cut(lines: list[bytes], cuts: list[int]):
    splitter = LineSplitter(LIMIT)
    data = b"".join(line + b"\n" for line in lines)
    out = [line for chunk in chunked(data, cuts) for line in splitter.feed(chunk)]
    told = [None if isinstance(line, TooLong) else line for line in out]
    assert told == [line if len(line) <= LIMIT else None for line in lines]
    assert splitter.end() == []


def test_a_line_over_the_limit_is_told_before_it_ends():
    assert LineSplitter(3).feed(b"abcd") == [TooLong(b"abcd")]


def test_the_rest_of_a_line_over_the_limit_is_dropped():
    splitter = LineSplitter(3)
    splitter.feed(b"abcd")
    assert splitter.feed(b"efgh\nok\n") == [b"ok"]


@pytest.mark.parametrize(("data", "last"), [(b"a\nb", [b"b"]), (b"a\n", []), (b"", [])])
def test_the_end_gives_an_unended_last_line(data: bytes, last: list[bytes]):
    splitter = LineSplitter(LIMIT)
    splitter.feed(data)
    assert splitter.end() == last


def test_whatever_a_frame_holds_it_is_one_line_that_every_parser_takes():
    deep: object = "end"
    for _ in range(300):
        deep = [deep]
    frame = {"text": "a\ud83d\n", "pair": "\ud83d\ude00", "number": 2**80, "deep": deep}
    line = encoded(frame)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == frame | {"text": "a\ufffd\n", "pair": "😀"}
    assert b"\\ud83d" not in line


@pytest.mark.parametrize(("opens", "closes"), [(b'{"a":', b"}"), (b"[", b"]")])
def test_what_a_frame_nests_too_deeply_to_be_told_on_is_left_out_and_says_so(
    opens: bytes, closes: bytes
):
    deep = opens * 1000 + b"1" + closes * 1000
    frame = decoded(b'{"flat":[{}],"deep":%s}' % deep)
    assert isinstance(frame, dict)
    assert frame["flat"] == [{}]
    line = encoded(frame)
    assert line.count(opens) < 300
    assert "nested too deeply" in line.decode()


def test_a_frame_of_many_flat_values_is_taken_as_it_is():
    values = [{"a": [number]} for number in range(1000)]
    assert decoded(json.dumps(values).encode()) == values


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (rb'{"a":"cut \ud83d","b":"\ud83d\ude00"}', {"a": "cut \ufffd", "b": "\U0001f600"}),
        (rb'{"\udc00":[1.5,{"b":"\ud83d"}]}', {"\ufffd": [1.5, {"b": "\ufffd"}]}),
    ],
)
def test_what_javascript_has_cut_in_two_costs_no_frame(line: bytes, value: object):
    assert decoded(line) == value


@pytest.mark.parametrize(
    "line", [b"", b"{", rb'{"a":"\ud83d"', b'{"a":NaN}', b'{"a":"\xff"}', b"[" * 5000]
)
def test_what_is_no_json_is_refused(line: bytes):
    with pytest.raises(orjson.JSONDecodeError):
        decoded(line)
