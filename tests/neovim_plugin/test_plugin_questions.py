"""An agent's questions: never in the way of typing, answered by picker or in the chat."""

import time

import pytest
from neovim import wait_until
from neovim_desk import bash, done, step
from plugin_desk import PluginDesk

pytestmark = pytest.mark.neovim


# Of the window that has the focus: the whole text, and whether it is shown as it is.
READ = """
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
return { lines, vim.wo.conceallevel, vim.wo.wrap, vim.api.nvim_win_get_config(0).relative }
"""


def ask(desk: PluginDesk, command: str) -> None:
    desk.open("a.txt", "one\n")
    desk.start(step(bash(command)), done())
    desk.agent("ask Run it.")


def test_an_allowed_command_runs(desk: PluginDesk) -> None:
    ask(desk, "echo $((6 * 7)) > ran")
    assert "echo" in desk.picker()["prompt"]
    desk.choose("Allow")
    desk.wait_for_chat("Done.")
    assert (desk.folder / "ran").read_text() == "42\n"


@pytest.mark.parametrize("title", ["Deny", None])
def test_a_denied_or_dismissed_command_does_not_run(desk: PluginDesk, title: str | None) -> None:
    ask(desk, "touch ran")
    desk.choose(title)
    desk.wait_for_chat("Done.")
    assert not (desk.folder / "ran").exists()


def test_the_picker_waits_until_nobody_types(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    desk.nvim.keys("o")
    desk.wait_for_chat("1. Allow")
    for n in range(15):
        desk.nvim.keys(f"{n} ")
        time.sleep(0.1)
        assert desk.nvim.lua("return #_G.pickers") == 0
        assert desk.nvim.lua(READ)[3] == ""
    desk.nvim.keys("<Esc>")
    wait_until(lambda: desk.nvim.lua(READ)[3] == "editor")  # what is unsaved is said below
    assert "Unsaved in the editor, so not seen by it: a.txt" in desk.nvim.lua(READ)[0]
    desk.nvim.command("call search('Deny$')")
    desk.nvim.keys("<CR>")
    desk.wait_for_chat("Done.")
    assert desk.nvim.lines() == ["one", " ".join(map(str, range(15))) + " "]


def test_a_question_is_answered_by_number_and_says_how(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    desk.picker()
    assert "asks" in desk.nvim.lua("return require('lsp_agent').statusline()")
    desk.agent("answer 1")
    desk.wait_for_chat("Done.")
    assert (desk.folder / "ran").exists()
    desk.choose("Deny")  # too late, and nothing happens
    assert "1. Allow" not in desk.chat()


def test_with_ask_chat_no_picker_comes_by_itself(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.setup(settings=desk.settings(step(bash("touch ran")), done()), ask="chat")
    desk.agent("ask Run it.")
    desk.wait_for_chat("1. Allow")
    time.sleep(1)
    assert desk.nvim.lua("return #_G.pickers") == 0
    desk.agent("answer")
    desk.choose("Allow")
    wait_until((desk.folder / "ran").exists)


def test_an_answer_is_chosen_with_enter_in_the_chat(desk: PluginDesk) -> None:
    ask(desk, "touch ran")
    desk.wait_for_chat(". Deny")
    desk.nvim.command(f"call win_gotoid({desk.window('chat')})")
    desk.nvim.command("call search('Deny')")
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
    wait_until(lambda: desk.nvim.lua(READ)[3] == "editor")
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
    wait_until(lambda: desk.nvim.lua(READ)[3] == "editor")
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
    desk.picker()
    desk.nvim.command(f"call win_gotoid({desk.window('chat')})")
    desk.nvim.command("call cursor(1, 1) | call search('^  1. Allow')")
    desk.nvim.keys("<CR>")
    wait_until(lambda: desk.nvim.mode() == "i")  # in the prompt, as from any other line
    assert "asks" in desk.nvim.lua("return require('lsp_agent').statusline()")
    assert not (desk.folder / "ran").exists()


def test_a_question_waits_until_the_command_line_window_is_closed(desk: PluginDesk) -> None:
    ask(desk, "echo\ntouch ran")
    desk.nvim.keys("q:")
    wait_until(lambda: desk.nvim.lua("return vim.fn.getcmdwintype()") == ":")
    desk.wait_for_chat("1. Allow")
    time.sleep(1)
    assert desk.nvim.lua(READ)[3] == ""
    desk.nvim.keys(":q<CR>")
    wait_until(lambda: desk.nvim.lua(READ)[3] == "editor")
    assert "E11" not in desk.nvim.command_output("messages")


# As `:Agent close` does; what the server tells of the question may come after its answer.
FORGET = """
local sessions = require('lsp_agent.sessions')
sessions.forget(sessions.project_of(vim.lsp.get_clients({ name = 'lsp_agent' })[1]).current)
"""


def test_a_question_goes_with_its_session(desk: PluginDesk) -> None:
    ask(desk, "echo\ntouch ran")
    wait_until(lambda: desk.nvim.lua(READ)[3] == "editor")
    desk.nvim.lua(FORGET)
    assert desk.nvim.lua(READ)[3] == ""
    assert not (desk.folder / "ran").exists()
