--- Lines that are shown and are not in the text: their pieces, each with its colours.

local M = {}

--- More lines are not shown, but counted.
M.MOST = 200

---@alias lsp_agent.Chunk [string, string|string[]]

-- Tabs are as wide as they would be in the text, which those of virtual lines are not.
---@param text string
---@param column integer cells, at which it begins
---@param tabstop integer
---@return string
---@return integer column behind it
local function expanded(text, column, tabstop)
  local parts = {}
  for part, tab in text:gmatch("([^\t]*)(\t?)") do
    column = column + vim.fn.strdisplaywidth(part)
    local blanks = tab == "\t" and tabstop - column % tabstop or 0
    column = column + blanks
    table.insert(parts, part .. (" "):rep(blanks))
  end
  return table.concat(parts), column
end

-- The groups of a line between two columns, the last one's colours on top.
---@param colours lsp_agent.Colour[]
---@param first integer
---@param last integer
---@param base string
---@return string[]
local function groups_at(colours, first, last, base)
  local groups = { base }
  for _, colour in ipairs(colours) do
    if colour.first <= first and colour.last >= last then
      table.insert(groups, colour.group)
    end
  end
  return groups
end

---@param line string
---@param colours lsp_agent.Colour[]
---@param base string
---@param tabstop integer
---@return lsp_agent.Chunk[]
local function chunks_of(line, colours, base, tabstop)
  local cuts = { [0] = true, [#line] = true }
  for _, colour in ipairs(colours) do
    cuts[math.min(colour.first, #line)], cuts[math.min(colour.last, #line)] = true, true
  end
  local columns = vim.tbl_keys(cuts)
  table.sort(columns)
  local chunks, column = {}, 0
  for index = 2, #columns do
    local first, last, text = columns[index - 1], columns[index], nil
    text, column = expanded(line:sub(first + 1, last), column, tabstop)
    table.insert(chunks, { text, groups_at(colours, first, last, base) })
  end
  return chunks
end

--- What 'virt_lines' of an extmark takes.
---@param lines string[]
---@param colours table<integer, lsp_agent.Colour[]> by row, from 0
---@param base string the group of all of it, to the window's edge
---@param tabstop integer
---@return lsp_agent.Chunk[][]
function M.chunks(lines, colours, base, tabstop)
  local shown = {}
  local edge = { (" "):rep(vim.o.columns), base }
  for row = 1, math.min(#lines, M.MOST) do
    local chunks = chunks_of(lines[row], colours[row - 1] or {}, base, tabstop)
    table.insert(chunks, edge)
    table.insert(shown, chunks)
  end
  if #lines > M.MOST then
    local text = ("… %d more lines (:Agent diff)"):format(#lines - M.MOST)
    table.insert(shown, { { text, { base, "LspAgentState" } }, edge })
  end
  return shown
end

return M
