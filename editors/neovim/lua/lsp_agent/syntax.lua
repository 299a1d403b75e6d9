--- The colours that a text would have in a buffer, for texts that are in none: by the buffer's
--- tree-sitter parser, else by its syntax file. For work in pieces: it yields.

local M = {}

local api = vim.api

-- Longer texts stay plain, in bytes; of a line no more is looked at, by syntax files.
local LONGEST = 100000
local LONGEST_LINE = 200

-- Captures that are no colours.
local PLAIN = { spell = true, nospell = true, conceal = true, none = true }

---@class lsp_agent.Colour
---@field first integer column in bytes
---@field last integer exclusive
---@field group string

-- Those of some rows, the outer ones first.
---@alias lsp_agent.Colours table<integer, lsp_agent.Colour[]> by row, from 0

---@param colours lsp_agent.Colours
---@param lines string[]
---@param range integer[] start row and column, end row and column
---@param group string
local function add(colours, lines, range, group)
  for row = math.max(range[1], 0), math.min(range[3], #lines - 1) do
    local first = row == range[1] and range[2] or 0
    local last = row == range[3] and range[4] or #lines[row + 1]
    if last > first then
      colours[row] = colours[row] or {}
      table.insert(colours[row], { first = first, last = last, group = group })
    end
  end
end

---@param language string
---@param text string
---@param from integer the row of the text at which the lines begin
---@param lines string[]
---@return lsp_agent.Colours
local function by_tree(language, text, from, lines)
  local colours = {}
  local parser = vim.treesitter.get_string_parser(text, language)
  parser:parse(true)
  parser:for_each_tree(function(tree, of)
    local query = vim.treesitter.query.get(of:lang(), "highlights")
    if not query then
      return
    end
    for id, node, metadata in query:iter_captures(tree:root(), text, from, from + #lines) do
      local name = query.captures[id]
      if not PLAIN[name] and not vim.startswith(name, "_") then
        local at = vim.treesitter.get_range(node, text, metadata[id])
        local range = { at[1] - from, at[2], at[4] - from, at[5] }
        add(colours, lines, range, ("@%s.%s"):format(name, of:lang()))
      end
    end
  end)
  return colours
end

---@type integer?
local scratch

-- A buffer that is never shown, with these lines and that syntax.
---@param syntax string
---@param lines string[]
---@return integer
local function scratch_with(syntax, lines)
  if not scratch or not api.nvim_buf_is_loaded(scratch) then
    scratch = api.nvim_create_buf(false, true)
    vim.bo[scratch].undolevels = -1
  end
  if vim.bo[scratch].syntax ~= syntax then
    vim.bo[scratch].syntax = syntax
  end
  api.nvim_buf_set_lines(scratch, 0, -1, true, lines)
  return scratch
end

-- The runs of one syntax group in a line of the current buffer.
---@param row integer from 1
---@param length integer
---@return lsp_agent.Colour[]
local function of_line(row, length)
  local found, last_id = {}, 0
  for column = 1, math.min(length, LONGEST_LINE) do
    local id = vim.fn.synIDtrans(vim.fn.synID(row, column, 1))
    if id ~= 0 and id == last_id then
      found[#found].last = column
    elseif id ~= 0 then
      local group = vim.fn.synIDattr(id, "name")
      table.insert(found, { first = column - 1, last = column, group = group })
    end
    last_id = id
  end
  return found
end

---@async
---@param syntax string
---@param all string[] the lines with what is around them
---@param from integer
---@param lines string[]
---@return lsp_agent.Colours
local function by_syntax_file(syntax, all, from, lines)
  local colours = {}
  local bufnr = scratch_with(syntax, all)
  for row, line in ipairs(lines) do
    api.nvim_buf_call(bufnr, function()
      colours[row - 1] = of_line(from + row, #line)
    end)
    coroutine.yield()
  end
  return colours
end

--- Of lines as they would be between others.
---@async
---@param bufnr integer whose colours they are to have
---@param above string[]
---@param lines string[]
---@param below string[]
---@return lsp_agent.Colours
function M.colours(bufnr, above, lines, below)
  local all = vim.iter({ above, lines, below }):flatten():totable()
  local text = table.concat(all, "\n") .. "\n"
  local highlighter = vim.treesitter.highlighter.active[bufnr]
  if #text > LONGEST then
    return {}
  elseif highlighter then
    local language = highlighter.tree:lang()
    local fine, found = pcall(by_tree, language, text, #above, lines)
    return fine and found or {}
  elseif vim.bo[bufnr].syntax ~= "" then
    return by_syntax_file(vim.bo[bufnr].syntax, all, #above, lines)
  end
  return {}
end

return M
