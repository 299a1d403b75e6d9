--- How a tool call is shown in one row.

local M = {}

local api = vim.api
local blocks = api.nvim_create_namespace("lsp_agent.blocks")

--- States, which stand before it.
M.RUNNING, M.DONE, M.FAILED = "… ", "✓ ", "✗ "

--- A line without its middle, where it is too long: its beginning says what it is, its end is what
--- paths differ in.
---@param text string
---@param width integer in cells
---@return string
function M.shortened(text, width)
  if vim.fn.strdisplaywidth(text) <= width then
    return text
  end
  local half = math.max(math.floor((width - 1) / 2), 1)
  local count = vim.fn.strchars(text)
  return vim.fn.strcharpart(text, 0, half) .. "…" .. vim.fn.strcharpart(text, count - half, half)
end

-- The last line that says something: of how a command ended the state tells already.
---@param first integer
---@param last integer
---@return string
local function last_words(first, last)
  for number = last, first + 1, -1 do
    local line = vim.trim(vim.fn.getline(number))
    if line ~= "" and not vim.startswith(line, "[exit ") then
      return line
    end
  end
  return ""
end

-- Whose last line says what came of them.
local SAYS = { [M.RUNNING] = "LspAgentState", [M.FAILED] = "LspAgentFailed" }

--- 'foldtext': the header, with its state before it; while the call runs, and where it failed, the
--- last line of its output.
---@return [string, string][]
function M.fold_text()
  local first = vim.v.foldstart
  local at = { first - 1, 0 }
  local header = vim.fn.getline(first)
  local mark = api.nvim_buf_get_extmarks(0, blocks, at, at, { details = true })[1]
  local state = mark and mark[4].virt_text and mark[4].virt_text[1]
  local newest = last_words(first, vim.v.foldend)
  local parts = state and { state } or {}
  local room = api.nvim_win_get_width(0) - (state and 2 or 0)
  -- Before there is output the body is the whole of what the header is a part of.
  local says_more = not vim.startswith(newest, (header:gsub("….*$", "")))
  local colour = state and SAYS[state[1]]
  if colour and says_more then
    local said = "  " .. M.shortened(newest, math.floor(room / 2) - 2)
    local left = room - vim.fn.strdisplaywidth(said)
    table.insert(parts, { M.shortened(header, left), "LspAgentTool" })
    table.insert(parts, { said, colour })
  else
    table.insert(parts, { M.shortened(header, room), "LspAgentTool" })
  end
  return parts
end

return M
