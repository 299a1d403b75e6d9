"""An agent's questions: never in the way of typing, answered by picker or in the chat."""

import time

import pytest
from neovim import wait_until
from neovim_desk import bash, done, step
from plugin_desk import PluginDesk

pytestmark = pytest.mark.neovim


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
    desk.nvim.keys("<Esc>")
    desk.choose("Deny")
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
