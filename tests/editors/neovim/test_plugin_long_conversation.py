"""A long conversation beside a long file: Neovim is never kept waiting."""

from collections.abc import Callable

import pytest
from plugin_desk import PATIENCE, PluginDesk
from support.neovim import wait_until
from support.neovim_desk import done, edit, step

pytestmark = [pytest.mark.neovim, pytest.mark.slow, pytest.mark.timeout(300)]

#: Of the conversation, and of the file.
TOLD, LINES = 10_000, 100_000

# How long Neovim's loop took from one turn to the next, in ms: a key waits no longer.
WATCH = """
local now = (vim.uv or vim.loop).hrtime
_G.gaps = {}
local last = now()
_G.clock = _G.clock or (vim.uv or vim.loop).new_timer()
_G.clock:start(0, 1, function()
  local time = now()
  _G.gaps[#_G.gaps + 1] = (time - last) / 1e6
  last = time
end)
"""
# Until it ends. It is not read from the conversation, since that would keep Neovim waiting.
ENDS = """
_G.has_ended = false
vim.api.nvim_create_autocmd('User', {
  pattern = 'LspAgentTurnEnded',
  once = true,
  callback = function() _G.has_ended = true end,
})
"""
WATCHED = """
_G.clock:stop()
table.sort(_G.gaps)
return { _G.gaps[math.ceil(#_G.gaps * 0.95)], _G.gaps[#_G.gaps] }
"""
HEAD = f"{'':<50} | p95 ms |  max ms"
COUNT = """
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if vim.api.nvim_buf_get_name(buffer):find('lsp%-agent://chat') then
    return vim.api.nvim_buf_line_count(buffer)
  end
end
return 0
"""
BLOCK = "A word and **another** of it.\n\n- one\n- two\n\n```python\nx = call(y) + 1\n```\n\n"
SHORT = " ".join(f"word{n}" for n in range(60))


def test_a_long_conversation_and_a_long_file_are_whole_and_the_stalls_are_told(
    desk: PluginDesk, record_property: Callable[[str, object], None]
) -> None:
    def watched(what: str, prompt: str) -> None:
        desk.nvim.lua(ENDS)
        desk.nvim.lua(WATCH)
        desk.agent(f"ask {prompt}")
        for _ in range(20):
            desk.nvim.keys("x")
        wait_until(lambda: desk.nvim.lua("return _G.has_ended"), PATIENCE)
        p95, longest = desk.nvim.lua(WATCHED)
        row = f"{desk.version:>6}, {what:<42} | {p95:>6.1f} | {longest:>7.1f}"
        record_property("table", ("Neovim's loop beside a long conversation and file", HEAD, row))

    desk.open("a.txt", "".join(f"line {n}\n" for n in range(LINES)))
    changes = [edit("a.txt", f"line {n}\n", f"changed {n}\n") for n in range(50_001, 50_006)]
    desk.start(
        step(text=BLOCK * (TOLD // BLOCK.count("\n"))),
        step(text=SHORT, match="^And", pace_ms=20),
        *(step(change) for change in changes),
        done(),
    )
    desk.nvim.keys("i")
    watched(f"{TOLD:,} lines come", "Go.")
    watched("a short answer below them", "And?")
    watched(f"five edits of a file of {LINES:,} lines", "Change it.")
    assert desk.nvim.lua(COUNT) > TOLD - BLOCK.count("\n")
    assert desk.nvim.lines()[50_000:50_007] == [
        "line 50000",
        *(f"changed {n}" for n in range(50_001, 50_006)),
        "line 50006",
    ]
    assert desk.nvim.lines()[0] == "x" * 60 + "line 0"
