"""The double of Kakoune in tests/support/scripted_editor.py is held against Kakoune itself: what an
edit takes out at places that the text does not have.
"""

import itertools
import subprocess
from pathlib import Path

import pytest
from plain_terminal import FETCHED
from support.scripted_editor import KAKOUNE, Buffer

pytestmark = [pytest.mark.kakoune, pytest.mark.slow]

TEXT = "one\n\nthree and more\nfour\n"
#: Lines and columns, from 0.
PLACES = [(line, column) for line in (0, 1, 2, 3, 4, 6) for column in (0, 2, 9)]
RANGES = [*itertools.combinations_with_replacement(PLACES, 2)]


def selected(start: tuple[int, int], end: tuple[int, int]) -> str:
    """As kakoune-lsp 22 selects a range (`lsp_range_to_kakoune_utf_8` in its position.rs)."""
    first = f"{start[0] + 1}.{start[1] + 1}"
    if start == end:
        return f"{first},{first}"
    return f"{first},{end[0] + 1}.{end[1]}" if end[1] else f"{first},{end[0]}.1000000"


def position(place: tuple[int, int]) -> dict[str, int]:
    return {"line": place[0], "character": place[1]}


def test_it_takes_out_what_kakoune_does(tmp_path: Path) -> None:
    commands = list[str]()
    for number, (start, end) in enumerate(RANGES):
        (tmp_path / str(number)).write_text(TEXT)
        key = "i" if start == end else "c"
        edit = f"select {selected(start, end)}; execute-keys {key}new<esc>"
        commands.append(f"edit {number}; evaluate-commands -draft '{edit}'; write")
    script = tmp_path / "edits.kak"
    script.write_text("\n".join([*commands, "quit"]))
    program = FETCHED / "kakoune" / "bin" / "kak"
    run = [program, "-n", "-ui", "dummy", "-e", "source edits.kak"]
    subprocess.run(run, cwd=tmp_path, timeout=60, check=True)
    for number, (start, end) in enumerate(RANGES):
        buffer = Buffer(TEXT, "utf-8", KAKOUNE)
        buffer.sent_text = "as long as it need be\n" * 9  # kakoune-lsp hands on all of them
        buffer.apply(
            [{"range": {"start": position(start), "end": position(end)}, "newText": "new"}]
        )
        assert (tmp_path / str(number)).read_text() == buffer.text, (start, end)
