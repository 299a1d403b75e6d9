--- The buffer that a session's conversation is written to: only ever appended to, but for the
--- bodies of tool calls, which grow where they are.

local M = {}

local api = vim.api
local blocks = api.nvim_create_namespace("lsp_agent.blocks")
local marks = api.nvim_create_namespace("lsp_agent.transcript")

---@class lsp_agent.Transcript
---@field bufnr integer
---@field private open_blocks table<string, integer> marks of blocks by name
---@field private states table<string, [string, string][]>
local Transcript = {}
Transcript.__index = Transcript

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
  return setmetatable({ bufnr = bufnr, open_blocks = {}, states = {} }, Transcript)
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

---@private
function Transcript:last_line()
  return api.nvim_buf_get_lines(self.bufnr, -2, -1, true)[1]
end

--- Text that goes on where the last ended.
---@param text string
function Transcript:stream(text)
  self:write(function()
    local row = api.nvim_buf_line_count(self.bufnr) - 1
    local column = #self:last_line()
    api.nvim_buf_set_text(self.bufnr, row, column, row, column, vim.split(text, "\n"))
  end)
end

-- Makes the last line an empty one, with an empty one above it if there is anything.
---@private
function Transcript:paragraph()
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

---@private
function Transcript:mark(name, row, end_row, id)
  self.open_blocks[name] = api.nvim_buf_set_extmark(self.bufnr, blocks, row, 0, {
    id = id,
    end_row = end_row,
    right_gravity = false,
    end_right_gravity = false,
    virt_text = self.states[name],
    virt_text_pos = "eol",
  })
end

--- A line with a body that is folded away: a tool call and its result.
---@param name string
---@param header string one line
---@param state string
---@param highlight? string
function Transcript:block(name, header, state, highlight)
  self:write(function()
    self:paragraph()
    local row = api.nvim_buf_line_count(self.bufnr) - 1
    api.nvim_buf_set_lines(self.bufnr, row, row, true, { header })
    self.states[name] = { { state, highlight or "LspAgentState" } }
    self:mark(name, row, row + 1)
    api.nvim_buf_set_extmark(self.bufnr, marks, row, 0, {
      end_col = #header,
      hl_group = "LspAgentTool",
    })
  end)
end

--- What stands beside a block's header, and its body, each if it is given.
---@param name string
---@param change { state?: string, highlight?: string, header?: string, body?: string[] }
function Transcript:update(name, change)
  local id = self.open_blocks[name]
  local row, _, details = unpack(
    id and api.nvim_buf_get_extmark_by_id(self.bufnr, blocks, id, { details = true }) or {}
  )
  if not row then
    return
  end
  if change.state then
    self.states[name] = { { change.state, change.highlight or "LspAgentState" } }
  end
  local end_row = details.end_row
  self:write(function()
    if change.header then
      api.nvim_buf_set_lines(self.bufnr, row, row + 1, true, { change.header })
      api.nvim_buf_set_extmark(self.bufnr, marks, row, 0, {
        end_col = #change.header,
        hl_group = "LspAgentTool",
      })
    end
    if change.body then
      api.nvim_buf_set_lines(self.bufnr, row + 1, end_row, true, change.body)
      end_row = row + 1 + #change.body
    end
    self:mark(name, row, end_row, id)
  end)
end

---@param name string
---@return boolean
function Transcript:has(name)
  return self.open_blocks[name] ~= nil
end

---@param bufnr integer
---@param line integer 1-based
---@return string level as 'foldexpr' has it
function M.fold_level(bufnr, line)
  local at = { line - 1, 0 }
  local found =
    api.nvim_buf_get_extmarks(bufnr, blocks, at, at, { details = true, overlap = true })
  for _, mark in ipairs(found) do
    if mark[2] == line - 1 then
      return mark[4].end_row > line and ">1" or "0"
    elseif mark[4].end_row >= line then
      return "1"
    end
  end
  return "0"
end

return M
