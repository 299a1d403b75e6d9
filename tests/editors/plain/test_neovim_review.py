"""Review, revert and mirror in a real Neovim with a plain LSP client, step by step."""

import time
from pathlib import Path

import pytest
from support.neovim import wait_until
from support.neovim_desk import Desk, done, edit, step

pytestmark = [pytest.mark.neovim, pytest.mark.slow]

LINES = "one\ntwo\nthree\nfour\nfive\n"
TYPED = "typed before"


def unsaved(desk: Desk, *steps: dict[str, object], **options: object) -> None:
    """A document with a typed line at its end, and an agent for it."""
    desk.open("a.txt", LINES)
    desk.start(*steps, **options)
    desk.nvim.keys(f"Go{TYPED}<Esc>")
    wait_until(lambda: desk.nvim.lines()[-1] == TYPED and desk.nvim.mode() == "n")


def mirrored(desk: Desk, *steps: dict[str, object]) -> Path:
    """A document, and an agent that writes its file by itself."""
    path = desk.open("a.txt", LINES)
    # Long enough for what the person is told of it, which otherwise has to be dismissed.
    desk.nvim.command("set cmdheight=8")
    desk.start(*steps, hosting="mirror")
    return path


def undo(desk: Desk) -> None:
    desk.nvim.lua("_G.undo()")


def shown(desk: Desk) -> list[str]:
    """The buffer's lines; the server knows the same."""
    assert desk.shown() == desk.nvim.text()
    return desk.nvim.lines()


def hunks(desk: Desk) -> list[tuple[str, str]]:
    return [(hunk["newText"], hunk["status"]) for e in desk.edits() for hunk in e["hunks"]]


def test_u_takes_back_the_agents_edit_alone_and_ends_its_review(desk: Desk) -> None:
    unsaved(desk, step(edit("a.txt", "two", "TWO")), done())
    desk.run()
    assert desk.nvim.lines() == ["one", "TWO", "three", "four", "five", TYPED]
    undo(desk)
    assert shown(desk) == ["one", "two", "three", "four", "five", TYPED]
    assert desk.statuses() == ["rejected"]
    undo(desk)
    assert shown(desk) == LINES.split()


def test_u_takes_back_what_the_agent_deleted_and_nothing_is_left_to_undo(desk: Desk) -> None:
    unsaved(desk, step(edit("a.txt", "two\nthree\n", "")), done())
    desk.run()
    assert desk.nvim.lines() == ["one", "four", "five", TYPED]
    undo(desk)
    assert shown(desk) == ["one", "two", "three", "four", "five", TYPED]
    assert desk.statuses() == ["rejected"]
    desk.call("agent/undoAll", uri=desk.uri())
    assert shown(desk) == ["one", "two", "three", "four", "five", TYPED]


def test_u_after_a_hunk_was_undone_brings_that_hunk_back_alone(desk: Desk) -> None:
    unsaved(desk, step(edit("a.txt", "one\ntwo\nthree\nfour", "ONE\ntwo\nthree\nFOUR")), done())
    desk.run()
    (made,) = desk.edits()
    first, second = made["hunks"]
    assert (first["newText"], second["newText"]) == ("ONE\n", "FOUR\n")
    desk.call("agent/rejectEdit", editId=made["editId"], hunks=[second["hunkId"]])
    assert shown(desk) == ["ONE", "two", "three", "four", "five", TYPED]
    assert hunks(desk) == [("ONE\n", "applied"), ("FOUR\n", "rejected")]
    undo(desk)
    assert shown(desk) == ["ONE", "two", "three", "FOUR", "five", TYPED]


def test_u_after_a_revert_brings_the_turn_back_in_one_step(desk: Desk) -> None:
    unsaved(desk, step(edit("a.txt", "two", "TWO")), step(edit("a.txt", "four\n", "")), done())
    desk.run()
    desk.call("agent/revert")
    assert shown(desk) == ["one", "two", "three", "four", "five", TYPED]
    undo(desk)
    assert shown(desk) == ["one", "TWO", "three", "five", TYPED]


def test_u_takes_words_and_an_edit_in_insert_mode_one_by_one(desk: Desk) -> None:
    """As the README's handler has it; without, one `u` takes the words and the edit together."""
    desk.open("a.txt", LINES)
    desk.start(step(edit("a.txt", "two", "TWO")), done())
    desk.nvim.keys("Gohello")
    desk.run()
    assert desk.nvim.lines() == ["one", "TWO", "three", "four", "five", "hello"]
    assert desk.nvim.mode() == "i"
    desk.nvim.keys(" world<Esc>")
    wait_until(lambda: desk.nvim.lines()[-1] == "hello world" and desk.nvim.mode() == "n")
    undo(desk)
    assert shown(desk) == ["one", "TWO", "three", "four", "five", "hello"]
    assert desk.statuses() == ["applied"]
    undo(desk)
    assert shown(desk) == ["one", "two", "three", "four", "five", "hello"]
    assert desk.statuses() == ["rejected"]
    undo(desk)
    assert shown(desk) == LINES.split()


# As `gra` does, with the choice made by its title.
CODE_ACTION = """
local title, line = ...
vim.api.nvim_win_set_cursor(0, { line, 0 })
vim.lsp.buf.code_action({
  apply = true,
  filter = function(action) return vim.startswith(action.title, title) end,
})
"""


def act(desk: Desk, title: str, line: int) -> None:
    desk.nvim.lua(CODE_ACTION, title, line)


def test_hunks_are_undone_and_kept_by_code_action_where_the_cursor_is(desk: Desk) -> None:
    unsaved(desk, step(edit("a.txt", "one\ntwo\nthree\nfour", "ONE\ntwo\nthree\nFOUR")), done())
    desk.run()
    act(desk, "Undo the agent's change", 4)
    wait_until(lambda: desk.nvim.lines() == ["ONE", "two", "three", "four", "five", TYPED])
    act(desk, "Keep the agent's change", 1)
    wait_until(lambda: [status for _, status in hunks(desk)] == ["kept", "rejected"])
    assert shown(desk) == ["ONE", "two", "three", "four", "five", TYPED]


def test_a_clean_document_shows_what_the_agent_wrote_to_its_file(desk: Desk) -> None:
    path = mirrored(desk, step(edit("a.txt", "two", "TWO")), done())
    desk.run()
    wait_until(lambda: desk.nvim.lines() == ["one", "TWO", "three", "four", "five"])
    assert shown(desk) == path.read_text().split()
    assert len(desk.sends()) == 1


# As plugins for it do; the server does not wait long for a reload.
WATCH = """
local timer = vim.uv.new_timer()
timer:start(0, 20, vim.schedule_wrap(function() vim.cmd('silent! checktime') end))
"""


def test_a_document_that_the_editor_reloads_by_itself_gets_no_edit(desk: Desk) -> None:
    path = mirrored(desk, step(edit("a.txt", "two", "TWO")), done())
    desk.nvim.command("set autoread")
    desk.nvim.lua(WATCH)
    desk.run()
    time.sleep(1)
    assert shown(desk) == ["one", "TWO", "three", "four", "five"] == path.read_text().split()
    assert desk.sends() == []
    assert not desk.nvim.lua("return vim.bo.modified")


def test_what_the_agent_wrote_where_the_person_typed_is_proposed(desk: Desk) -> None:
    steps = [step(edit("a.txt", "two", "TWO")), step(edit("a.txt", "five", "FIVE")), done()]
    path = mirrored(desk, *steps)
    desk.nvim.keys("2Gcwtyped<Esc>")
    wait_until(lambda: desk.nvim.lines()[1] == "typed" and desk.nvim.mode() == "n")
    desk.run()
    wait_until(lambda: desk.nvim.lines()[4] == "FIVE")
    assert shown(desk) == ["one", "typed", "three", "four", "FIVE"]
    assert path.read_text() == "one\nTWO\nthree\nfour\nFIVE\n"
    proposed = [hunk for hunk in hunks(desk) if hunk[1] == "proposed"]
    assert proposed == [("TWO\n", "proposed")]
    desk.nvim.command("silent write!")
    assert path.read_text() == "one\ntyped\nthree\nfour\nFIVE\n"


def deaf(desk: Desk, *steps: dict[str, object], **options: object) -> None:
    """A document whose changes no server is told of, with typing before and after its opening.

    Typing while its only server is gone makes Neovim forget that it tells servers of changes.
    """
    desk.open("a.txt", LINES)
    desk.start(*steps, done(), **options)
    desk.nvim.command("set cmdheight=8")
    desk.server().kill()
    wait_until(lambda: desk.nvim.lua("return _G.client() == nil"))
    desk.nvim.keys(f"Go{TYPED}<Esc>")
    wait_until(lambda: desk.nvim.lines()[-1] == TYPED)
    desk.start_again()
    desk.nvim.keys("ggOzero<Esc>")
    wait_until(lambda: desk.nvim.lines()[0] == "zero")


def test_a_text_whose_changes_no_longer_reach_us_is_not_changed_blindly(desk: Desk) -> None:
    deaf(desk, step(edit("a.txt", "three", "THREE")), step(edit("a.txt", "four", "FOUR")))
    desk.run()
    text = ["zero", *LINES.split(), TYPED]
    assert desk.nvim.lines() == text
    assert desk.statuses() == ["proposed", "proposed"]
    assert len([message for message in desk.messages() if "bwipeout" in message]) == 1
    # As the message says. The newest Neovim has an error of its own to show where such a buffer
    # is wiped out, and room for it; 0.10 has no `vim.lsp.enable` to join the new one.
    desk.nvim.request("nvim_ui_try_resize", 80, 30)
    desk.nvim.command("set cmdheight=15")
    desk.nvim.command("silent write | bwipeout | edit a.txt")
    desk.nvim.lua("if not vim.lsp.buf_is_attached(0, _G.client().id) then _G.attach() end")
    wait_until(lambda: desk.shown() == desk.nvim.text())
    for edit_id in [made["editId"] for made in desk.edits()]:
        assert desk.call("agent/applyEdit", editId=edit_id)["applied"]
    text[3:5] = "THREE", "FOUR"
    assert shown(desk) == text


def test_what_the_agent_wrote_under_a_text_that_we_do_not_hear_of_is_proposed(desk: Desk) -> None:
    deaf(desk, step(edit("a.txt", "three", "THREE")), hosting="mirror")
    desk.run()
    assert desk.nvim.lines() == ["zero", *LINES.split(), TYPED]
    wait_until(lambda: desk.statuses() == ["proposed"])


def test_an_agents_first_edit_of_a_text_is_one_step_and_undone_with_it(desk: Desk) -> None:
    desk.open("a.txt", LINES)
    desk.start(step(edit("a.txt", "two", "TWO")), done())
    desk.run()
    assert desk.nvim.lines() == ["one", "TWO", "three", "four", "five"]
    undo(desk)
    assert shown(desk) == LINES.split()
    assert desk.statuses() == ["rejected"]
