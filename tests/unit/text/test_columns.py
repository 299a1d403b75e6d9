import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_texts import PIECES

from lsp_agent.text.lines import body_length
from lsp_agent.text.positions import Encoding, to_column, to_units

LINE = "a😀é\r\n"

encodings = st.sampled_from(["utf-8", "utf-16", "utf-32"])
bodies = st.lists(
    st.sampled_from([piece for piece in PIECES if piece not in {"\n", "\r", "\r\n"}])
).map("".join)
lines = st.tuples(bodies, st.sampled_from(["", "\n", "\r", "\r\n"])).map("".join)


@pytest.mark.parametrize(
    ("encoding", "units"),
    [("utf-8", [0, 1, 5, 7]), ("utf-16", [0, 1, 3, 4]), ("utf-32", [0, 1, 2, 3])],
)
def test_units_of_each_encoding_are_counted_up_to_the_line_end(
    encoding: Encoding, units: list[int]
):
    assert [to_units(LINE, column, encoding) for column in range(4)] == units
    assert [to_column(LINE, unit, encoding) for unit in units] == [0, 1, 2, 3]


def test_a_position_inside_a_surrogate_pair_is_before_it():
    assert to_column(LINE, 2, "utf-16") == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_positions_outside_the_line_are_clamped_to_it(encoding: Encoding):
    assert to_column(LINE, 99, encoding) == 3
    assert to_column(LINE, -1, encoding) == 0
    assert to_units(LINE, 99, encoding) == to_units(LINE, 3, encoding)


def test_half_surrogates_count_as_one_unit_of_utf_16():
    assert to_units("\ud83dx\ude00", 3, "utf-16") == 3
    assert to_column("\ud83dx\ude00", 2, "utf-16") == 2
    assert to_units("\ud83dx", 2, "utf-8") == 4


@given(lines, encodings)
def test_every_column_comes_back_from_its_units(line: str, encoding: Encoding):
    for column in range(body_length(line) + 1):
        assert to_column(line, to_units(line, column, encoding), encoding) == column


@given(lines, encodings, st.integers(0, 40))
def test_units_fall_back_to_the_last_whole_code_point(line: str, encoding: Encoding, units: int):
    fitting = [
        column
        for column in range(body_length(line) + 1)
        if to_units(line, column, encoding) <= units
    ]
    assert to_column(line, units, encoding) == max(fitting)
