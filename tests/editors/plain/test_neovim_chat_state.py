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


def test_the_hint_and_the_colours_of_a_turn_are_on_the_screen(desk: Desk) -> None:
    (desk.folder / "a.py").write_text("one\n")
    desk.open("x.chat.md", "## You\n\nFix it.\n")
    waits = bash("until test -e go; do sleep 0.05; done")
    desk.start(step(waits), step(edit("a.py", "one", "two")), done(), permissions=ALLOWED)
    desk.nvim.lua("vim.o.columns = 80; vim.o.wrap = false; vim.lsp.inlay_hint.enable(true)")
    desk.execute("lspAgent.sendChat", uri=desk.uri())
    marked = r"the agent is at work: t-\w+ --> step 1, [1-9]\d* s"
    wait_until(lambda: re.search(marked, desk.nvim.screen()))
    (desk.folder / "go").touch()
    wait_until(lambda: "Done." in desk.nvim.lines())
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
