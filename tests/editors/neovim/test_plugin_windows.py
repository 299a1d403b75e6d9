"""The chat's windows: what is in them whatever a person sets, opens and closes."""

import pytest
from plugin_desk import PluginDesk
from support.neovim import wait_until
from support.neovim_desk import step

pytestmark = pytest.mark.neovim

ROLES = """
return vim.tbl_map(function(window)
  return vim.w[window].lsp_agent or 'file'
end, vim.api.nvim_tabpage_list_wins(0))
"""
# As plugins do with what they showed in a float.
WIPE = "vim.cmd.bwipeout(vim.api.nvim_create_buf(false, true)) vim.wait(50)"
OPTION = "return vim.api.nvim_get_option_value(select(2, ...), { win = (...) })"
PROMPT = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('lsp-agent://prompt'), 0, -1, true)"


def bash(command: str) -> dict[str, object]:
    return {"name": "bash", "args": {"command": command}}


def roles(desk: PluginDesk) -> list[str]:
    return sorted(desk.nvim.lua(ROLES))


def to(desk: PluginDesk, role: str) -> None:
    desk.nvim.command(f"call win_gotoid({wait_until(lambda: desk.window(role))})")


def complaints(desk: PluginDesk) -> list[str]:
    said = desk.nvim.command_output("messages").splitlines()
    return [line for line in said if "Error" in line or line.startswith("E")]


def test_folds_of_the_persons_own_do_not_cut_a_conversation(desk: PluginDesk) -> None:
    desk.nvim.command("set foldmethod=expr foldexpr=0 number")
    desk.open("a.txt", "one\n")
    call = step(bash("echo first; echo second"))
    first = [call | {"match": "One"}, {"text": "Done."}]
    second = [call | {"match": "Two"}, {"text": "Over."}]
    desk.start(*first, *second, permissions={"command": "allow"})
    desk.agent("ask One.")
    desk.wait_for_chat("Done.")
    desk.agent("new")
    desk.nvim.command(f"call win_execute({desk.window('chat')}, 'split')")
    desk.agent("ask Two.")
    desk.wait_for_chat("Over.")
    chat = desk.window("chat")
    assert desk.nvim.lua(OPTION, chat, "foldmethod") == "manual"
    assert desk.nvim.lua(OPTION, chat, "number") is False
    assert desk.nvim.lua("return vim.o.foldmethod") == "expr"
    assert complaints(desk) == []


def test_a_prompt_that_is_being_written_outlives_its_buffer(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."})
    desk.agent("chat")
    wait_until(lambda: desk.nvim.mode() == "i")
    desk.nvim.keys("half a<C-j>thought<Esc>")
    desk.nvim.command("silent! %bdelete!")
    desk.nvim.command("silent edit a.txt")
    desk.agent("chat")
    wait_until(lambda: desk.nvim.lua(PROMPT) == ["half a", "thought"])
    desk.nvim.keys("<Esc><CR>")
    desk.wait_for_chat("I see.")
    assert desk.nvim.lua(PROMPT) == [""]


def test_a_file_can_be_opened_where_the_one_on_show_was_deleted(desk: PluginDesk) -> None:
    desk.open("c.txt", "three\n")
    desk.open("a.txt", "one\n")
    desk.start()
    desk.agent("chat")
    wait_until(lambda: roles(desk) == ["chat", "file", "prompt"])
    desk.nvim.keys("<Esc><C-w>t")
    desk.nvim.command("bdelete")
    wait_until(lambda: roles(desk) == ["chat", "file", "prompt"])
    assert desk.nvim.lines() == ["three"]
    desk.file("b.txt", "two\n")
    desk.nvim.command("silent edit b.txt")
    assert desk.nvim.lines() == ["two"]
    shown = desk.nvim.lua("return vim.api.nvim_get_current_win()")
    assert desk.nvim.lua(OPTION, shown, "winfixbuf") is False
    assert desk.nvim.lua(OPTION, shown, "winfixwidth") is False
    assert desk.nvim.lua(OPTION, shown, "foldmethod") == desk.nvim.lua("return vim.go.foldmethod")
    assert complaints(desk) == []


def test_a_chat_that_is_alone_is_closed_for_a_file(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start()
    desk.agent("chat")
    to(desk, "chat")
    desk.nvim.keys("<Esc>")
    desk.nvim.command("only")
    wait_until(lambda: roles(desk) == ["chat"])
    desk.nvim.lua(WIPE)
    assert roles(desk) == ["chat"]
    desk.agent("chat")
    wait_until(lambda: roles(desk) == ["file"])
    assert desk.nvim.lines() == ["one"]
    assert complaints(desk) == []


def test_a_saved_session_of_neovim_brings_no_other_chat_back(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    answers = {"match": "Look", "text": "I see."}, {"match": "Again", "text": "I saw."}
    desk.start(*answers)
    desk.agent("ask Look.")
    desk.wait_for_chat("I see.")
    desk.wait_for_rest()
    settings = desk.settings(*answers)
    desk.nvim.command("mksession Session.vim")
    desk.come_back()
    desk.nvim.command("silent source Session.vim")
    desk.setup(settings=settings)
    desk.wait_for_server()
    desk.agent("ask Again.")
    desk.wait_for_chat("I saw.")
    assert roles(desk) == ["chat", "file", "prompt"]
    assert complaints(desk) == []


def test_a_conversation_that_is_read_again_is_whole(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    call = step(bash("echo first; echo second"))
    desk.start(call, {"text": "I see."}, {"text": "I saw."}, permissions={"command": "allow"})
    desk.agent("ask Look.")
    desk.wait_for_chat("I see.")
    desk.wait_for_rest()
    to(desk, "chat")
    shown = desk.nvim.lines()
    folded = f"return vim.fn.foldclosed({shown.index('    first') + 1})"
    assert desk.nvim.lua(folded) > 0
    desk.nvim.command("edit")
    assert desk.nvim.lines() == shown
    assert desk.nvim.lua(folded) > 0
    desk.agent("ask Again.")
    desk.wait_for_chat("I saw.")
    assert desk.chat()[: len(shown)] == shown


# Of the chat's window: the tab page's number, whether it floats, its place on the screen, its size.
PLACE = """
local window = ...
local at = vim.fn.win_screenpos(window)
return {
  vim.api.nvim_tabpage_get_number(vim.api.nvim_win_get_tabpage(window)),
  vim.api.nvim_win_get_config(window).relative ~= '',
  at[1], at[2], vim.api.nvim_win_get_width(window), vim.api.nvim_win_get_height(window),
}
"""


def place(desk: PluginDesk) -> tuple[int, bool, int, int, int, int]:
    tab, floats, *box = desk.nvim.lua(PLACE, wait_until(lambda: desk.window("chat")))
    return tab, floats, *box


def lay_out(desk: PluginDesk, layout: str) -> tuple[int, bool, int, int, int, int]:
    desk.agent(f"chat {layout}")
    wait_until(lambda: desk.nvim.mode() == "i")
    desk.nvim.keys("<Esc>")
    return place(desk)


def test_a_place_that_there_is_not_is_named_in_a_line(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"match": "Look", "text": "I see."})
    desk.agent("chat left")
    said = desk.nvim.command_output("messages")
    assert 'agent: no layout "left"' in said
    assert "stack traceback" not in said


def test_the_chat_stands_where_one_wants_it(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"match": "Look", "text": "I see."}, {"match": "Again", "text": "I saw."})
    columns = desk.nvim.lua("return vim.o.columns")
    desk.agent("ask Look.")
    desk.wait_for_chat("I see.")
    tab, floats, row, column, width, _height = place(desk)
    assert (tab, floats, row, column + width) == (1, False, 1, columns + 1)

    tab, floats, row, column, width, height = lay_out(desk, "bottom")
    assert (tab, floats, column, width) == (1, False, 1, columns)
    assert row > 1
    desk.nvim.command("wincmd t | split | wincmd = | close")  # which leaves its height alone
    assert place(desk)[-1] == height

    tab, floats, _row, column, width, _height = lay_out(desk, "float")
    assert (tab, floats) == (1, True)
    assert column > 1
    assert width < columns
    desk.nvim.command("wincmd t")  # a file, which it covered
    wait_until(lambda: roles(desk) == ["file"])
    desk.agent("ask Again.")  # and so it takes the cursor where it opens by itself
    desk.wait_for_chat("I saw.")
    assert desk.nvim.lua("return vim.w.lsp_agent") == "chat"

    tab, floats, _row, _column, width, _height = lay_out(desk, "tab")
    assert (tab, floats, width) == (2, False, columns)
    assert roles(desk) == ["chat", "prompt"]
    desk.nvim.command("tabfirst")
    assert roles(desk) == ["file"]
    desk.agent("chat")  # to the one that is open
    wait_until(lambda: roles(desk) == ["chat", "prompt"])
    desk.nvim.keys("<Esc>q")
    wait_until(lambda: roles(desk) == ["file"])
    assert desk.nvim.lua("return #vim.api.nvim_list_tabpages()") == 1
    assert complaints(desk) == []


# Of a session with two questions: which one was answered, and how.
ASKED = """
local client = vim.lsp.get_clients({ name = 'lsp_agent' })[1]
local session = require('lsp_agent.sessions').project_of(client).current
for _, name in ipairs({ 'first', 'second' }) do
  local options = { { optionId = 'y', name = 'Allow' }, { optionId = 'n', name = 'Deny' } }
  local question = { questionId = name, kind = 'permission', title = name, options = options }
  local event = { type = 'questionAsked', sessionId = session.id, turnId = 't' }
  event.question = question
  require('lsp_agent.events').on_event(client.id, event)
end
require('lsp_agent.ask').answer = function(question, number)
  _G.answered = { question.questionId, number }
end
"""


def test_each_open_question_is_answered_on_its_own_line(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."})
    desk.agent("ask Look.")
    desk.wait_for_chat("I see.")
    desk.nvim.lua(ASKED)
    to(desk, "chat")
    desk.nvim.command("call cursor(1, 1) | call search('second') | call search('Deny')")
    desk.nvim.keys("<CR>")
    assert desk.nvim.lua("return _G.answered") == ["second", 2]
