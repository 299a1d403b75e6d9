"""A person types on while questions come and go: no key of theirs answers one, and none is lost.

A try is a burst of keys that would answer a picker or a menu, if it had the focus. Between its two
parts, and after it, the person rests for a moment, now and then for half a second. Meanwhile the
questions come: each stands for about half a second, then it is denied by the server's command, and
the next one comes.
"""

import random
import time
from collections.abc import Callable

import pytest
from plugin_desk import PATIENCE, PluginDesk
from support.neovim import wait_until
from support.neovim_desk import bash, done, step
from support.sizes import size

pytestmark = [
    pytest.mark.neovim,
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("at a keyboard"),
]

TITLE = "Neovim, keys typed through the appearance of questions"

#: From Normal mode to Normal mode. ``{n}`` is the try's number; only what has it changes the text.
BURSTS = (
    ("", "1G:w<CR>"),
    ("Go{n} 1 2 y", "<Space>1<CR>{n} 2<CR>y<Esc>"),
    ("1G:w", "<CR>"),
    ("", "2G:w<CR>"),
    ("", "1<CR>"),
    ("y", "y"),
    ("Go{n}", "<Esc>"),
    ("", "<CR>"),
    ("V", "<CR><Esc>"),
    ("", "<Space><CR>"),
    ("", "j<CR>k"),
    ("", "3<CR>"),
)

# Neovim's own picker, which takes the keys, in place of the desk's. And a denier: each question is
# answered through the server, as from another place, some time after it came.
DENIES = """
package.loaded['vim.ui'] = nil
vim.ui.select = require('vim.ui').select
_G.asked, _G.tried, _G.denied = 0, 0, 0
local seen = {}
_G.denier = vim.uv.new_timer()
math.randomseed(...)
_G.denier:start(0, 10, vim.schedule_wrap(function()
  local client = vim.lsp.get_clients({ name = 'lsp_agent' })[1]
  local sessions = require('lsp_agent.sessions')
  local question = client and sessions.project_of(client).current.questions[1]
  if not question or seen[question.questionId] then return end
  seen[question.questionId] = true
  _G.asked = _G.asked + 1
  vim.defer_fn(function()
    local argument = { questionId = question.questionId, optionId = 'deny' }
    local params = { command = 'lspAgent.answer', arguments = { argument } }
    client.request('workspace/executeCommand', params, function(_, result)
      _G.tried = _G.tried + 1
      if result and result.answered then _G.denied = _G.denied + 1 end
    end, 0)
  end, math.random(330, 600))
end))
"""

WINDOWS = """
local function told(window)
  local buffer = vim.api.nvim_win_get_buf(window)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, 8, false)
  return { vim.w[window].lsp_agent or '', vim.api.nvim_buf_get_name(buffer), lines }
end
return { told(0), vim.tbl_map(told, vim.api.nvim_list_wins()) }
"""

# One that a picker shows, and one that it would cut.
COMMANDS = ("echo x >> ran", "echo\necho x >> ran")


def pieces(keys: str, number: int) -> tuple[str, list[str]]:
    """The keys of a try, and what they make of the text: new lines, the first at its end."""
    typed = keys.replace("{n}", f"k{number}")
    if not typed.startswith("Go"):
        return typed, []
    text = typed.removeprefix("Go").removesuffix("<Esc>").replace("<Space>", " ")
    return typed, text.split("<CR>")


def type_through(desk: PluginDesk, tries: int, questions: int) -> tuple[int, list[str]]:
    """So many tries or more, until more than so many questions have come: how many tries, and the
    lines that the person has written."""
    rng = random.Random(tries)
    lines: list[str] = []
    number = 0
    while number < tries or desk.nvim.lua("return _G.asked") <= questions:
        first, second = BURSTS[number % len(BURSTS)]
        desk.nvim.keys(pieces(first, number)[0])
        time.sleep(rng.choice((0, 0.01, 0.04)))
        desk.nvim.keys(pieces(second, number)[0])
        lines += pieces(first + second, number)[1]
        time.sleep(0.5 if number % 11 == 0 else rng.choice((0, 0.01, 0.04)))
        number += 1
    return number, lines


Record = Callable[[str, object], None]


def check(desk: PluginDesk, record: Record, tries: int, questions: int) -> None:
    steps = [step(*[bash(COMMANDS[n % 2]) for n in range(4)]) for _ in range(150)]
    desk.open("a.txt", "one\ntwo\n")
    desk.start(*steps, done())
    desk.nvim.dismisses = True
    desk.nvim.lua(DENIES, tries)
    desk.agent("ask Run them.")
    wait_until(lambda: desk.nvim.lua("return _G.asked"), PATIENCE)
    tries, typed = type_through(desk, tries, questions)
    lines = ["one", "two", *typed]
    desk.nvim.keys("<Esc>")
    shown = desk.nvim.lines()
    # Of each window the file or the kind that it shows, the one with the cursor first.
    windows = desk.nvim.lua(WINDOWS)
    desk.nvim.lua("_G.denier:stop()")
    wait_until(lambda: desk.nvim.lua("return _G.tried == _G.asked"))
    asked, denied = desk.nvim.lua("return { _G.asked, _G.denied }")
    ran = desk.folder / "ran"
    allowed = len(ran.read_text().splitlines()) if ran.exists() else 0
    cells = {"Neovim": desk.version, "tries": tries, "questions": asked, "answers": asked - denied}
    cells |= {"of them allowed": allowed, "lines lost": len(set(lines) - set(shown))}
    widths = {name: max(len(name), 6) for name in cells}
    head = " | ".join(f"{name:>{widths[name]}}" for name in cells)
    row = " | ".join(f"{cell!s:>{widths[name]}}" for name, cell in cells.items())
    record("table", (TITLE, head, row))
    assert (asked - denied, allowed) == (0, 0), f"{head}\n{row}"
    assert shown == lines, windows


def test_keys_typed_through_questions_answer_none(
    desk: PluginDesk, record_property: Record
) -> None:
    check(desk, record_property, tries=48, questions=4)


@pytest.mark.slow
def test_hundreds_of_tries_of_keys_typed_through_questions_answer_none(
    desk: PluginDesk, record_property: Record
) -> None:
    check(desk, record_property, tries=size(300, 1000), questions=size(30, 100))
