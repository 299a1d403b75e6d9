--- Hunks in the grammar of Neovim's keys: a text object, operators, and what `.` repeats.

local marks = require("lsp_agent.marks")

local M = {}

local api = vim.api

---@param name string a function of this module
local function set_operator(name)
  vim.go.operatorfunc = ("v:lua.require'lsp_agent.operators'.%s"):format(name)
end

---@param verb "keep"|"undo"
local function over_lines(verb)
  local first, last = vim.fn.line("'["), vim.fn.line("']")
  require("lsp_agent.review").decide(verb, { first, last })
end

function M.keep_here()
  require("lsp_agent.review").decide("keep")
end

function M.undo_here()
  require("lsp_agent.review").decide("undo")
end

function M.keep_lines()
  over_lines("keep")
end

function M.undo_lines()
  over_lines("undo")
end

--- The keys that decide on the change under the cursor, which `.` does then with another one.
---@param verb "keep"|"undo"
---@return string keys for a mapping with `expr`
function M.here(verb)
  set_operator(verb .. "_here")
  return "g@l"
end

--- The same for the lines of a motion or a selection.
---@param verb "keep"|"undo"
---@return string keys for a mapping with `expr`
function M.lines(verb)
  set_operator(verb .. "_lines")
  return "g@"
end

--- The keys that select the lines of the hunk under the cursor; where none are, that end an operator.
---@return string keys for a mapping with `expr`
function M.select()
  local bufnr = api.nvim_get_current_buf()
  local hunk = marks.hunks_at(bufnr, api.nvim_win_get_cursor(0)[1] - 1)[1]
  local is_there = hunk and (hunk.proposed and hunk.old or hunk.new) ~= ""
  local is_visual = api.nvim_get_mode().mode:find("^[vV\22]")
  if not hunk or not is_there then
    return is_visual and "" or "<Esc>"
  end
  local first, last = marks.rows(bufnr, hunk)
  local keys = ("%dGV%dG"):format(first + 1, last + 1)
  return is_visual and "<Esc>" .. keys or ("<Cmd>normal! %s<CR>"):format(keys)
end

return M
