"""How the server is started, which buffers it is on, and what outlives it."""

import re
import time

import pytest
from plugin_desk import PluginDesk
from support import neovim_versions
from support.neovim import wait_until
from support.neovim_desk import done, edit, step

pytestmark = [pytest.mark.neovim, pytest.mark.cold_start]

ATTACHED = "return #vim.lsp.get_clients({ bufnr = 0, name = 'lsp_agent' })"
RUNNING = "return #vim.lsp.get_clients({ name = 'lsp_agent' })"
CLIENT = "local c = vim.lsp.get_clients({ name = 'lsp_agent' })[1] return c and c.id"
# The whole of a person's init.lua; what a test needs of the server goes into its options.
ENABLE = """
vim.lsp.config('lsp_agent', { init_options = ... })
vim.lsp.enable('lsp_agent')
"""


def kill_server(desk: PluginDesk) -> None:
    desk.nvim.dismisses = True  # Neovim's own message of it is long
    desk.server().kill()
    wait_until(lambda: desk.nvim.lua(RUNNING) == 0)


def restart(desk: PluginDesk, meanwhile: str = "") -> None:
    before = desk.nvim.lua(CLIENT)
    desk.agent("restart")
    desk.nvim.keys(meanwhile)
    wait_until(lambda: desk.nvim.lua(CLIENT) not in (None, before))


def test_a_file_without_a_file_type_is_attached_and_a_buffer_without_a_file_is_not(
    desk: PluginDesk,
) -> None:
    desk.setup(settings=desk.settings())
    desk.open("strange", "one\n")
    wait_until(lambda: desk.nvim.lua(ATTACHED) == 1)
    desk.nvim.command("enew | setfiletype python")
    time.sleep(0.5)
    assert desk.nvim.lua(ATTACHED) == 0
    desk.nvim.command("silent file b.py")
    wait_until(lambda: desk.nvim.lua(ATTACHED) == 1)
    assert desk.nvim.lua(RUNNING) == 1


def test_a_file_elsewhere_joins_the_server_that_runs(desk: PluginDesk) -> None:
    elsewhere = desk.folder.parent / "library.py"
    elsewhere.write_text("one\n")
    desk.open("a.txt", "one\n")
    desk.start()
    desk.nvim.command(f"silent edit {elsewhere}")
    wait_until(lambda: desk.nvim.lua(ATTACHED) == 1)
    assert desk.nvim.lua(RUNNING) == 1


def test_vim_lsp_enable_is_all_that_0_11_needs(desk: PluginDesk) -> None:
    if desk.version == "0.10":
        assert desk.nvim.lua("return vim.lsp.enable == nil")
        return
    desk.nvim.lua(ENABLE, desk.settings(step(edit("a", "one", "two")), done()))
    desk.open("a", "one\n")
    wait_until(lambda: desk.nvim.lua(ATTACHED) == 1)
    desk.agent("ask Go.")
    desk.wait_for_lines("two")


def test_a_prompt_starts_the_server_where_none_runs(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.setup(settings=desk.settings(step(edit("a.txt", "one", "two")), done()))
    desk.agent("ask Go.")
    desk.wait_for_lines("two")
    desk.wait_for_chat("Done.")
    kill_server(desk)
    desk.agent("ask Again.")
    desk.wait_for_chat("Again.")
    wait_until(lambda: desk.nvim.lua(RUNNING) == 1)


def test_a_missing_program_is_named_once(desk: PluginDesk) -> None:
    desk.setup(cmd=["no-such-server", "serve"])
    desk.open("a.txt", "one\n")
    desk.open("b.txt", "one\n")
    wait_until(lambda: "agent: no-such-server" in desk.nvim.command_output("messages"))
    time.sleep(0.3)
    assert desk.nvim.command_output("messages").count("agent: no-such-server") == 1


def test_marks_and_conversation_outlive_a_restart(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\n")
    desk.start(step(edit("a.txt", "two", "TWO")), done(), {"match": "Hello", "text": "Hello back."})
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.wait_for_marks([2, 2, False])
    restart(desk)
    desk.nvim.keys("ggOtyped<Esc>")
    desk.wait_for_marks([3, 3, False])
    desk.agent("ask Hello.")
    desk.wait_for_chat("Hello back.")
    shown = desk.chat()
    assert shown.index("Done.") < shown.index("Hello back.")
    desk.nvim.keys("3G\\au")
    desk.wait_for_lines("typed", "one", "two")


@pytest.mark.parametrize("how", ["restart", "kill"])
def test_what_is_typed_while_no_server_runs_is_known_to_the_next(
    desk: PluginDesk, how: str
) -> None:
    desk.open("a.txt", "one\ntwo\n")
    desk.start(step(edit("a.txt", "two", "TWO"), match="^Go"), done())
    if how == "kill":
        kill_server(desk)
        desk.nvim.keys("ggObetween<Esc>")
        desk.wait_for_lines("between", "one", "two")
        desk.agent("restart")
        desk.wait_for_server()
    else:
        restart(desk, meanwhile="ggObetween<Esc>")
    wait_until(lambda: desk.nvim.lua("return #vim.lsp.get_clients({ bufnr = 0 })") == 1)
    desk.nvim.keys("ggOafter<Esc>")
    desk.wait_for_lines("after", "between", "one", "two")
    assert desk.shown() == "after\nbetween\none\ntwo\n"
    desk.agent("ask Go.")
    desk.wait_for_lines("after", "between", "one", "TWO")
    assert desk.shown() == desk.nvim.text()


def test_a_change_waits_to_be_decided_on_while_no_server_runs(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\n")
    desk.start(step(edit("a.txt", "two", "TWO")), done())
    desk.agent("ask Go.")
    desk.wait_for_marks([2, 2, False])
    kill_server(desk)
    desk.nvim.command("wincmd t")
    desk.nvim.keys("2G\\au")
    wait_until(lambda: "agent: no server runs" in desk.nvim.command_output("messages"))
    assert desk.nvim.lines() == ["one", "TWO"]
    desk.agent("restart")
    desk.wait_for_server()
    desk.wait_for_marks([2, 2, False])
    desk.nvim.keys("2G\\au")
    desk.wait_for_lines("one", "two")


def test_health_says_what_is_there_and_what_is_missing(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start()
    shown = health(desk)
    assert "ERROR" not in shown
    assert f"{desk.folder}: 1 buffer\n" in shown
    desk.setup(cmd=["no-such-server", "serve"])
    assert "no-such-server cannot be run" in health(desk)


@pytest.mark.parametrize("desk", neovim_versions.parameters()[:1], indirect=True)
def test_health_says_what_keeps_the_agent_from_running_and_what_mends_it(
    desk: PluginDesk,
) -> None:
    desk.open("a.txt", "one\n")
    desk.setup()
    desk.wait_for_server()
    shown = health(desk)
    assert "can be written" in shown
    assert re.search(r"ERROR The built-in agent has no model yet: .*\n +- ADVICE:\n", shown)


def health(desk: PluginDesk) -> str:
    """What ``:checkhealth lsp_agent`` shows; it tries the agent out, which takes a while."""
    desk.nvim.request("nvim_command", "silent checkhealth lsp_agent", timeout=90)
    return wait_until(lambda: (text := desk.nvim.text()).count("]v next") and text)


def test_a_change_is_undone_right_after_a_restart(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\n")
    desk.start(step(edit("a.txt", "two", "TWO")), done())
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.wait_for_marks([2, 2, False])
    restart(desk)
    desk.wait_for_marks([2, 2, False])
    desk.nvim.command("wincmd t")
    desk.nvim.keys("2G\\au")
    desk.wait_for_lines("one", "two")


def test_a_server_that_hangs_is_followed_by_another_at_a_restart(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."})
    hanging = desk.server()
    hanging.suspend()
    try:
        desk.agent("restart")
        wait_until(lambda: desk.nvim.lua(RUNNING) == 2, 60)
    finally:
        desk.nvim.dismisses = True  # Neovim's own message of it is long
        hanging.kill()
    desk.agent("ask Look.")
    desk.wait_for_chat("I see.")


SESSION = "return require('lsp_agent.chat').session().id"
ASK_BY_CODE_ACTION = """
vim.lsp.buf.code_action({
  apply = true,
  filter = function(action) return vim.startswith(action.title, 'Ask the agent: ') end,
})
"""


def test_what_a_code_action_asks_goes_on_with_the_conversation_of_before_a_restart(
    desk: PluginDesk,
) -> None:
    desk.open("a.txt", "one\nagent: look\n")
    desk.start({"text": "I see.", "match": "Go"}, {"text": "Again.", "match": "look"})
    desk.agent("ask Go.")
    desk.wait_for_chat("I see.")
    before = desk.nvim.lua(SESSION)
    restart(desk)
    desk.nvim.command("2")
    desk.nvim.lua(ASK_BY_CODE_ACTION)
    desk.wait_for_chat("Again.")
    assert desk.chat().index("I see.") < desk.chat().index("look")
    assert desk.nvim.lua(SESSION) == before
