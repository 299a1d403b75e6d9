"""How the agent's changes look: removed lines in the text's own colours, the words that differ."""

import pytest
from plugin_desk import PluginDesk
from support.neovim import wait_until
from support.neovim_desk import done, edit, step

pytestmark = pytest.mark.neovim

LUA = 'local one = 1\nlocal name = "old"\nreturn name\n'

# The lines beside the text, each as its pieces {text, groups}, without the padding.
BESIDE = """
local space = vim.api.nvim_get_namespaces()['lsp_agent.review']
local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
local lines = {}
for _, mark in ipairs(marks) do
  for _, chunks in ipairs(mark[4].virt_lines or {}) do
    table.insert(lines, vim.tbl_map(function(chunk)
      local groups = type(chunk[2]) == 'table' and chunk[2] or { chunk[2] }
      return { chunk[1], table.concat(groups, ' ') }
    end, vim.list_slice(chunks, 1, #chunks - 1)))
  end
end
return lines
"""

# The words that are marked in the text.
WORDS = """
local space = vim.api.nvim_get_namespaces()['lsp_agent.review.looks']
local words = {}
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
  if vim.endswith(mark[4].hl_group, 'Word') then
    local row, column = mark[2], mark[3]
    local text = vim.api.nvim_buf_get_text(0, row, column, row, mark[4].end_col, {})[1]
    table.insert(words, { text, mark[4].hl_group })
  end
end
return words
"""

DIFFERS = """
local old, new = ...
local function texts(lines, words)
  return vim.tbl_map(function(word)
    return lines[word.row + 1]:sub(word.first + 1, word.last)
  end, words)
end
local of_old, of_new = require('lsp_agent.word_diff')(old, new)
return { texts(old, of_old), texts(new, of_new) }
"""


def change(
    desk: PluginDesk, name: str, text: str, *edits: tuple[str, str], **options: object
) -> None:
    desk.open(name, text)
    desk.start(step(*[edit(name, old, new) for old, new in edits]), done(), **options)
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")


def groups_of(desk: PluginDesk, text: str) -> str:
    """Of the piece of a line beside the text; "" where there is none."""
    pieces = [piece for line in desk.nvim.lua(BESIDE) for piece in line]
    return next((groups for piece, groups in pieces if piece == text), "")


def test_the_words_that_differ(desk: PluginDesk) -> None:
    def differ(old: list[str], new: list[str]) -> list[list[str]]:
        return desk.nvim.lua(DIFFERS, old, new)

    assert differ(["def area(width):"], ["def surface(width):"]) == [["area"], ["surface"]]
    assert differ(["f(a) + 1"], ["f(a, b) + 1", "g"]) == [[], [", b"]]
    assert differ(["the quick brown fox"], ["the slow red fox"]) == [["quick brown"], ["slow red"]]
    assert differ(["Grüße, Welt"], ["Grüße, Erde"]) == [["Welt"], ["Erde"]]
    assert differ(["a = 1", "b = 2"], ["a = 1", "b = 3"]) == [["2"], ["3"]]


def test_a_line_beside_a_changed_one_has_no_marks_of_its_own(desk: PluginDesk) -> None:
    for old, new, words in (
        (["f(a)"], ["f(a, b)", "g(a)"], [", b"]),
        (["f(a)"], ["f(a, b)", "g(a)", "h(a)"], [", b"]),
        (["  return g(a)"], ["  return x", "  return g(a, b)"], [", b"]),
    ):
        assert desk.nvim.lua(DIFFERS, old, new) == [[], words]
        assert desk.nvim.lua(DIFFERS, new, old) == [words, []]


def test_no_word_is_marked_where_all_of_a_line_is_another(desk: PluginDesk) -> None:
    for old, new in (["one"], ["other"]), ([], ["new"]), (["  indented"], ["indented"]):
        assert desk.nvim.lua(DIFFERS, old, new) == [[], []]
    too_long = "same " * 10000
    assert desk.nvim.lua(DIFFERS, [f"{too_long}one"], [f"{too_long}two"]) == [[], []]


def test_removed_lines_have_the_colours_of_the_tree(desk: PluginDesk) -> None:
    desk.nvim.command("autocmd FileType lua lua vim.treesitter.start()")
    change(desk, "a.lua", LUA, ('local name = "old"\n', 'local title = "new"\n'))
    wait_until(lambda: groups_of(desk, "local") == "LspAgentOld @keyword.lua")
    assert groups_of(desk, "old").split()[:2] == ["LspAgentOld", "@string.lua"]


def test_removed_lines_have_the_colours_of_the_syntax_file(desk: PluginDesk) -> None:
    desk.nvim.command("syntax on")
    change(desk, "a.c", "int one;\nint two;\nint three;\n", ("int two;\n", "long two;\n"))
    wait_until(lambda: groups_of(desk, "int") == "LspAgentOld Type LspAgentOldWord")


def test_a_removed_line_has_the_colours_that_what_is_above_it_gives(desk: PluginDesk) -> None:
    desk.nvim.command("syntax on")
    change(desk, "a.c", "/* one\n   int two\n   three */\n", ("   int two\n", "   int 2\n"))
    wait_until(lambda: groups_of(desk, "two") == "LspAgentOld Comment LspAgentOldWord")


def test_changed_words_are_marked_in_both_texts(desk: PluginDesk) -> None:
    change(desk, "a.txt", "the quick fox\n", ("quick", "slow"))
    wait_until(lambda: desk.nvim.lua(WORDS) == [["slow", "LspAgentNewWord"]])
    assert groups_of(desk, "quick") == "LspAgentOld LspAgentOldWord"
    desk.nvim.keys("gg0ione <Esc>")  # typed in the line: what differs is found anew
    wait_until(lambda: [word for word, _ in desk.nvim.lua(WORDS)] == ["one", "slow"])


def test_changed_words_of_a_proposal_are_marked_in_both_texts(desk: PluginDesk) -> None:
    change(desk, "a.txt", "the quick fox\n", ("quick", "slow"), edits={"review": "before"})
    wait_until(lambda: desk.nvim.lua(WORDS) == [["quick", "LspAgentOldWord"]])
    assert groups_of(desk, "slow") == "LspAgentNew LspAgentNewWord"


def test_tabs_of_removed_lines_are_as_wide_as_in_the_text(desk: PluginDesk) -> None:
    desk.nvim.command("set tabstop=4")
    change(desk, "a.txt", "a\tb\tone\nkept\n", ("a\tb\tone\n", ""))
    wait_until(lambda: "a   b   one" in desk.nvim.screen())


def test_of_many_removed_lines_the_first_are_shown_and_the_others_counted(desk: PluginDesk) -> None:
    many = "".join(f"line {number}\n" for number in range(300))
    change(desk, "a.txt", f"kept\n{many}", (many, ""))
    shown = wait_until(lambda: desk.nvim.lua(BESIDE))
    assert len(shown) == 201
    assert shown[-1][0][0] == "… 100 more lines (:Agent diff)"


def test_the_persons_own_colours_of_changes_stay(desk: PluginDesk) -> None:
    get = "return vim.api.nvim_get_hl(0, { name = ... })"
    assert desk.nvim.lua(get, "LspAgentOld")["bg"] == 0x590008
    desk.nvim.command("highlight LspAgentNew guibg=#123456")
    desk.nvim.command("set background=light")
    assert desk.nvim.lua(get, "LspAgentNew")["bg"] == 0x123456
    assert desk.nvim.lua(get, "LspAgentOld")["bg"] == 0xFFC0B9
