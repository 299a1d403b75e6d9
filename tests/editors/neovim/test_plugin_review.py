"""Review by key where the agent's changes are."""

import time
from pathlib import Path

import pytest
from plugin_desk import PluginDesk
from support.neovim import wait_until
from support.neovim_desk import done, edit, step, write

pytestmark = pytest.mark.neovim

LINES = "one\ntwo\nthree\nfour\nfive\n"
CHANGED = ["one", "TWO", "three", "FOUR", "five"]
ROW = "return vim.fn.line('.')"
STATUS = "return require('lsp_agent').statusline()"


def change(desk: PluginDesk, **options: object) -> None:
    """Lines 2 and 4 of the shown buffer, by the agent."""
    desk.open("a.txt", LINES)
    desk.start(step(edit("a.txt", "two", "TWO"), edit("a.txt", "four", "FOUR")), done(), **options)
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.wait_for_rest()


def test_changes_are_marked_and_move_with_the_text(desk: PluginDesk) -> None:
    change(desk)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    desk.nvim.keys("ggOtyped<Esc>")
    desk.wait_for_marks([3, 3, False], [5, 5, False])
    assert "2 to review" in desk.nvim.lua(STATUS)


def test_keys_go_from_change_to_change_and_decide(desk: PluginDesk) -> None:
    change(desk)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    desk.nvim.keys("gg]v")
    wait_until(lambda: desk.nvim.lua(ROW) == 2)
    desk.nvim.keys("]v")
    wait_until(lambda: desk.nvim.lua(ROW) == 4)
    desk.nvim.keys("[v")
    wait_until(lambda: desk.nvim.lua(ROW) == 2)
    desk.nvim.keys("\\ak")  # the leader is a backslash unless it is set
    desk.wait_for_marks([4, 4, False])
    desk.nvim.keys("]v")
    wait_until(lambda: desk.nvim.lua(ROW) == 4)
    desk.nvim.keys("\\au")
    desk.wait_for_lines("one", "TWO", "three", "four", "five")
    desk.wait_for_marks()
    wait_until(lambda: not desk.modified())
    assert (desk.folder / "a.txt").read_text() == "one\nTWO\nthree\nfour\nfive\n"


def test_a_selection_is_decided_on_at_once(desk: PluginDesk) -> None:
    change(desk)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    desk.nvim.keys("ggVG\\au")
    desk.wait_for_lines(*LINES.split())
    desk.wait_for_marks()


def test_a_proposal_is_shown_applied_and_rejected(desk: PluginDesk) -> None:
    change(desk, edits={"review": "before"})
    desk.wait_for_marks([2, 2, True], [4, 4, True])
    assert desk.nvim.lines() == LINES.split()
    desk.nvim.keys("2G\\ak")
    desk.wait_for_lines("one", "TWO", "three", "four", "five")
    desk.nvim.keys("4G\\au")
    desk.wait_for_marks([2, 2, False])  # now a change, to be kept or undone
    assert desk.nvim.lines() == ["one", "TWO", "three", "four", "five"]


def test_all_proposals_of_a_file_are_applied_at_once(desk: PluginDesk) -> None:
    change(desk, edits={"review": "before"})
    desk.wait_for_marks([2, 2, True], [4, 4, True])
    desk.agent("apply_all")
    desk.wait_for_lines(*CHANGED)
    desk.wait_for_marks([2, 2, False], [4, 4, False])


def test_all_of_a_file_is_undone_and_what_the_person_typed_stays(desk: PluginDesk) -> None:
    change(desk)
    desk.nvim.keys("Gosix<Esc>")
    desk.wait_for_lines(*CHANGED, "six")
    desk.agent("undo_all")
    desk.wait_for_lines(*LINES.split(), "six")
    desk.wait_for_marks()
    assert desk.modified()
    assert (desk.folder / "a.txt").read_text() == "\n".join(CHANGED) + "\n"


def made(desk: PluginDesk) -> Path:
    """A file that the agent has made, and that is open."""
    path = desk.folder / "new.txt"
    desk.open("a.txt", "one\n")
    desk.start(step(write("new.txt", "new\nlines\n")), done())
    desk.agent("ask Make it.")
    desk.wait_for_chat("Done.")
    desk.nvim.command(f"silent edit {path}")
    desk.wait_for_marks([1, 2, False])
    return path


def test_a_new_file_that_is_undone_is_gone_again_and_can_be_made_by_hand(desk: PluginDesk) -> None:
    path = made(desk)
    desk.agent("undo")
    desk.wait_for_lines("")
    wait_until(lambda: not path.exists())
    wait_until(lambda: not desk.modified())
    desk.nvim.command("checktime")
    assert "E211" not in desk.nvim.command_output("messages")
    desk.nvim.keys("imine<Esc>")
    desk.nvim.command("write")
    assert path.read_text() == "mine\n"


def test_a_new_file_in_which_the_person_has_typed_stays(desk: PluginDesk) -> None:
    path = made(desk)
    desk.nvim.keys("Gomine<Esc>")
    desk.agent("undo_all")
    desk.wait_for_lines("mine")
    desk.wait_for_rest()
    time.sleep(0.5)
    assert path.exists()
    assert desk.modified()


def test_the_persons_own_undo_takes_the_marks_away_and_redo_brings_them_back(
    desk: PluginDesk,
) -> None:
    change(desk)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    desk.nvim.keys("uu")
    desk.wait_for_lines(*LINES.split())
    desk.wait_for_marks()
    wait_until(lambda: "to review" not in desk.nvim.lua(STATUS))
    desk.nvim.keys("<C-r><C-r>")
    desk.wait_for_lines(*CHANGED)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    wait_until(lambda: "2 to review" in desk.nvim.lua(STATUS))


def test_what_the_persons_undo_brings_back_of_a_rejected_change_is_marked(
    desk: PluginDesk,
) -> None:
    change(desk)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    desk.nvim.keys("4G\\au")
    desk.wait_for_lines("one", "TWO", "three", "four", "five")
    desk.wait_for_marks([2, 2, False])
    desk.nvim.keys("u")
    desk.wait_for_lines(*CHANGED)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    wait_until(lambda: "2 to review" in desk.nvim.lua(STATUS))


def test_a_turn_is_reverted_with_what_was_kept_of_it(desk: PluginDesk) -> None:
    change(desk)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    desk.agent("keep_all all")
    desk.wait_for_marks()
    desk.agent("revert")
    desk.wait_for_lines(*LINES.split())


def test_all_of_the_file_beside_the_chat_is_decided_from_the_chat(desk: PluginDesk) -> None:
    change(desk)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    shown = desk.nvim.lua("return vim.api.nvim_get_current_win()")
    desk.nvim.command(f"call win_gotoid({wait_until(lambda: desk.window('chat'))})")
    desk.agent("undo_all")
    desk.nvim.command(f"call win_gotoid({shown})")
    desk.wait_for_marks()
    desk.wait_for_lines(*LINES.split())


def test_why_a_proposal_is_not_applied_with_the_others_is_said(desk: PluginDesk) -> None:
    change(desk, edits={"review": "before"})
    desk.wait_for_marks([2, 2, True], [4, 4, True])
    desk.nvim.command("call setline(2, 'mine')")
    desk.agent("apply_all")
    wait_until(lambda: "not applied" in desk.nvim.command_output("messages"))


def test_an_edit_is_looked_at_as_a_diff(desk: PluginDesk) -> None:
    change(desk)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    desk.nvim.keys("2G")
    desk.agent("preview")
    floating = (
        "for _, w in ipairs(vim.api.nvim_list_wins()) do "
        "if vim.api.nvim_win_get_config(w).relative ~= '' then "
        "return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(w), 0, -1, true) end end"
    )
    shown = wait_until(lambda: desk.nvim.lua(floating))
    assert "-two" in shown
    assert "+TWO" in shown
    desk.agent("diff")
    wait_until(lambda: desk.nvim.lua("return vim.fn.tabpagenr()") == 2)
    wait_until(lambda: desk.nvim.lua("return vim.wo.diff"))
    assert desk.nvim.lines() == ["one", "TWO", "three", "four", "five"]
    desk.nvim.command("tabclose")


def test_the_next_change_is_found_in_another_file(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.file("b.txt", "two\nthree\n")
    desk.start(step(edit("b.txt", "three", "THREE")), done())
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.nvim.command(f"call win_gotoid({desk.window('chat')})")
    desk.agent("next")
    wait_until(lambda: desk.nvim.lua("return vim.fn.expand('%:t')") == "b.txt")
    wait_until(lambda: desk.nvim.lua(ROW) == 2)
    assert desk.window("chat")


def test_keys_that_are_typed_ahead_decide_where_the_ones_before_them_lead(
    desk: PluginDesk,
) -> None:
    desk.file("b.txt", "six\nseven\n")
    desk.open("a.txt", LINES)
    calls = edit("a.txt", "two", "TWO"), edit("a.txt", "four", "FOUR"), edit("b.txt", "six", "SIX")
    desk.start(step(*calls), done())
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    desk.nvim.keys("gg]v\\ak]v\\au]v\\ak")
    wait_until(lambda: desk.nvim.lua("return vim.fn.expand('%:t')") == "b.txt")
    wait_until(lambda: desk.statuses() == ["kept", "rejected", "kept"])
    desk.wait_for_lines("SIX", "seven")
    desk.nvim.command("silent edit a.txt")
    desk.wait_for_lines("one", "TWO", "three", "four", "five")


# The person's key comes before the server has told of what is open in a file that is just shown.
DECIDES_AT_ONCE = """
local keys = ...
vim.api.nvim_create_autocmd('BufWinEnter', {
  pattern = '*b.txt',
  once = true,
  callback = vim.schedule_wrap(function() vim.api.nvim_input(keys) end),
})
"""


@pytest.mark.parametrize(("keys", "left"), [("\\ak", "THREE"), ("\\au", "three")])
def test_a_key_that_decides_waits_for_the_changes_of_a_file_that_is_just_shown(
    desk: PluginDesk, keys: str, left: str
) -> None:
    desk.open("a.txt", "one\n")
    desk.file("b.txt", "two\nthree\n")
    desk.start(step(edit("b.txt", "three", "THREE")), done())
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.nvim.lua(DECIDES_AT_ONCE, keys)
    desk.nvim.keys("]v")
    wait_until(lambda: desk.nvim.lua("return vim.fn.expand('%:t')") == "b.txt")
    wait_until(lambda: desk.edits()[0]["status"] in ("kept", "rejected"))
    desk.wait_for_lines("two", left)
    desk.wait_for_marks()


TOP = "return vim.fn.winsaveview()"


def test_lines_that_went_from_the_top_are_seen(desk: PluginDesk) -> None:
    desk.open("a.txt", "first\nsecond\n" + "".join(f"line {n}\n" for n in range(60)))
    desk.setup(settings=desk.settings(step(edit("a.txt", "first\nsecond\n", "")), done()))
    desk.wait_for_server()
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.nvim.command("wincmd t")
    wait_until(lambda: desk.nvim.lua(TOP)["topfill"] == 2)
    assert "first" in desk.nvim.screen()
    desk.nvim.keys("G")
    wait_until(lambda: desk.nvim.lua(TOP)["topline"] > 1)
    desk.nvim.keys("gg")
    wait_until(lambda: desk.nvim.lua(TOP)["topfill"] == 2)
    desk.nvim.keys("<C-e>")
    wait_until(lambda: desk.nvim.lua(TOP)["topfill"] == 1)


ABOVE = """
local space = vim.api.nvim_get_namespaces()['lsp_agent.review']
local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
return vim.tbl_map(function(mark)
  return { mark[2] + 1, mark[4].virt_lines_above, #mark[4].virt_lines }
end, marks)
"""


def test_lines_that_went_from_the_end_are_seen_below_it_and_gone_to(desk: PluginDesk) -> None:
    desk.open("a.txt", LINES)
    desk.file("b.txt", "last\n")
    steps = step(edit("a.txt", "four\nfive\n", "")), step(edit("b.txt", "last", "LAST")), done()
    desk.start(*steps)
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.wait_for_marks([3, 3, False])
    assert desk.nvim.lua(ABOVE) == [[3, False, 2]]
    desk.nvim.keys("gg")
    desk.agent("next")
    wait_until(lambda: desk.nvim.lua(ROW) == 3)
    desk.agent("next")
    wait_until(lambda: desk.nvim.lua("return vim.fn.expand('%:t')") == "b.txt")
    assert "outside buffer" not in desk.nvim.command_output("messages")


@pytest.mark.parametrize(
    ("gone", "left"),
    [("one\ntwo\n", ["three", "four", "five"]), (LINES, [""])],
    ids=["from the start", "all of it"],
)
def test_lines_that_went_are_gone_to_and_undone(
    desk: PluginDesk, gone: str, left: list[str]
) -> None:
    desk.open("a.txt", LINES)
    desk.file("b.txt", "last\n")
    desk.start(step(edit("a.txt", gone, "")), step(edit("b.txt", "last", "LAST")), done())
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.wait_for_lines(*left)
    desk.wait_for_marks([1, 1, False])
    desk.nvim.keys("gg")
    for name in ("b.txt", "a.txt", "b.txt", "a.txt"):
        desk.agent("next")
        wait_until(lambda name=name: desk.nvim.lua("return vim.fn.expand('%:t')") == name)
        wait_until(lambda: desk.nvim.lua(ROW) == 1)
    assert "outside buffer" not in desk.nvim.command_output("messages")
    desk.nvim.keys("\\au")
    desk.wait_for_lines(*LINES.split())


def test_what_the_person_undid_and_brought_back_is_marked_again(desk: PluginDesk) -> None:
    change(desk)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    desk.nvim.keys("uu")
    desk.wait_for_lines(*LINES.split())
    desk.wait_for_marks()
    desk.nvim.keys("<C-r><C-r>")
    desk.wait_for_lines(*CHANGED)
    desk.wait_for_marks([2, 2, False], [4, 4, False])


def test_no_key_of_neovims_own_is_taken(desk: PluginDesk) -> None:
    change(desk)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    ours = desk.nvim.lua(
        "return vim.tbl_map(function(map) return map.lhs end, vim.api.nvim_buf_get_keymap(0, 'n'))"
    )
    assert ours
    taken = [
        key
        for key in ours
        if desk.nvim.lua("return vim.fn.getcompletion(..., 'help')[1] == ...", key)
    ]
    assert taken == []


def test_a_decision_is_repeated_by_the_dot(desk: PluginDesk) -> None:
    desk.open("a.txt", LINES)
    changes = ("two", "TWO"), ("three", "\nthree"), ("five", "V")
    edits = [edit("a.txt", old, new) for old, new in changes]
    desk.start(step(*edits), done())
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.wait_for_marks([2, 2, False], [3, 3, False], [6, 6, False])
    desk.nvim.keys("2G\\au")
    desk.wait_for_lines("one", "two", "", "three", "four", "V")
    desk.wait_for_marks([3, 3, False], [6, 6, False])
    desk.nvim.keys("3G.")  # an empty line
    desk.wait_for_lines("one", "two", "three", "four", "V")
    desk.wait_for_marks([5, 5, False])
    desk.nvim.keys("G\\ak")
    desk.wait_for_marks()


def test_a_hunk_is_a_text_object(desk: PluginDesk) -> None:
    desk.open("a.txt", LINES)
    edits = edit("a.txt", "two", "TWO\nTWO\nTWO"), edit("a.txt", "five\n", "")
    desk.start(step(*edits), done())
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.wait_for_marks([2, 4, False], [6, 6, False])
    desk.nvim.keys("3Gyih")
    wait_until(lambda: desk.nvim.lua("return vim.fn.getreg('0')") == "TWO\nTWO\nTWO\n")
    desk.nvim.keys("3Gvihr-<Esc>")
    desk.wait_for_lines("one", "---", "---", "---", "three", "four")
    desk.nvim.keys("Gdih")  # of what has no lines
    desk.nvim.keys("ggdih")  # where none is
    assert desk.nvim.lines() == ["one", "---", "---", "---", "three", "four"]
    assert desk.nvim.mode() == "n"


def test_an_operator_decides_on_the_changes_of_a_motion(desk: PluginDesk) -> None:
    change(desk)
    desk.wait_for_marks([2, 2, False], [4, 4, False])
    desk.nvim.command("nmap gk <Plug>(lsp-agent-keep-operator)")
    desk.nvim.keys("gggkG")
    desk.wait_for_marks()
    assert desk.nvim.lines() == CHANGED
