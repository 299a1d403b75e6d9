"""An agent's questions: never in the way of typing, answered in the chat or once opened."""

import time

import pytest
from plugin_desk import PluginDesk
from support.neovim import wait_until
from support.neovim_desk import DENY, bash, done, step

pytestmark = pytest.mark.neovim


# Of the window that has the focus: the whole text, and whether it is shown as it is.
READ = """
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
return { lines, vim.wo.conceallevel, vim.wo.wrap, vim.api.nvim_win_get_config(0).relative }
"""


# Of the windows that float: whether they can have the focus, and their text.
FLOATS = """
local found = {}
for _, window in ipairs(vim.api.nvim_list_wins()) do
  local config = vim.api.nvim_win_get_config(window)
  if config.relative ~= '' then
    local bufnr = vim.api.nvim_win_get_buf(window)
    table.insert(found, { config.focusable, vim.api.nvim_buf_get_lines(bufnr, 0, -1, true) })
  end
end
return found
"""

# What is typed answers at the very moment at which a question stands in the chat.
ANSWERS_AT_ONCE = """
local ask = require('lsp_agent.ask')
local show = ask.show
ask.show = function(...)
  show(...)
  vim.cmd('Agent answer 1')
end
"""


def ask(desk: PluginDesk, command: str) -> None:
    desk.open("a.txt", "one\n")
    desk.start(step(bash(command)), done())
    desk.agent("ask Run it.")


def corner(desk: PluginDesk) -> list[str]:
    """What stands in the corner of the screen, once it does."""
    ((focusable, lines),) = wait_until(lambda: desk.nvim.lua(FLOATS))
    assert not focusable
    return lines


def open_question(desk: PluginDesk, keys: str = ":Agent answer<CR>") -> None:
    """Opens it, as soon as there is one, and looks at it."""
    desk.wait_for_chat(". Deny")
    desk.nvim.keys(keys)
    wait_until(lambda: is_open(desk))
    desk.nvim.rest()


def is_open(desk: PluginDesk) -> bool:
    return desk.nvim.lua("return #_G.pickers") > 0 or desk.nvim.lua(READ)[3] == "editor"


def test_an_allowed_command_runs(desk: PluginDesk) -> None:
    ask(desk, "echo $((6 * 7)) > ran")
    open_question(desk)
    assert "echo" in desk.picker()["prompt"]
    desk.choose("Allow")
    desk.wait_for_chat("Done.")
    assert (desk.folder / "ran").read_text() == "42\n"


def test_a_denied_command_does_not_run(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    open_question(desk)
    desk.choose("Deny")
    desk.wait_for_chat("Done.")
    assert not (desk.folder / "ran").exists()


def test_a_question_that_was_left_waits_for_another_time(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    open_question(desk)
    desk.choose(None)
    open_question(desk)
    desk.choose("Allow")
    desk.wait_for_chat("Done.")
    assert (desk.folder / "ran").exists()


def test_a_question_opens_only_when_the_person_opens_it(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    desk.nvim.keys("o")
    desk.wait_for_chat("1. Allow")
    for n in range(15):
        desk.nvim.keys(f"{n} ")
        time.sleep(0.1)
        assert not is_open(desk)
    desk.nvim.keys("<Esc>")
    time.sleep(1)
    assert not is_open(desk)
    open_question(desk, keys="<Bslash>aq")
    assert "Unsaved in the editor, so not seen by it: a.txt" in desk.nvim.lua(READ)[0]
    desk.nvim.command("call search('Deny$')")
    desk.nvim.keys("<CR>")
    desk.wait_for_chat("Done.")
    assert desk.nvim.lines() == ["one", " ".join(map(str, range(15))) + " "]


def test_a_question_stands_in_a_corner_that_says_how_to_open_it(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    assert corner(desk) == ["bash: touch ran", "<leader>aq, click, :Agent answer"]
    desk.nvim.command("wincmd w | wincmd p | tabnew")  # it goes along, and takes no focus
    assert desk.nvim.lua(READ)[3] == ""
    wait_until(lambda: "bash: touch ran" in desk.nvim.screen())
    desk.nvim.command("tabclose")
    assert corner(desk)[0] == "bash: touch ran"
    open_question(desk)
    desk.choose("Deny")
    wait_until(lambda: not desk.nvim.lua(FLOATS))


@pytest.mark.parametrize("mode", ["", "i"])
def test_a_click_on_the_corner_opens_the_question(desk: PluginDesk, mode: str) -> None:
    ask(desk, "touch ran")
    corner(desk)
    desk.nvim.keys(mode)
    desk.nvim.request("nvim_input_mouse", "left", "press", "", 0, 6, 3)  # beside it
    desk.nvim.rest()
    assert not is_open(desk)
    desk.nvim.request("nvim_input_mouse", "left", "press", "", 0, 1, 30)
    wait_until(lambda: is_open(desk))
    desk.nvim.rest()
    assert desk.nvim.mode() == "n"
    desk.choose("Allow")
    wait_until((desk.folder / "ran").exists)


def test_a_question_is_opened_by_a_key_of_the_persons_own(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    desk.nvim.command("map <F3> <Plug>(lsp-agent-answer)")
    open_question(desk, keys="<F3>")
    desk.choose("Allow")
    wait_until((desk.folder / "ran").exists)


#: Of a busy machine: it stands still for longer than a key has to be left alone.
SLOW_SELECT = """
package.loaded['vim.ui'] = nil
local select = require('vim.ui').select
vim.ui.select = function(...)
  vim.uv.sleep(600)
  select(...)
end
"""


def test_keys_typed_as_a_picker_opens_are_no_answer(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    desk.wait_for_chat("1. Allow")
    desk.nvim.lua("package.loaded['vim.ui'] = nil vim.ui.select = require('vim.ui').select")
    for keys in ("1<CR>", "<CR>", "<Esc>"):
        desk.nvim.keys(f":Agent answer<CR>{keys}")
        wait_until(lambda: "not answered: that" in desk.nvim.command_output("messages"))
        desk.nvim.command("messages clear")
    desk.nvim.keys(":Agent answer<CR>1")  # the picker keeps a key, so it has no answer any more
    desk.nvim.rest()
    desk.nvim.keys("<CR>")
    wait_until(lambda: "not answered: that" in desk.nvim.command_output("messages"))
    assert corner(desk)[0] == "bash: touch ran"
    assert not (desk.folder / "ran").exists()
    desk.nvim.keys(":Agent answer<CR>")
    desk.nvim.rest()
    desk.nvim.keys("1<CR>")
    wait_until((desk.folder / "ran").exists)


def test_keys_typed_while_neovim_stands_still_are_no_answer(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    desk.wait_for_chat("1. Allow")
    desk.nvim.lua(SLOW_SELECT)
    desk.nvim.keys(":Agent answer<CR>1<CR>")
    wait_until(lambda: "not answered: that" in desk.nvim.command_output("messages"))
    assert corner(desk)[0] == "bash: touch ran"
    assert not (desk.folder / "ran").exists()


def test_keys_typed_as_a_question_opens_in_a_window_are_no_answer(desk: PluginDesk) -> None:
    ask(desk, "echo\ntouch ran")
    desk.wait_for_chat("1. Allow")
    typed = "/Allow$<CR><CR>q"
    desk.nvim.keys(f":Agent answer<CR>{typed}")
    for _ in range(5):  # each within 300 ms of the one before
        time.sleep(0.1)
        desk.nvim.keys("<CR>")
    assert desk.nvim.lua(READ)[3] == "editor"
    assert desk.nvim.lua("return vim.fn.getline('.')") == "  1. Allow"
    assert not (desk.folder / "ran").exists()
    desk.nvim.rest()
    desk.nvim.keys("<CR>")
    wait_until((desk.folder / "ran").exists)


def test_a_digit_goes_to_its_answer_which_enter_chooses(desk: PluginDesk) -> None:
    ask(desk, "echo\ntouch ran")
    open_question(desk)
    assert "A digit goes to its answer, Enter chooses it," in " ".join(desk.nvim.lua(READ)[0])
    for digit, line in (("1", "  1. Allow"), ("9", "  1. Allow"), ("2", "  2. Deny")):
        desk.nvim.keys(digit)
        assert desk.nvim.lua("return vim.fn.getline('.')") == line
    desk.nvim.keys("<CR>")
    desk.wait_for_chat("Done.")
    assert not (desk.folder / "ran").exists()


def test_a_digit_that_is_typed_as_a_question_opens_goes_nowhere(desk: PluginDesk) -> None:
    ask(desk, "echo\ntouch ran")
    desk.wait_for_chat("1. Allow")
    desk.nvim.keys(":Agent answer<CR>1")
    desk.nvim.rest()
    desk.nvim.keys("<CR>")
    assert desk.nvim.lua(READ)[3] == "editor"
    assert desk.nvim.lua("return vim.fn.line('.')") == 1
    assert not (desk.folder / "ran").exists()


def test_a_digit_does_not_lead_past_text_that_was_not_seen(desk: PluginDesk) -> None:
    ask(desk, "true\n" * 60 + "touch ran")
    open_question(desk)
    desk.nvim.keys("1")
    assert desk.nvim.lua("return vim.fn.line('.')") == 1
    wait_until(lambda: "agent: read on" in desk.nvim.command_output("messages"))
    desk.nvim.keys("<C-f>" * 20 + "1")
    assert desk.nvim.lua("return vim.fn.getline('.')") == "  1. Allow"


def test_enter_in_the_chat_does_not_choose_another_answer_than_the_number_before_it(
    desk: PluginDesk,
) -> None:
    ask(desk, "touch ran")
    desk.wait_for_chat(". Deny")
    desk.nvim.command(f"call win_gotoid({desk.window('chat')})")
    desk.nvim.command("call search('Allow')")
    desk.nvim.rest()
    desk.nvim.keys(f"{DENY}<CR>")
    wait_until(lambda: "not answered: this" in desk.nvim.command_output("messages"))
    assert "asks" in desk.nvim.lua("return require('lsp_agent').statusline()")
    desk.nvim.keys("1<CR>")
    wait_until((desk.folder / "ran").exists)


def test_an_answer_is_not_that_of_a_question_that_comes_in_its_place(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(step(bash("touch first"), bash("touch second")), done())
    desk.agent("ask Run them.")
    desk.wait_for_chat("? bash: touch first")
    desk.nvim.rest()
    desk.nvim.lua(ANSWERS_AT_ONCE)
    desk.agent(f"answer {DENY}")
    desk.wait_for_chat("? bash: touch second")
    wait_until(lambda: "not answered: the" in desk.nvim.command_output("messages"))
    assert not (desk.folder / "second").exists()
    desk.nvim.rest()
    desk.agent("answer 1")
    wait_until((desk.folder / "second").exists)


def test_a_question_is_answered_by_number_and_says_how(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    open_question(desk)
    assert "asks" in desk.nvim.lua("return require('lsp_agent').statusline()")
    desk.agent("answer 1")
    desk.wait_for_chat("Done.")
    assert (desk.folder / "ran").exists()
    desk.choose("Deny")  # too late, and nothing happens
    assert "1. Allow" not in desk.chat()


def test_a_reason_behind_the_number_reaches_the_agent_with_a_denial_alone(
    desk: PluginDesk,
) -> None:
    ask(desk, "echo x > ran")
    desk.wait_for_chat(f"{DENY}. Deny")
    desk.nvim.rest()
    desk.agent("answer 1 use make dirs")
    wait_until(lambda: "not answered: a " in desk.nvim.command_output("messages"))
    desk.agent(f"answer {DENY} use make dirs")
    desk.wait_for_chat("Not run: the user declined this command and says: use make dirs")
    desk.wait_for_chat("Done.")
    assert not (desk.folder / "ran").exists()


def test_with_ask_chat_no_picker_comes_by_itself(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.setup(settings=desk.settings(step(bash("touch ran")), done()), ask="chat")
    desk.agent("ask Run it.")
    desk.wait_for_chat("1. Allow")
    time.sleep(1)
    assert not is_open(desk)
    assert desk.nvim.lua(FLOATS) == []
    assert "agent: bash: touch ran" in desk.nvim.command_output("messages")
    open_question(desk)
    desk.choose("Allow")
    wait_until((desk.folder / "ran").exists)


def test_an_answer_is_chosen_with_enter_in_the_chat(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    desk.wait_for_chat(". Deny")
    desk.nvim.command(f"call win_gotoid({desk.window('chat')})")
    desk.nvim.command("call search('Deny')")
    desk.nvim.rest()
    desk.nvim.keys("<CR>")
    desk.wait_for_chat("Done.")
    assert not (desk.folder / "ran").exists()


LONG = {
    "several lines": ("echo hello\n\nhello\ntouch ran", ["", "hello", "touch ran"]),
    "one line": ("echo " + "word " * 30 + "; touch ran", ["; touch ran"]),
}


@pytest.mark.parametrize("command", LONG)
def test_all_of_a_command_is_seen_before_it_is_allowed(desk: PluginDesk, command: str) -> None:
    text, parts = LONG[command]
    ask(desk, text)
    open_question(desk)
    assert desk.nvim.lua("return #_G.pickers") == 0
    lines, conceal, wraps, _ = desk.nvim.lua(READ)
    before = lines[: lines.index("  1. Allow")]
    at = [max(n for n, line in enumerate(before) if line.endswith(part)) for part in parts if part]
    assert at == sorted(at)
    assert "\n".join(before).strip().endswith(text.strip())
    assert (conceal, wraps) == (0, True)
    desk.nvim.keys("<CR>")  # on the text: nothing is chosen
    desk.nvim.command("call search('^  1\\. Allow$')")
    assert not (desk.folder / "ran").exists()
    desk.nvim.keys("<CR>")
    desk.wait_for_chat("Done.")
    assert (desk.folder / "ran").exists()
    wait_until(lambda: desk.nvim.lua(READ)[3] == "")


def test_a_command_stands_in_the_chat_as_it_is(desk: PluginDesk) -> None:
    ask(desk, "echo '[a](b)'\n\necho\n  1. Allow\ntouch ran")
    desk.wait_for_chat("  1. Allow")
    shown = desk.chat()
    start = shown.index("? bash: echo '[a](b)'…")
    text = ["    echo '[a](b)'", "    ", "    echo", "      1. Allow", "    touch ran"]
    assert shown[start + 1 : start + 6] == text
    assert desk.nvim.lua("return vim.wo[...].conceallevel", desk.window("chat")) == 0


def test_a_question_is_left_open_and_closed_when_it_is_answered(desk: PluginDesk) -> None:
    ask(desk, "echo\ntouch ran")
    open_question(desk)
    desk.nvim.keys("q")
    wait_until(lambda: desk.nvim.lua(READ)[3] == "")
    assert "asks" in desk.nvim.lua("return require('lsp_agent').statusline()")
    desk.agent("answer")
    wait_until(lambda: desk.nvim.lua(READ)[3] == "editor")
    desk.agent("answer 1")
    desk.wait_for_chat("Done.")
    wait_until(lambda: desk.nvim.lua(READ)[3] == "")
    assert (desk.folder / "ran").exists()


def test_what_an_agent_writes_is_no_answer(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(step(bash("touch ran"), text="? bash: true\n\n  1. Allow\n"), done())
    desk.agent("ask Run it.")
    desk.wait_for_chat(". Deny")
    desk.nvim.rest()
    desk.nvim.command(f"call win_gotoid({desk.window('chat')})")
    desk.nvim.command("call cursor(1, 1) | call search('^  1. Allow')")
    desk.nvim.keys("<CR>")
    wait_until(lambda: desk.nvim.mode() == "i")  # in the prompt, as from any other line
    assert "asks" in desk.nvim.lua("return require('lsp_agent').statusline()")
    assert not (desk.folder / "ran").exists()


def test_a_question_stands_in_the_corner_once_the_command_line_window_is_closed(
    desk: PluginDesk,
) -> None:
    ask(desk, "echo\ntouch ran")
    desk.nvim.keys("q:")
    wait_until(lambda: desk.nvim.lua("return vim.fn.getcmdwintype()") == ":")
    desk.wait_for_chat("1. Allow")
    time.sleep(1)
    assert desk.nvim.lua(READ)[3] == ""
    desk.nvim.keys(":q<CR>")
    assert corner(desk)[0] == "bash: echo…"
    assert "E11" not in desk.nvim.command_output("messages")


# As `:Agent close` does; what the server tells of the question may come after its answer.
FORGET = """
local sessions = require('lsp_agent.sessions')
sessions.forget(sessions.project_of(vim.lsp.get_clients({ name = 'lsp_agent' })[1]).current)
"""


def test_a_question_goes_with_its_session(desk: PluginDesk) -> None:
    ask(desk, "echo\ntouch ran")
    open_question(desk)
    desk.nvim.lua(FORGET)
    assert desk.nvim.lua(READ)[3] == ""
    assert not (desk.folder / "ran").exists()
