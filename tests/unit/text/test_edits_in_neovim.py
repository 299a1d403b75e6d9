"""A real Neovim applies ``text_edits`` to the text that they were made for."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from random_texts import changed_lines

from lsp_agent.text.edits import text_edits
from lsp_agent.text.lines import Text
from lsp_agent.text.positions import to_units

pytestmark = pytest.mark.neovim

# Reads cases, applies each to a buffer of its own, prints the texts as a server would see them.
SCRIPT = """
local cases = vim.json.decode(io.open(arg[1]):read('a'))
local results = {}
for _, case in ipairs(cases) do
  local buffer = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, case.lines)
  vim.lsp.util.apply_text_edits(case.edits, buffer, 'utf-16')
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  table.insert(results, table.concat(lines, '\\n') .. '\\n')
  vim.api.nvim_buf_delete(buffer, { force = true })
end
io.stdout:write(vim.json.encode(results))
"""


def in_neovim(folder: Path, cases: list[tuple[Text, Text]]) -> list[str]:
    (folder / "apply.lua").write_text(SCRIPT)
    (folder / "cases.json").write_text(json.dumps([as_lsp(*case) for case in cases]))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        ["nvim", "--clean", "-n", "-l", "apply.lua", "cases.json"],
        cwd=folder,
        env=os.environ | {"PATH": path, "XDG_STATE_HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(run.stdout)


def as_lsp(old: Text, new: Text) -> dict[str, object]:
    def position(line: int, column: int) -> dict[str, int]:
        body = old.lines[line] if line < len(old.lines) else ""
        return {"line": line, "character": to_units(body, column, "utf-16")}

    return {
        "lines": [line.rstrip("\n") for line in old.lines],
        "edits": [
            {
                "range": {
                    "start": position(edit.start_line, edit.start_column),
                    "end": position(edit.end_line, edit.end_column),
                },
                "newText": edit.new_text,
            }
            for edit in text_edits(old, new)
        ],
    }


def test_neovim_ends_up_with_the_new_text(tmp_path: Path):
    rng = random.Random(7)

    def fresh() -> str:
        return "".join(rng.choice(["a", "bc", "é", "😀", " ", "\t"]) for _ in range(5)) + "\n"

    def blank_or_fresh() -> str:
        return rng.choice(["\n", "}\n", fresh()])

    cases: list[tuple[Text, Text]] = []
    for _ in range(400):
        old = [blank_or_fresh() for _ in range(rng.randrange(1, 8))]
        new = changed_lines(rng, old, blank_or_fresh) or ["\n"]
        cases.append((Text(tuple(old)), Text(tuple(new))))
    results = in_neovim(tmp_path, cases)
    wrong = [
        (old.content, text_edits(old, new), result)
        for (old, new), result in zip(cases, results, strict=True)
        if result != new.content
    ]
    assert not wrong
