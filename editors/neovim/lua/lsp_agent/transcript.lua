--- The buffer that a session's conversation is written to: only ever appended to, but for the
--- bodies of tool calls, which grow where they are.

local M = {}

--- States of tool calls.
M.RUNNING, M.DONE, M.FAILED = "… ", "✓ ", "✗ "

local api = vim.api
local folds = api.nvim_create_namespace("lsp_agent.folds")
local marks = api.nvim_create_namespace("lsp_agent.transcript")

---@class lsp_agent.Transcript
---@field bufnr integer
---@field private streaming boolean whether the last line is one of text that goes on
---@field private blocks table<string, lsp_agent.Block>
local Transcript = {}
Transcript.__index = Transcript

---@class lsp_agent.Block
---@field folds boolean
---@field state? string stands before the header
---@field highlight? string
---@field mark? integer

---@param name string
---@return lsp_agent.Transcript
function M.new(name)
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(bufnr, name)
  vim.bo[bufnr].bufhidden = "hide"
  vim.bo[bufnr].filetype = "lsp_agent_chat"
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].undolevels = -1
  if not pcall(vim.treesitter.start, bufnr, "markdown") then
    vim.bo[bufnr].syntax = "markdown"
  end
  return setmetatable({ bufnr = bufnr, streaming = false, blocks = {} }, Transcript)
end

-- Changes the text; windows whose cursor is at its end stay there, others are left alone.
---@param change fun()
function Transcript:write(change)
  local bufnr = self.bufnr
  if not api.nvim_buf_is_valid(bufnr) then
    return
  end
  local last = api.nvim_buf_line_count(bufnr)
  local following = vim.tbl_filter(function(window)
    return api.nvim_win_get_cursor(window)[1] >= last
  end, vim.fn.win_findbuf(bufnr))
  vim.bo[bufnr].modifiable = true
  change()
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].modified = false
  for _, window in ipairs(following) do
    api.nvim_win_set_cursor(window, { api.nvim_buf_line_count(bufnr), 0 })
  end
end

--- Text that goes on where the last ended.
---@param text string
function Transcript:stream(text)
  self:write(function()
    if not self.streaming then
      self:paragraph()
      self.streaming = true
      text = text:gsub("^\n+", "")
    end
    local row = api.nvim_buf_line_count(self.bufnr) - 1
    local column = #api.nvim_buf_get_lines(self.bufnr, row, row + 1, true)[1]
    api.nvim_buf_set_text(self.bufnr, row, column, row, column, vim.split(text, "\n"))
  end)
end

-- Makes the last line an empty one, with an empty one above it if there is anything.
---@private
function Transcript:paragraph()
  self.streaming = false
  local count = api.nvim_buf_line_count(self.bufnr)
  local tail = api.nvim_buf_get_lines(self.bufnr, math.max(count - 2, 0), -1, true)
  if tail[#tail] ~= "" then
    api.nvim_buf_set_lines(self.bufnr, count, count, true, { "", "" })
  elseif count > 1 and tail[1] ~= "" then
    api.nvim_buf_set_lines(self.bufnr, count, count, true, { "" })
  end
end

--- Lines of their own.
---@param lines string[]
---@param highlight? string
function Transcript:append(lines, highlight)
  self:write(function()
    self:paragraph()
    local row = api.nvim_buf_line_count(self.bufnr) - 1
    api.nvim_buf_set_lines(self.bufnr, row, row, true, lines)
    if highlight then
      local options = { end_row = row + #lines, hl_group = highlight, hl_eol = true }
      api.nvim_buf_set_extmark(self.bufnr, marks, row, 0, options)
    end
  end)
end

-- `grows` while lines are put in at its end, so that the folds are computed with them.
---@private
---@param name string
---@param row integer
---@param end_row integer exclusive
---@param grows boolean
function Transcript:mark(name, row, end_row, grows)
  local block = self.blocks[name]
  block.mark = api.nvim_buf_set_extmark(self.bufnr, block.folds and folds or marks, row, 0, {
    id = block.mark,
    end_row = end_row,
    right_gravity = false,
    end_right_gravity = grows,
    virt_text = block.state and { { block.state, block.highlight } },
    virt_text_pos = block.state and "inline",
  })
end

--- A line with a body, such as a tool call with its result.
---@param name string
---@param header string one line
---@param block lsp_agent.Block
function Transcript:block(name, header, block)
  self.blocks[name] = block
  self:write(function()
    self:paragraph()
    local row = api.nvim_buf_line_count(self.bufnr) - 1
    api.nvim_buf_set_lines(self.bufnr, row, row, true, { "" })
    self:mark(name, row, row + 1, false)
    api.nvim_buf_set_text(self.bufnr, row, 0, row, 0, { header })
    local shown = { end_col = #header, hl_group = "LspAgentTool" }
    api.nvim_buf_set_extmark(self.bufnr, marks, row, 0, shown)
  end)
end

--- A block's state and its body, each if it is given.
---@param name string
---@param change { state?: string, highlight?: string, body?: string[] }
function Transcript:update(name, change)
  local block = self.blocks[name]
  local at = block
      and api.nvim_buf_get_extmark_by_id(
        self.bufnr,
        block.folds and folds or marks,
        block.mark,
        { details = true }
      )
    or {}
  local row = at[1]
  if not row then
    return
  end
  block.state = change.state or block.state
  block.highlight = change.highlight or block.highlight
  local end_row = at[3].end_row
  self:write(function()
    if change.body then
      self:mark(name, row, end_row, true)
      api.nvim_buf_set_lines(self.bufnr, row + 1, end_row, true, change.body)
      end_row = row + 1 + #change.body
    end
    self:mark(name, row, end_row, false)
  end)
end

---@param bufnr integer
---@param line integer 1-based
---@return string level as 'foldexpr' has it
function M.fold_level(bufnr, line)
  local at = { line - 1, 0 }
  local options = { details = true, overlap = true }
  for _, mark in ipairs(api.nvim_buf_get_extmarks(bufnr, folds, at, at, options)) do
    if mark[2] == line - 1 then
      return ">1"
    elseif mark[4].end_row >= line then
      return "1"
    end
  end
  return "0"
end

--- 'foldtext': the header, with its state before it; while the call runs, its newest output.
---@return [string, string][]
function M.fold_text()
  local first = vim.v.foldstart
  local at = { first - 1, 0 }
  local header = { vim.fn.getline(first), "LspAgentTool" }
  local mark = api.nvim_buf_get_extmarks(0, folds, at, at, { details = true })[1]
  local state = mark and mark[4].virt_text and mark[4].virt_text[1]
  if not state then
    return { header }
  end
  local newest = vim.trim(vim.fn.getline(vim.v.foldend))
  -- Before there is output the body is the whole of what the header is the beginning of.
  local says_more = not vim.startswith(newest, (header[1]:gsub("%s*…$", "")))
  if state[1] == M.RUNNING and says_more then
    local half = math.floor(api.nvim_win_get_width(0) / 2)
    newest = vim.fn.strcharpart(newest, 0, half)
    header[1] = vim.fn.strcharpart(header[1], 0, half - 4)
    return { state, header, { "  " .. newest, "LspAgentState" } }
  end
  return { state, header }
end

return M
