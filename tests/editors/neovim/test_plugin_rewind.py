"""Back to an earlier prompt, and on from there in a new session."""

import pytest
from plugin_desk import PluginDesk
from support.neovim import Json, wait_until
from support.neovim_desk import done, edit, step

pytestmark = pytest.mark.neovim

SHOWN = """
for _, window in ipairs(vim.api.nvim_list_wins()) do
  if vim.w[window].lsp_agent == ... then
    return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true)
  end
end
return {}
"""


def said(name: str) -> Json:
    return {"match": rf"{name}\?\Z", "text": f"{name} said."}


def shown(desk: PluginDesk, role: str = "chat") -> list[str]:
    return desk.nvim.lua(SHOWN, role)


def ask(desk: PluginDesk, name: str) -> None:
    desk.agent(f"ask {name}?")
    desk.wait_for_chat(f"{name} said.")
    desk.wait_for_rest()


def test_one_goes_back_and_the_prompt_can_be_changed_and_sent_again(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(said("Apple"), said("Berry"), said("Cherry"))
    desk.nvim.command("enew")  # no line goes along
    desk.nvim.command("file here.txt")
    for name in ("Apple", "Berry"):
        ask(desk, name)
    desk.agent("rewind")
    titles = desk.picker()["items"]
    assert [title.split(" ")[0] for title in titles] == ["Berry?", "Apple?"]
    desk.choose("Berry?")
    assert desk.picker()["items"] == [
        "The conversation alone",
        "The conversation and the files",
    ]
    desk.choose("The conversation alone")
    wait_until(lambda: "Berry said." not in shown(desk))
    assert "Apple said." in shown(desk)
    wait_until(lambda: shown(desk, "prompt") == ["Berry?"])
    desk.nvim.keys("<Esc>ccCherry?<CR>")
    desk.wait_for_chat("Cherry said.")
    lines = [line for line in shown(desk) if line.endswith(("said.", "?"))]
    assert lines == ["Apple?", "Apple said.", "Cherry?", "Cherry said."]
    desk.agent("sessions")
    assert sum("(left)" in title for title in desk.picker()["items"]) == 1


def test_the_files_go_back_as_well_and_what_was_typed_since_stays(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\nthree\n")
    desk.start(step(edit("a.txt", "two", "TWO")), done())
    desk.agent("ask Shout.")
    desk.wait_for_chat("Done.")
    desk.wait_for_rest()
    desk.wait_for_lines("one", "TWO", "three")
    desk.nvim.keys("Gotyped<Esc>")
    desk.agent("rewind")
    desk.choose("Shout.")
    desk.choose("The conversation and the files")
    wait_until(lambda: shown(desk, "prompt") == ["Shout."])
    desk.nvim.command("stopinsert")
    buffer = desk.nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.txt'), 0, -1, true)")
    assert buffer == ["one", "two", "three", "typed"]


def test_a_new_session_goes_on_from_there_and_the_first_stays_as_it_is(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(said("Apple"), said("Berry"))
    desk.nvim.command("enew")
    desk.nvim.command("file here.txt")
    for name in ("Apple", "Berry"):
        ask(desk, name)
    desk.agent("fork")
    desk.choose("Berry?")
    wait_until(lambda: shown(desk, "prompt") == ["Berry?"])
    wait_until(lambda: "Apple said." in shown(desk))
    assert "Berry said." not in shown(desk)
    desk.nvim.keys("<Esc>")
    desk.agent("sessions")
    desk.choose("Apple? · ")
    wait_until(lambda: "Berry said." in shown(desk))


def test_where_nothing_was_said_there_is_nothing_to_go_back_to(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(done())
    for name in ("rewind", "fork"):
        desk.nvim.command("messages clear")
        desk.agent(name)
        wait_until(lambda: "nothing was said yet" in desk.nvim.command_output("messages"))
