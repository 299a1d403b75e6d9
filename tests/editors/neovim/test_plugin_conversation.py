"""How a conversation reads: it fills its window and follows, each call takes one row."""

from typing import Any

import pytest
from plugin_desk import PluginDesk
from plugin_extension import extend
from support.neovim import wait_until
from support.neovim_desk import bash, done, edit, step

pytestmark = pytest.mark.neovim

# Of the chat's window: its height, how many of its rows have text, its cursor's line, the last one.
VIEW = """
local window = ...
local info = vim.fn.getwininfo(window)[1]
local range = { start_row = info.topline - 1 }
return {
  height = info.height,
  filled = vim.api.nvim_win_text_height(window, range).all,
  line = vim.api.nvim_win_get_cursor(window)[1],
  last = vim.api.nvim_buf_line_count(info.bufnr),
}
"""


def view(desk: PluginDesk) -> dict[str, Any]:
    return desk.nvim.lua(VIEW, desk.window("chat"))


def test_calls_that_fold_leave_no_part_of_the_window_empty(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    talk = {"text": "".join(f"word {n}\n\n" for n in range(20)), "calls": [bash("seq 200")]}
    desk.start(talk, step(bash("seq 300")), done(), permissions={"command": "allow"})
    desk.agent("ask Count.")
    desk.wait_for_chat("Done.")
    seen = wait_until(lambda: view(desk) if desk.window("chat") else None)
    assert (seen["line"], seen["filled"]) == (seen["last"], seen["height"])


def test_a_prompt_of_ones_own_is_followed_again(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "".join(f"word {n}\n\n" for n in range(60))}, done())
    desk.agent("ask Talk.")
    desk.wait_for_chat("word 59")
    desk.nvim.lua("vim.api.nvim_win_set_cursor(..., { 3, 0 })", desk.window("chat"))
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    wait_until(lambda: view(desk)["line"] == view(desk)["last"])


# What the conversation is coloured by.
COLOURED_BY = """
local buffer = vim.api.nvim_win_get_buf(...)
return { vim.treesitter.highlighter.active[buffer] ~= nil, vim.bo[buffer].syntax }
"""


def test_a_long_one_is_not_parsed_where_neovim_parses_as_it_draws(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "word\n\n" * 1_500}, done())
    desk.agent("ask Talk.")
    desk.wait_for_chat("word")
    desk.wait_for_rest()
    expected = [False, "markdown"] if desk.version == "0.10" else [True, ""]
    wait_until(lambda: desk.nvim.lua(COLOURED_BY, desk.window("chat")) == expected)


def rows(desk: PluginDesk, width: int) -> list[str]:
    """Of the calls, in a chat that is so wide."""
    desk.nvim.lua("vim.api.nvim_win_set_width(...)", desk.window("chat"), width)
    desk.nvim.command("redraw")
    shown = (row.partition("│")[2] for row in desk.nvim.screen().split("\n"))
    return [row for row in shown if row[:1] in ("✓", "✗", "…")]


def test_each_call_takes_one_row_and_says_why_it_failed(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    calls = bash("echo 1; echo oh no; exit 1"), bash("echo 2; echo 3")
    desk.start(step(*calls), done(), permissions={"command": "allow"})
    desk.agent("ask Run them.")
    desk.wait_for_chat("Done.")
    expected = ["✗ bash: echo 1; echo oh no; …  oh no", "✓ bash: echo 2; echo 3"]
    wait_until(lambda: rows(desk, 38) == expected)


def test_a_call_that_is_cut_keeps_what_it_is_known_by(desk: PluginDesk) -> None:
    path = "packages/service/handlers/session_test.py"
    desk.open("a.txt", "one\n")
    (desk.folder / path).parent.mkdir(parents=True)
    desk.file(path, "x = 1\n")
    command = "until test -e go; do sleep 0.05; done; true with many more words"
    desk.start(
        step({"name": "read", "args": {"path": path}}, bash(command)),
        done(),
        permissions={"command": "allow"},
    )
    desk.agent("ask Look.")
    desk.wait_for_chat("bash: until")
    narrow = ["✓ read: …/session_test.py", "… bash: until test -e go; do …"]
    wait_until(lambda: rows(desk, 30) == narrow)
    (desk.folder / "go").touch()
    desk.wait_for_chat("Done.")
    wide = ["✓ read: …/handlers/session_test.py", "✓ bash: until test -e go; do sleep …"]
    wait_until(lambda: rows(desk, 38) == wide)
    narrow[1] = narrow[1].replace("…", "✓", 1)
    wait_until(lambda: rows(desk, 30) == narrow)
    assert f"read: {path}" in desk.chat()


FLOAT = """
for _, window in ipairs(vim.api.nvim_list_wins()) do
  if vim.api.nvim_win_get_config(window).relative ~= '' then
    local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true)
    return table.concat(lines, '\\n')
  end
end
"""


def test_the_keys_of_the_chat_are_told(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(done())
    desk.agent("chat")
    wait_until(lambda: desk.nvim.mode() == "i")
    desk.nvim.keys("<Esc>g?")
    shown = wait_until(lambda: desk.nvim.lua(FLOAT))
    assert "<C-J> <S-CR>" in shown
    assert "hand the prompt to the agent while it works" in shown


def test_what_a_status_line_may_say_is_told_in_parts(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    status = "return require('lsp_agent').status()"
    assert desk.nvim.lua(status) is None
    desk.start(step(edit("a.txt", "one", "ONE")), done())
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    known = {"agent": "scripted", "queued": 0, "state": "idle", "title": "Go.", "to_review": 1}
    wait_until(lambda: known.items() <= desk.nvim.lua(status).items())


def test_a_slash_command_is_completed_in_the_prompt_and_run(desk: PluginDesk) -> None:
    extend(desk)
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."})
    wait_until(
        lambda: "greet" in desk.nvim.lua("return vim.fn.getcompletion('Agent run ', 'cmdline')")
    )
    desk.agent("chat")
    wait_until(lambda: desk.nvim.mode() == "i")
    desk.nvim.keys("/gr<C-x><C-o>")
    desk.wait_for_lines("/greet")
    desk.nvim.keys("<CR>")
    desk.wait_for_chat("I see.")
    assert "Greet me." in desk.chat()
    assert desk.nvim.lines() == [""]


PROMPT = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('lsp-agent://prompt'), 0, -1, true)"


def test_a_prompt_that_names_no_slash_command_comes_back(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."})
    desk.agent("chat")
    wait_until(lambda: desk.nvim.mode() == "i")
    desk.nvim.keys("/tmp is full.<C-j>Empty it.<CR>")
    wait_until(lambda: "agent offers no" in desk.nvim.command_output("messages"))
    assert desk.nvim.lua(PROMPT) == ["/tmp is full.", "Empty it."]


def test_the_choice_of_sessions_says_what_can_be_done_with_them(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."})
    desk.agent("sessions")
    hint = "no session yet; here"
    wait_until(lambda: hint in desk.nvim.command_output("messages"))
    desk.agent("ask Look.")
    desk.wait_for_chat("I see.")
    desk.agent("sessions")
    assert desk.picker()["prompt"] == "Session (an earlier one: resume, rename, export, delete)"
