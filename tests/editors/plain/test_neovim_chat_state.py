"""A conversation's state and colours as a Neovim without the plugin shows them."""

import re

import pytest
from support.neovim import wait_until
from support.neovim_desk import Desk, bash, done, edit, step

pytestmark = pytest.mark.neovim

ALLOWED = {"command": "allow"}
#: The group that colours each token, by its line and text, as it is drawn.
TOKENS = """
local found = {}
for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
  for column = 0, #line - 1 do
    for _, mark in ipairs(vim.inspect_pos(0, row - 1, column).semantic_tokens) do
      local at = mark.opts
      if mark.col == column and at.hl_group:match('^@lsp%.type%.%a+%.') then
        table.insert(found, { line:sub(column + 1, at.end_col), at.hl_group })
      end
    end
  end
end
return found
"""
LABELS = """
return vim.tbl_map(function(hint) return hint.inlay_hint.label end, vim.lsp.inlay_hint.get())
"""


def test_the_hint_and_the_colours_of_a_turn_are_on_the_screen(desk: Desk) -> None:
    (desk.folder / "a.py").write_text("one\n")
    desk.open("x.chat.md", "## You\n\nFix it.\n")
    waits = bash("until test -e go; do sleep 0.05; done")
    desk.start(step(waits), step(edit("a.py", "one", "two")), done(), permissions=ALLOWED)
    desk.nvim.lua("vim.o.columns = 80; vim.o.wrap = false; vim.lsp.inlay_hint.enable(true)")
    desk.execute("lspAgent.sendChat", uri=desk.uri())
    # 0.10 draws no hint of a line again until the text changes, so that its seconds stand still.
    seconds = r"\d+" if desk.version == "0.10" else r"[1-9]\d*"
    marked = rf"the agent is at work: t-\w+ --> step 1, {seconds} s"
    wait_until(lambda: re.search(marked, desk.nvim.screen()))
    (desk.folder / "go").touch()
    took = re.compile(r"\d+ s, .*tokens")
    wait_until(lambda: any(took.fullmatch(label) for label in desk.nvim.lua(LABELS)))
    wait_until(lambda: "Done." in desk.nvim.lines())
    if desk.version == "0.10":
        desk.nvim.keys("Gonext<Esc>")
    desk.nvim.keys("gg")  # what is not in the window is not coloured
    wait_until(lambda: re.search(r"^## Agent \d+ s", desk.nvim.screen(), re.MULTILINE))
    wait_until(lambda: "a.py:1 +1 −1" in desk.nvim.screen())
    coloured = {
        "## You": "keyword",
        "## Agent": "namespace",
        "edit": "function",
        "a.py:1": "property",
    }
    groups = {text: f"@lsp.type.{kind}.markdown" for text, kind in coloured.items()}
    wait_until(lambda: groups.items() <= dict(desk.nvim.lua(TOKENS)).items())
