"""A turn as a person with the plugin sees and steers it."""

import contextlib
import json
import sys
from pathlib import Path

import psutil
import pytest
from plugin_desk import PluginDesk
from support.neovim import wait_until
from support.neovim_desk import bash, done, edit, step, write

pytestmark = pytest.mark.neovim

ACP_AGENT = Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py"
STATUS = "return require('lsp_agent').statusline()"


def test_a_prompt_streams_into_the_chat_and_its_edit_lands(desk: PluginDesk) -> None:
    path = desk.open("a.txt", "one\ntwo\n")
    desk.start(step(edit("a.txt", "two", "TWO"), text="I change it."), done())
    desk.agent("ask Make it loud.")
    desk.wait_for_lines("one", "TWO")
    desk.wait_for_chat("Done.")
    shown = desk.chat()
    assert "Make it loud." in shown
    assert "I change it." in shown
    assert path.read_text() == "one\nTWO\n"  # it was clean, so it is saved
    assert not desk.modified()


def test_a_file_that_is_not_open_is_written_and_opens_no_window(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    other = desk.file("b.txt", "two\n")
    desk.start(step(edit("b.txt", "two", "TWO"), write("c.txt", "new\n")), done())
    desk.agent("ask Change the other.")
    desk.wait_for_chat("Done.")
    assert other.read_text() == "TWO\n"
    assert (desk.folder / "c.txt").read_text() == "new\n"
    assert desk.nvim.lua("return vim.fn.bufnr('b.txt')") == -1
    desk.nvim.command(f"silent edit {other}")
    desk.wait_for_marks([1, 1, False])
    assert not desk.modified()


def test_a_prompt_is_written_in_the_chat(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."}, done())
    desk.agent("chat")
    wait_until(lambda: desk.nvim.mode() == "i")
    desk.nvim.keys("First line<C-j>and second<CR>")
    desk.wait_for_chat("I see.")
    shown = desk.chat()
    assert shown.index("and second") == shown.index("First line") + 1
    assert desk.nvim.lines() == [""]  # the prompt's window is empty again
    desk.nvim.keys("<Esc>q")
    wait_until(lambda: not desk.window("chat") and not desk.window("prompt"))


def test_a_reader_is_left_where_they_read_and_the_end_is_followed(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    long = "".join(f"word {n}\n\n" for n in range(60))
    desk.start({"text": long, "pace_ms": 5}, done())
    desk.agent("ask Talk.")
    desk.wait_for_chat("word 10")
    chat = desk.window("chat")
    where = f"vim.api.nvim_win_get_cursor({chat})[1]"
    last = f"vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf({chat}))"
    assert desk.nvim.lua(f"return {where} == {last}")
    desk.nvim.lua(f"vim.api.nvim_win_set_cursor({chat}, {{ 3, 0 }})")
    desk.wait_for_chat("word 59")
    assert desk.nvim.lua(f"return {where}") == 3


def test_a_tool_call_is_folded_with_its_result(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(step(bash("echo first; echo second")), done(), permissions={"command": "allow"})
    desk.agent("ask Run it.")
    desk.wait_for_chat("Done.")
    shown = desk.chat()
    assert "    second" in shown
    wait_until(lambda: is_folded(desk, "bash: echo first; echo second"))
    assert not is_folded(desk, "Done.")


def is_folded(desk: PluginDesk, line: str) -> bool:
    """Whether this line of the shown conversation is the first one of a closed fold."""
    return desk.nvim.lua(FOLDED, desk.window("chat"), line)


FOLDED = """
local window, line = ...
local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true)
return vim.api.nvim_win_call(window, function()
  for number, each in ipairs(lines) do
    if each == line then return vim.fn.foldclosed(number) == number end
  end
  error('no such line')
end)
"""


def test_what_comes_in_insert_mode_is_folded_too(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(step(bash("echo first; echo second")), done(), permissions={"command": "allow"})
    desk.agent("chat")
    wait_until(lambda: desk.nvim.mode() == "i")
    desk.nvim.keys("Run it on @a.txt.<CR>")
    desk.wait_for_chat("Done.")
    assert desk.nvim.mode() == "i"
    wait_until(lambda: is_folded(desk, "bash: echo first; echo second"))
    wait_until(lambda: is_folded(desk, "with a.txt"))


def test_a_fold_that_was_opened_stays_open_while_output_comes(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    command = "echo 1; echo 2; until test -e go; do sleep 0.05; done; echo 3; echo 4"
    desk.start(step(bash(command)), done(), permissions={"command": "allow"})
    desk.agent("ask Run it.")
    desk.wait_for_chat("    2")
    header = next(line for line in desk.chat() if line.startswith("bash: "))
    wait_until(lambda: is_folded(desk, header))
    chat = desk.window("chat")
    desk.nvim.lua("vim.api.nvim_win_call(..., function() vim.cmd('%foldopen') end)", chat)
    (desk.folder / "go").touch()
    desk.wait_for_chat("Done.")
    assert not is_folded(desk, header)
    desk.nvim.lua("vim.api.nvim_win_call(..., function() vim.cmd('%foldclose') end)", chat)
    wait_until(lambda: is_folded(desk, header))
    assert not is_folded(desk, "Done.")


def test_a_conversation_that_went_on_unseen_is_folded_when_it_is_shown(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    waits = "echo 1; until test -e go; do sleep 0.05; done; echo 2"
    desk.start(step(bash(waits)), done(), permissions={"command": "allow"})
    desk.agent("ask Run it.")
    desk.wait_for_chat("    1")
    header = next(line for line in desk.chat() if line.startswith("bash: "))
    desk.agent("new")
    chat = f"vim.api.nvim_win_get_buf({desk.window('chat')})"
    wait_until(lambda: desk.nvim.lua(f"return vim.api.nvim_buf_line_count({chat})") == 1)
    (desk.folder / "go").touch()
    desk.wait_for_chat("Done.")
    desk.agent("sessions")
    desk.choose("Run it.")
    wait_until(lambda: desk.nvim.lua(f"return vim.api.nvim_buf_line_count({chat})") > 1)
    wait_until(lambda: is_folded(desk, header))
    assert not is_folded(desk, "Done.")


def test_a_selection_goes_along_with_the_prompt(desk: PluginDesk) -> None:
    desk.open("a.txt", "one two\nthree four\nfive\n")
    desk.start({"text": "I see."})
    desk.nvim.keys("wvj0e<Esc>")
    desk.agent("ask Nothing yet.")  # the line of the cursor
    desk.wait_for_chat("    a.txt, lines 2-2:")
    desk.nvim.command("'<,'>Agent ask What is this?")
    desk.wait_for_chat("What is this?")
    desk.wait_for_chat("    a.txt, lines 1-2:")
    shown = "\n".join(desk.chat())
    assert "    two\n    three\n" in shown
    assert "three four" not in shown.partition("What is this?")[2]


def test_lines_of_a_range_wait_for_the_prompt_that_is_written(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\nthree\n")
    desk.start({"text": "I see."})
    desk.nvim.command("2,3Agent ask")
    wait_until(lambda: desk.nvim.mode() == "i")
    bar = "return vim.wo[...].winbar"
    wait_until(lambda: "a.txt:2-3" in desk.nvim.lua(bar, desk.window("prompt")))
    desk.nvim.keys("What is this?<CR>")
    desk.wait_for_chat("I see.")
    assert "    two" in desk.chat()
    assert "a.txt" not in desk.nvim.lua(bar, desk.window("prompt"))


def test_a_file_that_a_prompt_names_is_completed_and_goes_along(desk: PluginDesk) -> None:
    folder = desk.open("a.txt", "one\n").parent
    (folder / "part").mkdir()
    (folder / "part" / "shape.txt").write_text("a circle\n")
    desk.start({"text": "I see."})
    desk.agent("chat")
    wait_until(lambda: desk.nvim.mode() == "i")
    desk.nvim.keys("What is in @pa<C-x><C-o>")
    wait_until(lambda: desk.nvim.lines() == ["What is in @part/"])
    desk.nvim.keys("sh<C-x><C-o>")
    wait_until(lambda: desk.nvim.lines() == ["What is in @part/shape.txt"])
    desk.nvim.keys(", or @part, @none, @../a.txt?<CR>")
    desk.wait_for_chat("I see.")
    shown = desk.chat()
    assert "What is in @part/shape.txt, or @part, @none, @../a.txt?" in shown
    assert shown.count("    a circle") == 1
    assert "    one" not in shown


def test_stopping_ends_the_turn_and_its_command(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(
        step(bash("echo begun; sleep 600")),
        step(edit("a.txt", "one", "never")),
        done(),
        permissions={"command": "allow"},
    )
    desk.agent("ask Sleep.")
    desk.wait_for_chat("    begun")
    assert "working" in desk.nvim.lua(STATUS)
    desk.agent("stop")
    desk.wait_for_chat("Stopped.")
    wait_until(lambda: desk.nvim.lua(STATUS) == "agent")
    assert desk.nvim.lines() == ["one"]


def test_each_session_has_a_conversation_of_its_own(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"match": "first", "text": "Answer A."}, {"match": "second", "text": "Answer B."})
    desk.agent("ask The first.")
    desk.wait_for_chat("Answer A.")
    desk.agent("new")
    chat = desk.window("chat")
    shown = f"return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf({chat}), 0, -1, true)"
    wait_until(lambda: "Answer A." not in desk.nvim.lua(shown))
    desk.agent("ask The second.")
    wait_until(lambda: "Answer B." in desk.nvim.lua(shown))
    assert "Answer A." not in desk.nvim.lua(shown)
    desk.agent("sessions")
    assert len(desk.picker()["items"]) == 2
    desk.choose("The first.")
    wait_until(lambda: "Answer A." in desk.nvim.lua(shown))
    desk.agent("close")
    wait_until(lambda: "Answer B." in desk.nvim.lua(shown))


def test_a_session_goes_on_after_a_restart_and_stored_ones_are_chosen(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(
        {"match": "Hello", "text": "Told again."},
        {"match": "first", "text": "Answer A.", "calls": [bash("true")]},
        {"text": "It ran."},
        permissions={"command": "allow"},
    )
    desk.agent("ask The first.")
    desk.wait_for_chat("It ran.")
    desk.agent("restart")
    desk.wait_for_chat("your next prompt goes on with this session")
    desk.wait_for_server()
    desk.agent("ask Hello.")
    desk.wait_for_chat("Told again.", 30)
    desk.agent("close")
    buffer = f"vim.api.nvim_win_get_buf({desk.window('chat')})"
    shown = f"return vim.api.nvim_buf_get_lines({buffer}, 0, -1, true)"
    wait_until(lambda: desk.nvim.lua(shown) == [""])
    desk.agent("chat")
    assert desk.window("chat") is None
    desk.agent("sessions")
    desk.choose("The first.")
    desk.choose("Resume")
    buffer = f"vim.api.nvim_win_get_buf({wait_until(lambda: desk.window('chat'))})"
    shown = f"return vim.api.nvim_buf_get_lines({buffer}, 0, -1, true)"
    wait_until(lambda: "Told again." in desk.nvim.lua(shown))
    parts = ("The first.", "Answer A.", "bash: true", "It ran.", "Hello.", "Told again.")
    assert [line for line in desk.nvim.lua(shown) if line in parts] == list(parts)
    desk.agent("rename Another name")
    desk.agent("export")
    wait_until(lambda: desk.nvim.lines()[:1] == ["# Another name"])


def test_what_a_person_does_with_the_session_right_after_a_restart_is_done_with_it(
    desk: PluginDesk,
) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "Answer A."})
    desk.agent("ask The first.")
    desk.wait_for_chat("Answer A.")
    desk.agent("restart")
    desk.wait_for_chat("your next prompt goes on with this session")
    desk.wait_for_server()
    desk.agent("rename Another name")
    desk.agent("export")
    wait_until(lambda: desk.nvim.lines()[:1] == ["# Another name"])


def test_an_agent_that_dies_is_named_and_replaced_at_the_next_prompt(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(
        {"match": "Talk", "text": "x " * 2000, "pace_ms": 100},
        {"match": "again", "text": "Here I am.", "calls": [edit("a.txt", "one", "two")]},
        done(),
    )
    desk.agent("ask Talk.")
    desk.wait_for_chat("x x x")
    kill_agents(desk)
    wait_until(lambda: "working" not in desk.nvim.lua(STATUS))
    desk.agent("ask And again.")
    desk.wait_for_chat("Here I am.", 30)
    desk.wait_for_lines("two")


def kill_agents(desk: PluginDesk) -> None:
    for process in desk.server().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # ended with the one before
            if "rpc" in process.cmdline():
                process.kill()


def test_the_model_is_chosen_in_the_picker(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."})
    desk.agent("models")
    assert desk.picker()["items"] == ["script · script (current)"]
    desk.choose("script")
    desk.agent("chat")
    bar = "return vim.wo[...].winbar"
    wait_until(lambda: "script" in desk.nvim.lua(bar, desk.window("chat")))


def test_sub_commands_are_completed(desk: PluginDesk) -> None:
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    assert desk.nvim.lua(complete, "Agent ke") == ["keep", "keep_all"]
    assert desk.nvim.lua(complete, "Agent keep_all ") == ["all"]


def test_why_a_prompt_is_not_taken_is_said_in_full_in_the_chat(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.setup()  # without settings there is no model
    desk.agent("ask Hello.")
    desk.wait_for_chat("The built-in agent has no model yet")


def test_quitting_the_last_file_quits_neovim(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start()
    desk.agent("chat")
    wait_until(lambda: desk.window("prompt"))
    desk.nvim.keys("<Esc><C-w>t")
    wait_until(lambda: desk.nvim.lua("return vim.bo.buftype") == "")
    desk.nvim.keys(":q<CR>")
    wait_until(lambda: desk.nvim.has_quit)


# As the server tells it: the scripted agent's thoughts are shown to nobody.
TELL = """
local client = vim.lsp.get_clients({ name = 'lsp_agent' })[1]
local session = require('lsp_agent.sessions').project_of(client).current
local event = vim.tbl_extend('keep', ..., { sessionId = session.id, turnId = 't' })
require('lsp_agent.events').on_event(client.id, event)
"""


# Notes the first row of a window's buffer, from 0, that is written from now on.
NOTE = """
_G.first_written = math.huge
vim.api.nvim_buf_attach(vim.api.nvim_win_get_buf(...), false, {
  on_lines = function(_, _, _, row)
    _G.first_written = math.min(_G.first_written, row)
  end,
})
"""


def test_thoughts_usage_and_edits_that_are_not_in_are_shown(desk: PluginDesk) -> None:
    path = desk.open("a.txt", "one\n")
    desk.start({"text": "I see."}, done())
    desk.agent("ask Look.")
    desk.wait_for_chat("I see.")
    desk.wait_for_rest()  # the turn's own usage has come
    edit_of = {"uri": path.as_uri(), "status": "conflict", "hunks": []}
    usage = {"type": "usage", "cumulative": {"input": 1200, "output": 34, "cost": 0.5}}
    window = {"type": "window", "used": 1234, "size": 8000}
    for event in (
        {"type": "thinkingDelta", "text": "First this, "},
        {"type": "queueChanged", "queued": []},  # the person's, who sends something meanwhile
        {"type": "thinkingDelta", "text": "then that."},
        {"type": "textDelta", "text": "So it is."},
        usage,
        window,
        {"type": "editConflict", "edit": edit_of},
    ):
        desk.nvim.lua(TELL, event)
    shown = desk.chat()
    thinking = shown.index("thinking")
    assert shown[thinking + 1] == "    First this, then that."
    assert shown.index("So it is.") > thinking
    assert any(line.startswith("An edit of a.txt met other changes") for line in shown)
    wait_until(lambda: is_folded(desk, "thinking"))
    chat = desk.window("chat")
    told = "window 15 %% of 8.0k · ↑1.2k ↓34 $0.50"

    def is_told() -> bool:
        for event in (usage, window):  # the state that was asked for may have come since
            desk.nvim.lua(TELL, event)
        return told in desk.nvim.lua("return vim.wo[...].winbar", chat)

    wait_until(is_told)
    desk.nvim.lua(TELL, {"type": "compacted", "summary": "All of it."})
    wait_until(lambda: "window" not in desk.nvim.lua("return vim.wo[...].winbar", chat))


def test_only_what_is_new_of_a_thought_is_written(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."}, done())
    desk.agent("ask Look.")
    desk.wait_for_chat("I see.")
    desk.wait_for_rest()
    for text in ("\n\nFirst", " this,\nthen", " that.\n", "\nAnd"):
        desk.nvim.lua(TELL, {"type": "thinkingDelta", "text": text})
    desk.nvim.lua(NOTE, desk.window("chat"))
    for text in (" then.\n", "\n"):
        desk.nvim.lua(TELL, {"type": "thinkingDelta", "text": text})
    first_written = desk.nvim.lua("return _G.first_written")
    desk.nvim.lua(TELL, {"type": "textDelta", "text": "So it is."})
    shown = desk.chat()
    thinking = shown.index("thinking")
    thought = ["First this,", "then that.", "", "And then."]
    assert shown[thinking + 1 :] == [*(f"    {line}" for line in thought), "", "So it is."]
    wait_until(lambda: is_folded(desk, "thinking"))
    assert first_written == thinking + len(thought)


def test_a_session_that_the_agent_has_kept_is_gone_on_with(desk: PluginDesk) -> None:
    path = desk.open("a.txt", "one\n")
    kept = {
        "sessionId": "kept",
        "cwd": str(path.parent),
        "title": "Begun elsewhere",
        "updatedAt": "2026-11-21T10:00:00Z",
    }
    command = [sys.executable, str(ACP_AGENT), json.dumps({"sessions": [kept]})]
    agent = {"wire": "acp", "command": command}
    desk.setup(settings={"agent": "double", "agents": {"double": agent}})
    desk.wait_for_server()
    desk.agent("continue")
    wait_until(lambda: "Begun elsewhere" in str(desk.picker()), 30)
    desk.choose(desk.picker()["items"][0])
    desk.wait_for_chat("said in kept")
    desk.agent("ask Go on.")
    desk.wait_for_chat("default/low")


def test_what_comes_late_of_a_closed_session_opens_nothing(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."})
    desk.agent("ask Look.")
    desk.wait_for_chat("I see.")
    session = "require('lsp_agent.sessions').project_of(vim.lsp.get_clients()[1]).current"
    closed = desk.nvim.lua(f"return {session}.id")
    desk.agent("close")
    wait_until(lambda: desk.nvim.lua(f"return {session}.id") != closed)
    late = {"type": "notice", "level": "error", "message": "Too late.", "sessionId": closed}
    desk.nvim.lua(TELL, late)
    assert desk.nvim.lua(f"return {session}.id") is None
    assert "Too late." not in desk.chat()
    desk.agent("ask Look again.")
    desk.wait_for_chat("Look again.")


@pytest.mark.parametrize("how", ["bwipeout!", "bdelete!"])
def test_a_conversation_whose_buffer_is_removed_is_made_anew(desk: PluginDesk, how: str) -> None:
    desk.open("a.txt", "one\n")
    waits = "echo begun; until test -e go; do sleep 0.05; done; echo after"
    desk.start(step(bash(waits), text="I run it."), done(), permissions={"command": "allow"})
    desk.agent("ask Run it.")
    desk.wait_for_chat("    begun")
    shown = desk.chat()
    number = desk.nvim.lua("return vim.fn.bufnr('lsp-agent://chat/1')")
    desk.nvim.command(f"silent {how} {number}")
    (desk.folder / "go").touch()
    desk.wait_for_chat("Done.")
    assert "    after" in desk.chat()
    assert [line for line in shown if line not in desk.chat()] == []
    assert "Error" not in desk.nvim.command_output("messages")
    desk.nvim.command("silent! bwipeout! lsp-agent://prompt")
    desk.agent("chat")
    header = next(line for line in desk.chat() if line.startswith("bash: "))
    wait_until(lambda: is_folded(desk, header))


WINDOWS = """
return vim.tbl_map(function(tab)
  return vim.tbl_map(function(window)
    return vim.w[window].lsp_agent or 'file'
  end, vim.api.nvim_tabpage_list_wins(tab))
end, vim.api.nvim_list_tabpages())
"""


@pytest.mark.parametrize("how", ["tabclose", "quit", "close"])
def test_a_chat_is_closed_with_its_own_prompt_only(desk: PluginDesk, how: str) -> None:
    desk.open("a.txt", "one\n")
    desk.start()
    desk.agent("chat")
    wait_until(lambda: desk.window("prompt"))
    desk.nvim.keys("<Esc><C-w>t")
    desk.nvim.command("tabedit b.txt")
    desk.agent("chat")
    both = ["file", "chat", "prompt"]
    wait_until(lambda: desk.nvim.lua(WINDOWS) == [both, both])
    desk.nvim.keys("<Esc>")
    if how != "tabclose":
        desk.nvim.command("wincmd t | close | wincmd t")  # the chat and its prompt are left
    desk.nvim.command(how)
    wait_until(lambda: desk.nvim.lua(WINDOWS) == [both])
    assert "Error" not in desk.nvim.command_output("messages")
    assert desk.nvim.command_output("messages").count("E5") == 0


# As one that shows notifications.
FLOAT = """
local buffer = vim.api.nvim_create_buf(false, true)
vim.api.nvim_open_win(buffer, false, {
  relative = 'editor', row = 0, col = 0, width = 5, height = 1, focusable = false,
})
"""


def test_a_chat_beside_a_float_alone_is_closed_for_a_file(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start()
    desk.agent("chat")
    wait_until(lambda: desk.window("prompt"))
    desk.nvim.keys("<Esc><C-w>t")
    desk.nvim.command("close")
    desk.nvim.lua(FLOAT)
    desk.agent("chat")
    wait_until(lambda: not desk.window("prompt") and not desk.window("chat"))
    assert desk.nvim.lines() == ["one"]
    assert "E444" not in desk.nvim.command_output("messages")


def test_a_tool_call_names_files_from_the_workspace(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")  # below the home folder
    desk.file("b.txt", "two\n")
    whole = edit(str(desk.folder / "b.txt"), "two", "TWO")
    desk.start(step(edit("a.txt", "one", "ONE")), step(whole), done())
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    assert [line for line in desk.chat() if line.startswith("edit: ")] == [
        "edit: a.txt",
        "edit: b.txt",
    ]


def test_a_turn_that_failed_is_tried_again(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "So far.", "error": "overloaded"}, {"text": "Back again."})
    desk.agent("ask Look.")
    desk.wait_for_chat("overloaded")
    desk.wait_for_rest()
    desk.agent("retry")
    desk.wait_for_chat("Back again.")
    assert desk.chat().count("Look.") == 2


def test_a_change_is_confined_to_the_lines_of_the_range(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\nthree\n")
    desk.start(step(edit("a.txt", "two", "TWO")), step(edit("a.txt", "three", "THREE")), done())
    desk.nvim.command("2,2Agent change Shout.")
    desk.wait_for_chat("Done.")
    desk.wait_for_lines("one", "TWO", "three")
    assert any("line 3 of a.txt" in line for line in desk.chat())
