"""Prompts that cannot be sent at once: none is lost, each is seen."""

import pytest
from plugin_desk import PluginDesk
from support.neovim import NeovimError, wait_until
from support.neovim_desk import bash, done, step

pytestmark = pytest.mark.neovim

PROMPT = """
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if vim.api.nvim_buf_get_name(buffer) == 'lsp-agent://prompt' then
    return vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  end
end
return {}
"""
SESSIONS = """
local found = {}
for _, client in ipairs(vim.lsp.get_clients({ name = 'lsp_agent' })) do
  found[#found + 1] = #require('lsp_agent.sessions').project_of(client).sessions
end
return found
"""
WAITING = "## You, waiting"


def slow_start(desk: PluginDesk, *steps: dict[str, object], then: str) -> None:
    """A server that does nothing before there is a file ``go``."""
    command = f"until test -e go; do sleep 0.05; done; {then}"
    desk.setup(cmd=["sh", "-c", command], settings=desk.settings(*steps))


def go(desk: PluginDesk) -> None:
    (desk.folder / "go").touch()


def test_prompts_wait_for_a_server_that_starts(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    steps = ({"match": "First", "text": "Answer A."}, {"match": "Second", "text": "Answer B."})
    slow_start(desk, *steps, then="exec lsp-agent serve")
    desk.agent("ask First words.")
    desk.wait_for_chat(WAITING)
    assert "First words." in desk.chat()
    desk.nvim.command(f"call win_gotoid({desk.window('prompt')})")
    desk.nvim.keys("iSecond words.<CR>")
    wait_until(lambda: "Second words." in desk.chat())
    assert desk.nvim.lua(PROMPT) == [""]
    desk.nvim.keys("not sent")
    go(desk)
    desk.wait_for_chat("Answer B.")
    shown = [line for line in desk.chat() if line.endswith(".") and "agent" not in line]
    assert shown == ["First words.", "Answer A.", "Second words.", "Answer B."]
    assert WAITING not in desk.chat()
    assert desk.nvim.lua(PROMPT) == ["not sent"]
    assert desk.nvim.lua(SESSIONS) == [1]


def test_a_slash_command_comes_back_where_no_server_runs(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.setup(cmd=["no-such-program"])
    desk.agent("chat")
    wait_until(lambda: desk.nvim.mode() == "i")
    desk.nvim.keys("/greet<CR>")
    wait_until(lambda: "no server runs" in desk.nvim.command_output("messages"))
    assert desk.nvim.lua(PROMPT) == ["/greet"]


def test_prompts_come_back_where_the_server_does_not_start(desk: PluginDesk) -> None:
    desk.nvim.dismisses = True  # Neovim's own message of it is long
    desk.open("a.txt", "one\n")
    slow_start(desk, then="exit 3")
    desk.agent("ask First words.")
    desk.agent("ask Second words.")
    wait_until(lambda: desk.chat().count(WAITING) == 2)
    go(desk)
    wait_until(lambda: desk.nvim.lua(PROMPT) == ["First words.", "", "Second words."])
    assert WAITING not in desk.chat()
    desk.wait_for_chat("no server runs")


def test_a_prompt_that_waits_behind_another_is_seen_and_comes_back_when_it_is_dropped(
    desk: PluginDesk,
) -> None:
    desk.open("a.txt", "one\n")
    waits = bash("touch begun; until test -e go; do sleep 0.05; done")
    desk.start(step(waits), done(), permissions={"command": "allow"})
    desk.agent("ask First words.")
    wait_until((desk.folder / "begun").exists)
    desk.agent("ask Second words.")
    desk.agent("ask Third words.")
    wait_until(lambda: desk.chat().count(WAITING) == 2)
    assert desk.chat().index("Second words.") < desk.chat().index("Third words.")
    desk.agent("stop")
    wait_until(lambda: desk.nvim.lua(PROMPT) == ["Second words.", "", "Third words."])
    assert WAITING not in desk.chat()
    assert "Second words." not in desk.chat()
    wait_until(lambda: desk.nvim.lua("return require('lsp_agent').statusline()") == "agent")


def test_a_prompt_in_the_midst_of_a_restart_goes_on_with_the_session(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"match": "First", "text": "Answer A."}, {"match": "Second", "text": "Answer B."})
    desk.agent("ask First words.")
    desk.wait_for_chat("Answer A.")
    desk.agent("restart")
    desk.agent("ask Second words.")
    desk.agent("ask Second, again.")
    desk.wait_for_chat("Second words.")
    wait_until(lambda: desk.chat().count("Answer B.") == 2)
    assert desk.chat().count("Answer A.") == 1
    assert desk.nvim.lua(SESSIONS) == [1]


@pytest.mark.parametrize("before", ["status", "ask Second, before."])
def test_what_is_asked_right_after_a_restart_is_asked_of_one_session(
    desk: PluginDesk, before: str
) -> None:
    desk.nvim.dismisses = True  # the state has several lines
    desk.open("a.txt", "one\n")
    desk.start({"match": "First", "text": "Answer A."}, {"match": "Second", "text": "Answer B."})
    desk.agent("ask First words.")
    desk.wait_for_chat("Answer A.")
    desk.agent("restart")
    desk.agent(before)
    desk.agent("ask Second words.")
    wait_until(lambda: desk.chat().count("Answer B.") == (2 if before != "status" else 1))
    assert len(desk.call("agent/sessions")["sessions"]) == 1


def test_what_was_sent_to_a_server_that_dies_comes_back(desk: PluginDesk) -> None:
    desk.nvim.dismisses = True
    desk.open("a.txt", "one\n")
    desk.start(step(bash("touch begun; sleep 600")), done(), permissions={"command": "allow"})
    desk.agent("ask First words.")
    wait_until((desk.folder / "begun").exists)
    desk.agent("ask Second words.")
    desk.wait_for_chat(WAITING)
    desk.server().kill()
    wait_until(lambda: desk.nvim.lua(PROMPT) == ["Second words."])
    assert WAITING not in desk.chat()


def test_lines_go_along_as_they_are_when_the_prompt_is_sent(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\nthree\n")
    slow_start(desk, {"text": "I see."}, then="exec lsp-agent serve")
    desk.nvim.command("2Agent ask What is this?")
    desk.wait_for_chat(WAITING)
    desk.nvim.keys("ggOtyped<Esc>")
    go(desk)
    desk.wait_for_chat("I see.")
    assert "    a.txt, lines 3-3:" in desk.chat()
    assert "    two" in desk.chat()


# Of the parts of a buffer that go along with prompts: the first rows, from 1.
HELD = """
local space = vim.api.nvim_get_namespaces()['lsp_agent.context']
return vim.tbl_map(function(mark)
  return mark[2] + 1
end, vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('a.txt'), space, 0, -1, {}))
"""


def test_lines_are_marked_until_the_turn_of_their_prompt_starts(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\nthree\n")
    waits = bash("touch begun; until test -e go; do sleep 0.05; done")
    desk.start(step(waits), done(), {"text": "I see."}, permissions={"command": "allow"})
    desk.agent("ask First words.")
    wait_until((desk.folder / "begun").exists)
    wait_until(lambda: desk.nvim.lua(HELD) == [])
    desk.nvim.command("2,3Agent ask")
    wait_until(lambda: desk.nvim.mode() == "i")
    desk.nvim.keys("Second words.<CR>")
    desk.wait_for_chat(WAITING)
    assert desk.nvim.lua(HELD) == [2]
    go(desk)
    desk.wait_for_chat("I see.")
    assert desk.nvim.lua(HELD) == []


def test_a_prompt_that_another_plugin_gets_in_the_way_of_holds_up_no_other(
    desk: PluginDesk,
) -> None:
    desk.open("a.txt", "one\n")
    desk.file("b.txt", "two\n")
    desk.start({"text": "I see."})
    desk.nvim.command("autocmd BufReadPost b.txt lua error('of another plugin')")
    desk.agent("ask What is @b.txt?")
    wait_until(lambda: desk.nvim.lua(PROMPT) == ["What is @b.txt?"])
    assert any("of another plugin" in line for line in desk.chat())
    desk.agent("ask And now?")
    desk.wait_for_chat("I see.")
    assert WAITING not in desk.chat()


def test_a_prompt_is_sent_though_the_chat_cannot_be_shown(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."})
    desk.nvim.command("for n in range(40) | silent! vsplit | endfor")
    with pytest.raises(NeovimError, match="E36"):
        desk.agent("ask What is it?")
    desk.wait_for_chat("I see.")


def test_a_prompt_that_waits_for_a_server_that_hangs_is_sent_after_a_restart(
    desk: PluginDesk,
) -> None:
    desk.nvim.dismisses = True  # Neovim's own message of its end is long
    desk.open("a.txt", "one\n")
    command = "touch begun; test -e go && exec lsp-agent serve; exec sleep 600"
    desk.setup(cmd=["sh", "-c", command], settings=desk.settings({"text": "I see."}))
    wait_until((desk.folder / "begun").exists)
    desk.agent("ask What is it?")
    desk.wait_for_chat(WAITING)
    go(desk)
    desk.agent("restart")
    desk.wait_for_chat("I see.")
    assert desk.chat().count("What is it?") == 1


TWO_WAIT = """
local client = require('lsp_agent.client')
_G.called = { first = 0, second = 0 }
client.when_ready(function()
  _G.called.first = _G.called.first + 1
  client.when_ready(function() end)
end)
client.when_ready(function()
  _G.called.second = _G.called.second + 1
end)
"""


def test_each_that_waits_for_a_server_is_called_once(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    slow_start(desk, then="exec lsp-agent serve")
    desk.nvim.lua(TWO_WAIT)
    assert desk.nvim.lua("return _G.called") == {"first": 0, "second": 0}
    go(desk)
    wait_until(lambda: desk.nvim.lua("return _G.called.first") == 1)
    assert desk.nvim.lua("return _G.called") == {"first": 1, "second": 1}


# The server takes a prompt, gets one for the same turn before it tells that this has started, and
# answers that one after.
STEER_EARLY = """
local client, prompts = require('lsp_agent.client'), require('lsp_agent.prompts')
local to = vim.lsp.get_clients({ name = 'lsp_agent' })[1]
local taken = {}
client.execute = function(_, _, argument, on_result)
  taken[argument.text] = function() on_result({ sessionId = 's', turnId = 't' }) end
end
prompts.write({ text = 'First words.', held = {}, context = {} })
taken['First words.']()
prompts.write({ text = 'Second words.', held = {}, context = {}, steer = true })
require('lsp_agent.events').on_event(to.id, {
  type = 'turnStarted', sessionId = 's', turnId = 't', prompt = 'First words.',
})
taken['Second words.']()
"""


def test_words_for_a_turn_that_has_not_started_yet_are_shown_in_it(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start()
    desk.nvim.lua(STEER_EARLY)
    shown = desk.chat()
    assert shown.count("First words.") == shown.count("Second words.") == 1
    assert shown.index("## You, while it works") == shown.index("Second words.") - 2
    assert WAITING not in shown


def test_lines_of_no_file_are_quoted_in_the_prompt(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start({"text": "I see."}, done())
    desk.nvim.command("enew | setlocal buftype=nofile")  # as a terminal's
    desk.nvim.command("call setline(1, ['boom', 'bang', 'end'])")
    desk.nvim.command("1,2Agent ask Why?")
    desk.wait_for_chat("I see.")
    shown = desk.chat()
    start = shown.index("Why?")
    assert shown[start : start + 6] == ["Why?", "", "```", "boom", "bang", "```"]
    desk.nvim.command("call win_gotoid(win_getid(1))")
    desk.nvim.command("3Agent ask")
    wait_until(lambda: desk.nvim.lines() == ["```", "end", "```"])


CODE = "```python\ndef first(value):\n    return value\n\nfirst(1)\n```"


def test_words_to_an_agent_that_works_do_not_cut_what_it_is_saying(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    text = f"See:\n\n{CODE}\n\nThat is it."
    desk.start({"text": text, "pace_ms": 150}, {"text": "I was told."}, {"text": "Later it is."})
    desk.agent("ask Begin.")
    desk.wait_for_chat("def first")
    desk.agent("ask Later.")
    desk.wait_for_chat(WAITING)
    desk.agent("steer Be quick.")
    desk.wait_for_chat("## You, while it works")
    assert text.splitlines()[-1] not in desk.chat()
    desk.wait_for_chat("Later it is.")
    shown = desk.chat()
    told = ["## You, while it works", "", "Be quick.", "", "I was told.", "", "## You"]
    assert shown[shown.index("See:") : shown.index("Later.") - 1] == [*text.split("\n"), "", *told]
