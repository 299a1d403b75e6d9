"""How the agent's edits get into buffers that a person types in."""

import random
import time

import pytest
from plugin_desk import PluginDesk
from support.neovim import wait_until
from support.neovim_desk import bash, done, edit, read, step

pytestmark = pytest.mark.neovim

# Gives the plugin's handler an edit, as a server would, and notes what it answers.
SEND = """
local version, first, last, text = ...
local client = vim.lsp.get_clients({ name = 'lsp_agent' })[1]
_G.taken = nil
coroutine.wrap(function()
  _G.taken = client.config.handlers['workspace/applyEdit'](nil, {
    edit = { documentChanges = { {
      textDocument = { uri = vim.uri_from_bufnr(0), version = version },
      edits = { {
        range = {
          start = { line = first, character = 0 },
          ['end'] = { line = last, character = 0 },
        },
        newText = text,
      } },
    } } },
  }, { client_id = client.id })
end)()
return _G.taken
"""
# The version that the server knows of the shown buffer once all that was typed is sent.
VERSION = "return math.max(vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()], 1)"
ANSWER = "return _G.taken"


def send(desk: PluginDesk, first: int, last: int, text: str) -> dict[str, object] | None:
    return desk.nvim.lua(SEND, desk.nvim.lua(VERSION), first, last, text)


def test_an_edit_lands_in_unsaved_text_while_typing_goes_on(desk: PluginDesk) -> None:
    path = desk.open("a.txt", "".join(f"line {n}\n" for n in range(20)))
    edits = [step(edit("a.txt", f"line {n}\n", f"LINE {n}\n"), delay_ms=40) for n in range(8, 18)]
    desk.start(*edits, step(read("a.txt")), done())
    desk.nvim.keys("2GA, typed<Esc>")
    desk.agent("ask Make them loud.")
    desk.nvim.keys("4GA")
    words = 0
    while "Done." not in desk.chat():
        desk.nvim.keys(f" word{words}")
        if words % 9 == 8:
            desk.nvim.keys("<CR>")
        words += 1
        time.sleep(0.05)
    desk.nvim.keys("<Esc>")
    typed = [f"word{n}" for n in range(words)]
    wait_until(lambda: [word for word in desk.nvim.text().split() if "word" in word] == typed)
    lines = desk.nvim.lines()
    assert lines[1] == "line 1, typed"
    assert [line for line in lines if line.startswith("LINE")] == [
        f"LINE {n}" for n in range(8, 18)
    ]
    assert desk.modified()
    assert "typed" not in path.read_text()
    assert desk.shown() == desk.nvim.text()


def test_u_takes_words_and_edits_apart_in_insert_mode(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\nthree\n")
    desk.start()
    desk.nvim.keys("Ahello")
    wait_until(lambda: desk.nvim.lines()[0] == "onehello")
    assert send(desk, 2, 3, "THREE\n") == {"applied": True}
    desk.nvim.keys("world<Esc>")
    desk.wait_for_lines("onehelloworld", "two", "THREE")
    for state in (
        ["onehello", "two", "THREE"],
        ["onehello", "two", "three"],
        ["one", "two", "three"],
    ):
        desk.nvim.keys("u")
        desk.wait_for_lines(*state)


def test_lines_joined_after_an_edit_come_apart_again(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\nthree\n")
    desk.start()
    desk.nvim.keys("A<CR>")
    desk.wait_for_lines("one", "", "two", "three")
    assert send(desk, 3, 4, "THREE\n") == {"applied": True}
    desk.nvim.keys("<BS>more<Esc>")
    desk.wait_for_lines("onemore", "two", "THREE")
    for state in (
        ["one", "", "two", "THREE"],
        ["one", "", "two", "three"],
        ["one", "two", "three"],
    ):
        desk.nvim.keys("u")
        desk.wait_for_lines(*state)


def test_completion_and_repeating_outlive_an_edit(desk: PluginDesk) -> None:
    desk.open("a.txt", "wordy\nworldly\n-\n+\nend\n")
    desk.start()
    desk.nvim.keys("3GA wor<C-n>")
    wait_until(lambda: desk.nvim.lua("return vim.fn.pumvisible()") == 1)
    assert send(desk, 4, 5, "END\n") == {"applied": True}
    assert desk.nvim.lua("return vim.fn.pumvisible()") == 1
    desk.nvim.keys("<C-y> and")
    wait_until(lambda: desk.nvim.lines()[2].endswith(" and"))
    assert send(desk, 0, 1, "WORDY\n") == {"applied": True}
    desk.nvim.keys(" so<Esc>j.")
    completed = wait_until(lambda: (line := desk.nvim.lines()[2]).endswith(" and so") and line)
    desk.wait_for_lines("WORDY", "worldly", completed, "+" + completed[1:], "END")


def test_an_edit_beside_a_completion_that_is_given_up_undoes_nothing(desk: PluginDesk) -> None:
    desk.open("a.txt", "wordy\nworldly\n-\nend\n")
    desk.start()
    desk.nvim.keys("3GA wor<C-n>")
    wait_until(lambda: desk.nvim.lua("return vim.fn.pumvisible()") == 1)
    assert send(desk, 3, 4, "END\n") == {"applied": True}
    lines = desk.nvim.lines()
    desk.nvim.keys("<Esc>")
    wait_until(lambda: desk.nvim.mode() == "n")
    desk.nvim.rest()
    assert desk.nvim.lines() == lines


@pytest.mark.slow
def test_u_goes_back_through_random_mixtures_of_typing_and_edits(desk: PluginDesk) -> None:
    rng = random.Random(7)
    desk.open("a.txt", "one\n")
    desk.start()
    for _ in range(40):
        lines = [f"line {n}" for n in range(8)]
        desk.nvim.request("nvim_buf_set_lines", 0, 0, -1, True, lines)
        desk.nvim.command("let &l:undolevels=&l:undolevels")
        desk.nvim.keys(f"<Esc>{rng.randint(1, 8)}G{rng.choice('iAo')}")
        ends: list[list[str]] = []
        for n in range(rng.randint(2, 14)):
            if rng.random() < 0.65:
                desk.nvim.keys(rng.choice([f"w{n} ", f"w{n}", "<CR>", "<BS>", "<C-w>"]))
                continue
            desk.nvim.mode()  # what was typed is in
            ends.append(desk.nvim.lines())
            first = rng.randrange(len(ends[-1]))
            text = "".join(f"agent {n}\n" for _ in range(rng.randint(1, 2)))
            assert send(desk, first, first + rng.randint(0, 1), text) == {"applied": True}
            ends.append(desk.nvim.lines())
        desk.nvim.keys("<Esc>")
        desk.nvim.mode()
        seen = [desk.nvim.lines()]
        while seen[-1] != lines:
            desk.nvim.command("silent undo")
            seen.append(desk.nvim.lines())
            assert len(seen) < 60, "the text of the beginning does not come back"
        missing = [end for end in ends if end not in seen]
        assert not missing, (missing, seen)


def test_an_edit_waits_for_a_selection_to_end(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\nthree\n")
    desk.start()
    desk.nvim.keys("jV")
    wait_until(lambda: desk.nvim.mode() == "V")
    assert send(desk, 0, 0, "zero\n") is None
    desk.nvim.keys("<Esc>")
    assert wait_until(lambda: desk.nvim.lua(ANSWER)) == {"applied": True}
    assert desk.nvim.lines() == ["zero", "one", "two", "three"]


def test_an_operator_acts_on_what_it_was_begun_on(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\nthree\n")
    desk.start()
    desk.nvim.keys("jV")
    wait_until(lambda: desk.nvim.mode() == "V")
    assert send(desk, 0, 0, "zero\n") is None
    desk.nvim.keys("d")
    desk.wait_for_lines("one", "three")
    answer = wait_until(lambda: desk.nvim.lua(ANSWER))
    assert answer == {"applied": False, "failureReason": "the document has changed"}


def test_an_edit_is_refused_when_the_selection_stays(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\n")
    desk.start()
    desk.nvim.keys("v")
    wait_until(lambda: desk.nvim.mode() == "v")
    assert send(desk, 0, 0, "zero\n") is None
    answer = wait_until(lambda: desk.nvim.lua(ANSWER))
    assert answer == {
        "applied": False,
        "failureReason": "a selection, an operator or a command is pending",
    }
    assert desk.nvim.lines() == ["one", "two"]


FOUR = "top\none\ntwo\nthree\n"


@pytest.mark.parametrize(("key", "typed"), [("I", "#{0}"), ("A", "{0[0]}#{1}"), ("c", "#{1}")])
def test_an_edit_waits_for_what_is_typed_in_several_lines_at_once(
    desk: PluginDesk, key: str, typed: str
) -> None:
    desk.open("a.txt", FOUR)
    desk.start()
    desk.nvim.keys(f"2G<C-v>j{key}#")
    wait_until(lambda: desk.nvim.mode() == "i")
    assert send(desk, 0, 0, "zero\n") is None
    desk.nvim.keys("<Esc>")
    answer = wait_until(lambda: desk.nvim.lua(ANSWER))
    assert answer == {"applied": False, "failureReason": "the document has changed"}
    both = (typed.format(word, word[1:]) for word in ("one", "two"))
    assert desk.nvim.lines() == ["top", *both, "three"]


def test_an_edit_does_not_wait_for_words_after_those_in_several_lines(desk: PluginDesk) -> None:
    desk.open("a.txt", FOUR)
    desk.start()
    desk.nvim.keys("2G<C-v>jI#<C-c>")  # by which Insert mode ends unsaid
    wait_until(lambda: desk.nvim.mode() == "n")
    desk.nvim.keys("A")
    wait_until(lambda: desk.nvim.mode() == "i")
    assert send(desk, 0, 0, "zero\n") == {"applied": True}


def test_an_edit_leaves_alone_what_is_typed_several_times(desk: PluginDesk) -> None:
    desk.open("a.txt", FOUR)
    desk.start()
    desk.nvim.keys("2G3ohey")
    desk.wait_for_lines("top", "one", "hey", "two", "three")
    assert send(desk, 0, 0, "zero\n") == {"applied": True}
    desk.nvim.keys("<Esc>")
    desk.wait_for_lines("zero", "top", "one", "hey", "hey", "hey", "two", "three")


def test_a_command_acts_on_the_lines_whose_numbers_were_typed(desk: PluginDesk) -> None:
    desk.open("a.txt", FOUR)
    desk.start()
    desk.nvim.keys(":3,4d")
    wait_until(lambda: desk.nvim.mode() == "c")
    assert send(desk, 0, 0, "zero\n") is None
    desk.nvim.keys("<CR>")
    desk.wait_for_lines("top", "one")
    answer = wait_until(lambda: desk.nvim.lua(ANSWER))
    assert answer == {"applied": False, "failureReason": "the document has changed"}


@pytest.mark.parametrize("command", ["Agent steer Take 2.", "'a,'bsort", "/4/"])
def test_an_edit_does_not_wait_for_other_commands(desk: PluginDesk, command: str) -> None:
    desk.open("a.txt", FOUR)
    desk.start()
    desk.nvim.keys(f":{command}")
    wait_until(lambda: desk.nvim.mode() == "c")
    assert send(desk, 0, 0, "zero\n") == {"applied": True}


def test_an_edit_of_an_older_text_is_refused(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\n")
    desk.start()
    version = desk.nvim.lua(VERSION)
    desk.nvim.keys("Ozero<Esc>")
    desk.wait_for_lines("zero", "one", "two")
    answer = desk.nvim.lua(SEND, version, 1, 2, "TWO\n")
    assert answer == {"applied": False, "failureReason": "the document has changed"}
    assert desk.nvim.lines() == ["zero", "one", "two"]


def test_another_servers_coming_does_not_make_edits_be_refused(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(step(edit("a.txt", "one", "two"), match="^Go"), done())
    desk.nvim.keys("oline<Esc>")
    desk.wait_for_lines("one", "line")
    desk.shown()  # the server knows
    desk.neighbour()
    wait_until(lambda: desk.nvim.lua("return #vim.lsp.get_clients({ bufnr = 0 })") == 2)
    desk.agent("ask Go.")
    desk.wait_for_lines("two", "line")


def test_an_edit_lands_in_a_document_that_was_read_again(desk: PluginDesk) -> None:
    path = desk.open("a.txt", "one\ntwo\n")
    desk.start()
    desk.nvim.keys("Omore<Esc>:silent write<CR>")
    wait_until(lambda: not desk.modified())
    path.write_text("zero\none\ntwo\n")
    desk.nvim.command("silent checktime")
    desk.wait_for_lines("zero", "one", "two")
    assert send(desk, 2, 3, "TWO\n") == {"applied": True}


def test_an_edit_lands_in_a_document_with_a_new_name(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\ntwo\n")
    desk.start()
    desk.nvim.keys("Omore<Esc>")
    desk.wait_for_lines("more", "one", "two")
    desk.nvim.command("silent saveas b.txt")
    assert send(desk, 2, 3, "TWO\n") == {"applied": True}


def asked(desk: PluginDesk, method: str, version: int | None = None) -> object:
    """What the plugin answers a server that asks this of the shown document."""
    return desk.nvim.lua(
        "local method, version = ... "
        "local client = vim.lsp.get_clients({ name = 'lsp_agent' })[1] "
        "return client.config.handlers[method](nil, "
        "{ uri = vim.uri_from_bufnr(0), version = version or nil }, { client_id = client.id })",
        method,
        version or False,
    )


def save(desk: PluginDesk, version: int | None = None) -> object:
    return asked(desk, "agent/saveDocument", version)


def test_what_was_typed_since_an_edit_is_not_written_with_it(desk: PluginDesk) -> None:
    path = desk.open("a.txt", "one\n")
    desk.start()
    desk.nvim.keys("Aedited<Esc>")
    desk.wait_for_lines("oneedited")
    version = desk.nvim.lua("return vim.b.changedtick")
    desk.nvim.keys("Atyped<Esc>")
    desk.wait_for_lines("oneeditedtyped")
    assert save(desk, version) == {"saved": False}
    assert path.read_text() == "one\n"
    assert save(desk, desk.nvim.lua("return vim.b.changedtick")) == {"saved": True}
    assert path.read_text() == "oneeditedtyped\n"


def test_a_file_that_has_changed_on_disk_is_not_written_over(desk: PluginDesk) -> None:
    path = desk.open("a.txt", "one\n")
    desk.start()
    desk.nvim.keys("Atyped<Esc>")
    desk.wait_for_lines("onetyped")
    assert save(desk) == {"saved": True}
    assert path.read_text() == "onetyped\n"
    desk.nvim.keys("Amore<Esc>")
    desk.wait_for_lines("onetypedmore")
    path.write_text("from elsewhere\n")
    assert save(desk) == {"saved": False}
    assert path.read_text() == "from elsewhere\n"
    assert desk.modified()


def test_a_buffer_without_unsaved_text_takes_up_what_a_command_wrote(desk: PluginDesk) -> None:
    path = desk.open("a.txt", "one\n")
    command = {"name": "bash", "args": {"command": "echo two >> a.txt"}}
    desk.start(step(command), done(), permissions={"command": "allow"})
    desk.nvim.command("set noautoread")  # with which :checktime would ask
    desk.agent("ask Write.")
    desk.wait_for_lines("one", "two")
    desk.wait_for_chat("Done.")
    assert not desk.modified()
    assert path.read_text() == "one\ntwo\n"


@pytest.mark.parametrize("option", ["autoread", "noautoread"])
def test_a_file_is_read_again_later_as_the_person_has_set_it(desk: PluginDesk, option: str) -> None:
    path = desk.open("a.txt", "one\n")
    desk.start()
    desk.nvim.command(f"set {option}")
    path.write_text("one\ntwo\n")
    assert asked(desk, "agent/reloadDocument") == {"reloaded": True}
    assert desk.nvim.lines() == ["one", "two"]
    assert desk.nvim.lua("return vim.o.autoread") == (option == "autoread")


RELOAD = """
local client = vim.lsp.get_clients({ name = 'lsp_agent' })[1]
_G.taken = nil
coroutine.wrap(function()
  local params = { uri = vim.uri_from_bufnr(0) }
  local handler = client.config.handlers['agent/reloadDocument']
  _G.taken = handler(nil, params, { client_id = client.id })
end)()
return _G.taken
"""


@pytest.mark.parametrize(("keys", "mode"), [("2GV", "V"), ("2Gd", "no")])
def test_a_file_is_read_again_once_a_selection_or_an_operator_has_ended(
    desk: PluginDesk, keys: str, mode: str
) -> None:
    path = desk.open("a.txt", FOUR)
    desk.start()
    desk.nvim.keys(keys)
    wait_until(lambda: desk.nvim.request("nvim_get_mode")["mode"] == mode)
    path.write_text("zero\n" + FOUR)
    assert desk.nvim.lua(RELOAD) is None
    assert desk.nvim.lines() == FOUR.split()
    desk.nvim.keys("<Esc>")
    assert wait_until(lambda: desk.nvim.lua(ANSWER)) == {"reloaded": True}
    assert desk.nvim.lines() == ["zero", *FOUR.split()]


def test_a_file_is_not_read_again_over_what_was_done_meanwhile(desk: PluginDesk) -> None:
    path = desk.open("a.txt", FOUR)
    desk.start()
    desk.nvim.keys("2GV")
    wait_until(lambda: desk.nvim.mode() == "V")
    path.write_text("zero\n" + FOUR)
    assert desk.nvim.lua(RELOAD) is None
    desk.nvim.keys("d")
    assert wait_until(lambda: desk.nvim.lua(ANSWER)) == {"reloaded": False}
    assert desk.nvim.lines() == ["top", "two", "three"]


PROBLEM = """
vim.diagnostic.set(vim.api.nvim_create_namespace('linter'), 0, { {
  lnum = 0, col = 4, end_lnum = 0, end_col = 6, message = 'no such name', source = 'linter',
  severity = vim.diagnostic.severity.ERROR,
} })
"""


def test_the_agent_is_told_what_other_servers_say_of_its_edit(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    waits = step(bash("until test -e go; do sleep 0.05; done"))
    edits = step(edit("a.txt", "one", "äö xy"))
    desk.start(edits, waits, step(read("a.txt")), done(), permissions={"command": "allow"})
    desk.nvim.command(f"autocmd TextChanged * lua {' '.join(PROBLEM.split())}")
    desk.agent("ask Go.")
    wait_until(lambda: desk.nvim.lua("return #vim.diagnostic.get(0)"))
    (desk.folder / "go").touch()  # the edit's own result does not wait for long
    desk.wait_for_chat("Done.")
    told = [outcome.text.count("no such name") for outcome in desk.outcomes()]
    assert sorted(told) == [0, 0, 1]
