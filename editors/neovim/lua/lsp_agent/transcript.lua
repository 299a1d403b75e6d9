--- The buffer that a session's conversation is written to: only ever appended to, but for tool
--- calls and what the agent is saying, which grow where they are, and plans, which change where they
--- are.

local extent = require("lsp_agent.extent")
local follow = require("lsp_agent.follow")
local markdown = require("lsp_agent.markdown")
local own_buffer = require("lsp_agent.own_buffer")

local M = {}

local api = vim.api
local blocks = api.nvim_create_namespace("lsp_agent.blocks")
local marks = api.nvim_create_namespace("lsp_agent.transcript")

---@class lsp_agent.Transcript
---@field bufnr integer the one that it had last: see `buffer()`
---@field private name string
---@field private kept? table what the buffer had, when it went
---@field private streaming boolean whether the newest text goes on
---@field private blocks table<string, lsp_agent.Block>
---@field private newest_call? lsp_agent.Block
---@field private tail string[] lines that stay the last
---@field private tail_mark? integer
local Transcript = {}
Transcript.__index = Transcript

---@class lsp_agent.Block
---@field folds boolean
---@field state? string stands before the header
---@field highlight? string
---@field mark? integer
---@field header_mark? integer

-- The block of the newest text that the agent has said.
local TEXT = "the text"

-- An empty buffer for it.
---@param name string
---@return integer
local function make_buffer(name)
  local bufnr = own_buffer(name, "lsp_agent_chat")
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].undolevels = -1
  return bufnr
end

---@param name string
---@return lsp_agent.Transcript
function M.new(name)
  local self = { name = name, streaming = false, blocks = {}, tail = {} }
  local transcript = setmetatable(self, Transcript)
  transcript:use(make_buffer(name))
  return transcript
end

---@private
---@param bufnr integer
function Transcript:use(bufnr)
  self.bufnr = bufnr
  markdown(bufnr)
  api.nvim_create_autocmd("BufUnload", {
    buffer = bufnr,
    callback = function()
      self:keep()
    end,
  })
  api.nvim_create_autocmd("BufReadCmd", { -- by `:edit`
    buffer = bufnr,
    callback = function()
      self:fill()
      markdown(bufnr)
      vim.tbl_map(function(window)
        self:fold(window)
      end, vim.fn.win_findbuf(bufnr))
    end,
  })
end

-- Remembers all of the text, with what is marked in it, since its buffer goes.
---@private
function Transcript:keep()
  local kept = { lines = api.nvim_buf_get_lines(self.bufnr, 0, -1, false), rows = {}, colours = {} }
  for name, block in pairs(self.blocks) do
    local row, end_row = self:rows(block)
    kept.rows[name] = row and { row, end_row }
  end
  for _, mark in ipairs(api.nvim_buf_get_extmarks(self.bufnr, marks, 0, -1, { details = true })) do
    table.insert(kept.colours, mark)
  end
  self.kept = kept
end

--- Its buffer: a new one with the same text if the person has removed it.
---@return integer
function Transcript:buffer()
  if self.kept and not api.nvim_buf_is_loaded(self.bufnr) then
    self:use(make_buffer(self.name))
    self:fill()
  end
  return self.bufnr
end

-- Writes what was remembered into its buffer, which is empty.
---@private
function Transcript:fill()
  local kept = assert(self.kept)
  self.kept = nil
  vim.bo[self.bufnr].modifiable = true
  api.nvim_buf_set_lines(self.bufnr, 0, -1, true, kept.lines)
  vim.bo[self.bufnr].modifiable = false
  for _, mark in ipairs(kept.colours) do
    local id, row, column, details = unpack(mark)
    local options = { id = id, end_row = details.end_row, end_col = details.end_col }
    options.hl_group, options.hl_eol, options.strict = details.hl_group, details.hl_eol, false
    api.nvim_buf_set_extmark(self.bufnr, marks, row, column, options)
  end
  for name, block in pairs(self.blocks) do
    block.mark = nil
    local rows = kept.rows[name]
    if rows then
      self:mark(name, rows[1], rows[2])
    end
  end
end

-- Changes the text; windows whose cursor is at its end stay there, others are left alone.
---@param change fun()
function Transcript:write(change)
  local bufnr = self:buffer()
  local last = api.nvim_buf_line_count(bufnr) - #self.tail
  local following = follow.windows(bufnr, last)
  vim.bo[bufnr].modifiable = true
  if self.tail[1] then
    api.nvim_buf_set_lines(bufnr, last, -1, true, {})
  end
  local fine, err = pcall(change)
  self:put_tail()
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].modified = false
  vim.tbl_map(follow.to_end, following)
  if not fine then
    error(err, 0)
  end
end

---@private
function Transcript:put_tail()
  if self.tail[1] then
    local row = api.nvim_buf_line_count(self.bufnr)
    api.nvim_buf_set_lines(self.bufnr, row, row, true, self.tail)
    self.tail_mark = api.nvim_buf_set_extmark(self.bufnr, marks, row, 0, {
      id = self.tail_mark,
      end_row = row + #self.tail,
      hl_group = "LspAgentState",
      strict = false,
    })
  end
end

--- Lines that stay the last ones, whatever comes: what is not part of the conversation yet.
---@param lines string[]
function Transcript:set_tail(lines)
  self:write(function()
    self.tail = lines
  end)
end

--- Text that comes next is a paragraph of its own, below all others.
function Transcript:pause()
  self.streaming = false
end

--- Text that goes on where the last ended: also above what the person has said to it meanwhile,
--- which would cut a sentence or a code block in two.
---@param text string
function Transcript:stream(text)
  self:write(function()
    local row, end_row = self:rows_of(TEXT)
    if not (self.streaming and row and end_row) then
      self:paragraph()
      self.streaming, self.blocks[TEXT] = true, self.blocks[TEXT] or { folds = false }
      end_row = api.nvim_buf_line_count(self.bufnr)
      row, text = end_row - 1, text:gsub("^\n+", "")
    end
    local column = #api.nvim_buf_get_lines(self.bufnr, end_row - 1, end_row, true)[1]
    local lines = vim.split(text, "\n")
    api.nvim_buf_set_text(self.bufnr, end_row - 1, column, end_row - 1, column, lines)
    self:mark(TEXT, row, end_row + #lines - 1)
  end)
end

-- Whether the last line is one of text that goes on.
---@private
---@return boolean
function Transcript:ends_with_open_text()
  local _, end_row = self:rows_of(TEXT)
  return self.streaming and end_row == api.nvim_buf_line_count(self.bufnr)
end

-- Makes the last line an empty one, with an empty one above it if there is anything.
---@private
function Transcript:paragraph()
  local count = api.nvim_buf_line_count(self.bufnr)
  local tail = api.nvim_buf_get_lines(self.bufnr, math.max(count - 2, 0), -1, true)
  if tail[#tail] ~= "" or self:ends_with_open_text() then
    api.nvim_buf_set_lines(self.bufnr, count, count, true, { "", "" })
  elseif count > 1 and tail[1] ~= "" then
    api.nvim_buf_set_lines(self.bufnr, count, count, true, { "" })
  end
end

--- Nothing was said yet.
function Transcript:clear()
  self:write(function()
    api.nvim_buf_clear_namespace(self.bufnr, blocks, 0, -1)
    api.nvim_buf_clear_namespace(self.bufnr, marks, 0, -1)
    api.nvim_buf_set_lines(self.bufnr, 0, -1, true, {})
    self.blocks, self.newest_call, self.streaming = {}, nil, false
  end)
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
---@param name string
---@param row integer
---@param end_row integer exclusive
function Transcript:mark(name, row, end_row)
  local block = self.blocks[name]
  block.mark = api.nvim_buf_set_extmark(self.bufnr, blocks, row, 0, {
    id = block.mark,
    end_row = end_row,
    end_right_gravity = false, -- and what is put between two calls is the first one's
    virt_text = block.state and { { block.state, block.highlight } },
    virt_text_pos = block.state and "inline",
  })
end

-- Where a block is: its first row, and the one behind it.
---@private
---@param block lsp_agent.Block
---@return integer? row
---@return integer? end_row
function Transcript:rows(block)
  if not block.mark or not api.nvim_buf_is_valid(self.bufnr) then
    return
  end
  local first, last = extent(self.bufnr, blocks, block.mark)
  return first and first[1], last and last[1]
end

--- Where a block of that name is, as above.
---@param name string
---@return integer? row
---@return integer? end_row
function Transcript:rows_of(name)
  local block = self.blocks[name]
  if block then
    return self:rows(block)
  end
end

-- Whether nothing has come behind the newest call: the next one stands in the row below.
---@private
---@return boolean
function Transcript:ends_with_call()
  local last_row = api.nvim_buf_line_count(self.bufnr) - 1
  return self.newest_call ~= nil and select(2, self:rows(self.newest_call)) == last_row
end

--- A line with a body, such as a tool call with its result.
---@param name string
---@param header string one line
---@param block lsp_agent.Block
function Transcript:block(name, header, block)
  self.blocks[name] = block
  self:pause()
  self:write(function()
    if not (block.state and self:ends_with_call()) then
      self:paragraph()
    end
    self.newest_call = block.state and block or nil
    local row = api.nvim_buf_line_count(self.bufnr) - 1
    api.nvim_buf_set_lines(self.bufnr, row, row, true, { header })
    self:mark(name, row, row + 1)
    self:mark_header(block, row, header)
  end)
end

---@private
---@param block lsp_agent.Block
---@param row integer
---@param header string
function Transcript:mark_header(block, row, header)
  local shown = { id = block.header_mark, end_col = #header, hl_group = "LspAgentTool" }
  block.header_mark = api.nvim_buf_set_extmark(self.bufnr, marks, row, 0, shown)
end

-- Replaces the rows of a body that has some. Its last line stays and others come and go before it,
-- by these functions: then the windows' folds go along, open or closed, which they do not with
-- `nvim_buf_set_lines()` (lost at the body's end in 0.11, moved in 0.10).
---@param bufnr integer
---@param row integer the body's first
---@param end_row integer exclusive
---@param body string[]
local function replace(bufnr, row, end_row, body)
  local more = #body - (end_row - row)
  if more > 0 then
    vim.fn.appendbufline(bufnr, end_row - 1, vim.fn["repeat"]({ "" }, more))
  elseif more < 0 then
    vim.fn.deletebufline(bufnr, row + 1, row - more)
  end
  vim.fn.setbufline(bufnr, row + 1, body)
end

-- Folds rows in a window, unless that is one of the person's own with other folds.
---@param window integer
---@param row integer
---@param end_row integer exclusive
local function fold(window, row, end_row)
  if vim.wo[window].foldmethod ~= "manual" then
    return
  end
  api.nvim_win_call(window, function()
    vim.cmd.fold({ range = { row + 1, end_row } })
  end)
end

--- A block's state, its header and its body, each if it is given.
---@param name string
---@param change { state?: string, highlight?: string, header?: string, body?: string[] }
function Transcript:update(name, change)
  self:buffer()
  local block = self.blocks[name]
  local row, end_row = self:rows_of(name)
  if not row or not end_row then
    return
  end
  block.state = change.state or block.state
  block.highlight = change.highlight or block.highlight
  self:write(function()
    if change.header then
      vim.fn.setbufline(self.bufnr, row + 1, change.header)
      self:mark_header(block, row, change.header)
    end
    local body = change.body
    if body and end_row > row + 1 then
      replace(self.bufnr, row + 1, end_row, body)
    elseif body then
      api.nvim_buf_set_lines(self.bufnr, end_row, end_row, true, body)
    end
    self:mark(name, row, body and row + 1 + #body or end_row)
    -- The windows that follow are brought to the end with their folds closed.
    if body and block.folds and end_row == row + 1 then
      for _, window in ipairs(vim.fn.win_findbuf(self.bufnr)) do
        fold(window, row, row + 1 + #body)
      end
    end
  end)
end

--- More of a block's body, from where its last line ends.
---@param name string
---@param text string
function Transcript:extend(name, text)
  self:buffer()
  local row, end_row = self:rows_of(name)
  if not row or not end_row then
    return
  end
  self:write(function()
    local last = api.nvim_buf_get_lines(self.bufnr, end_row - 1, end_row, true)[1]
    local lines = vim.split(last .. text, "\n")
    replace(self.bufnr, end_row - 1, end_row, lines)
    self:mark(name, row, end_row + #lines - 1)
  end)
end

--- Folds the bodies in a window that shows the conversation from now on. 'foldmethod' is "manual":
--- what 'foldexpr' says Neovim does not look at in Insert mode, in which prompts are written.
---@param window integer
function Transcript:fold(window)
  api.nvim_win_call(window, function()
    vim.cmd("normal! zE")
  end)
  for _, block in pairs(self.blocks) do
    local row, end_row = self:rows(block)
    if block.folds and row and end_row and end_row > row + 1 then
      fold(window, row, end_row)
    end
  end
end

return M
