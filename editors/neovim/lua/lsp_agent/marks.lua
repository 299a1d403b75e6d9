--- The marks of the agent's changes, which stay until they are decided on.

local client = require("lsp_agent.client")
local config = require("lsp_agent.config")
local key_hints = require("lsp_agent.key_hints")
local lines_of = require("lsp_agent.lines_of")

local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace("lsp_agent.review")
local hints = api.nvim_create_namespace("lsp_agent.review.hint")

-- How long after the last key the marks of a buffer are asked for anew.
local SETTLE_MS = 300

---@class lsp_agent.Hunk
---@field mark integer
---@field edit_id string
---@field hunk_id string
---@field proposed boolean
---@field turn? string the id of its turn
---@field old string text
---@field new string

---@class lsp_agent.Review
---@field hunks table<integer, lsp_agent.Hunk> by extmark
---@field asked integer counts the requests: only the newest one's answer is taken
---@field timer? uv.uv_timer_t

---@type table<integer, lsp_agent.Review> by buffer
local reviews = {}

---@param text string
---@param highlight string
---@return [string, string][][]
local function virtual_lines(text, highlight)
  return vim.tbl_map(function(line)
    -- An empty line would show no colour.
    return { { line == "" and " " or line, highlight } }
  end, lines_of(text))
end

---@param bufnr integer
---@param edit table
---@param hunk table
local function mark(bufnr, edit, hunk)
  local proposed = hunk.status == "proposed"
  local count = api.nvim_buf_line_count(bufnr)
  local first = math.min(hunk.range.start.line, count - 1)
  local last = math.min(hunk.range["end"].line, count)
  local there = last > first
  -- What went from the end stands below the last line: no line is left that was behind it.
  local behind = hunk.range.start.line >= count or hunk.range.start.character > 0
  local options = {
    -- Signs and colours of lines include the end's.
    end_row = there and last - 1 or first,
    end_col = there and #api.nvim_buf_get_lines(bufnr, last - 1, last, true)[1] or 0,
    end_right_gravity = there,
    right_gravity = false,
    sign_text = there and "┃" or "▁",
    sign_hl_group = proposed and "LspAgentProposal" or "LspAgentChange",
    strict = false,
  }
  if there then
    options.line_hl_group = proposed and "LspAgentOld" or "LspAgentNew"
  end
  local aside = proposed and hunk.newText or hunk.oldText
  if aside ~= "" and (proposed or config.options.review.old_text) then
    options.virt_lines = virtual_lines(aside, proposed and "LspAgentNew" or "LspAgentOld")
    options.virt_lines_above = not behind
  end
  local id = api.nvim_buf_set_extmark(bufnr, namespace, first, 0, options)
  reviews[bufnr].hunks[id] = {
    mark = id,
    edit_id = edit.editId,
    hunk_id = hunk.hunkId,
    proposed = proposed,
    turn = edit.turnId,
    old = hunk.oldText,
    new = hunk.newText,
  }
end

-- Neovim leaves out virtual lines above the first line wherever it comes to the top of the text.
---@param window integer that has the buffer
local function show_above_first(window)
  local bufnr = api.nvim_win_get_buf(window)
  local count = 0
  local first = api.nvim_buf_get_extmarks(bufnr, namespace, { 0, 0 }, { 0, -1 }, { details = true })
  for _, each in ipairs(first) do
    count = count + #(each[4].virt_lines or {})
  end
  if count == 0 then
    return
  end
  api.nvim_win_call(window, function()
    local view = vim.fn.winsaveview()
    if view.topline == 1 and vim.fn.winline() - view.topfill + count <= api.nvim_win_get_height(0) then
      vim.fn.winrestview({ topfill = count })
    end
  end)
end

---@param bufnr integer
---@param edits table[]
local function show(bufnr, edits)
  api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  reviews[bufnr].hunks = {}
  for _, edit in ipairs(edits) do
    for _, hunk in ipairs(edit.hunks or {}) do
      if hunk.status == "applied" or hunk.status == "proposed" then
        mark(bufnr, edit, hunk)
      end
    end
  end
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    show_above_first(window)
  end
  require("lsp_agent.inline").on_marks(bufnr)
  require("lsp_agent.comments").on_marks(bufnr)
  require("lsp_agent.review_tab").on_change()
  M.hint(bufnr)
  vim.cmd.redrawstatus({ bang = true })
end

--- Asks for the open hunks of a buffer and marks them.
---@param bufnr integer
function M.refresh(bufnr)
  local review = reviews[bufnr]
  local found = client.all(bufnr)[1]
  if not review or not found then
    return
  end
  review.asked = review.asked + 1
  local asked, tick = review.asked, api.nvim_buf_get_changedtick(bufnr)
  client.request(found, "agent/edits", { uri = vim.uri_from_bufnr(bufnr) }, function(result)
    if not api.nvim_buf_is_loaded(bufnr) or review.asked ~= asked then
      return
    end
    if api.nvim_buf_get_changedtick(bufnr) ~= tick then
      M.refresh(bufnr) -- the ranges are those of an older text
    else
      show(bufnr, result.edits)
    end
  end, function() end) -- asked again at the next change
end

-- Refreshes after `milliseconds` without another call.
---@param bufnr integer
---@param milliseconds integer
local function refresh_soon(bufnr, milliseconds)
  local review = reviews[bufnr]
  review.timer = review.timer or assert(vim.uv.new_timer())
  review.timer:start(
    milliseconds,
    0,
    vim.schedule_wrap(function()
      if api.nvim_buf_is_loaded(bufnr) then
        M.refresh(bufnr)
      end
    end)
  )
end

--- An edit has a new status.
---@param of vim.lsp.Client
---@param edit table
function M.on_edit(of, edit)
  for bufnr in pairs(of.attached_buffers) do
    if reviews[bufnr] and vim.uri_from_bufnr(bufnr) == edit.uri then
      refresh_soon(bufnr, 20)
    end
  end
end

--- The hunks of some rows, from 0.
---@param bufnr integer
---@param row integer
---@param last_row? integer
---@return lsp_agent.Hunk[]
function M.hunks_at(bufnr, row, last_row)
  local review = reviews[bufnr]
  local found = {}
  local until_row = last_row or row
  local marks = review
      and api.nvim_buf_get_extmarks(bufnr, namespace, { row, 0 }, { until_row, -1 }, {
        overlap = true,
      })
    or {}
  for _, each in ipairs(marks) do
    if review.hunks[each[1]] then
      table.insert(found, review.hunks[each[1]])
    end
  end
  return found
end

--- Where a hunk is.
---@param bufnr integer
---@param hunk lsp_agent.Hunk
---@return integer first row, from 0
---@return integer last inclusive
function M.rows(bufnr, hunk)
  local at = api.nvim_buf_get_extmark_by_id(bufnr, namespace, hunk.mark, { details = true })
  return at[1] or 0, at[3] and at[3].end_row or 0
end

--- All open hunks of a buffer, in no order.
---@param bufnr integer
---@return lsp_agent.Hunk[]
function M.all(bufnr)
  return reviews[bufnr] and vim.tbl_values(reviews[bufnr].hunks) or {}
end

---@param bufnr integer
---@return integer
function M.count(bufnr)
  return reviews[bufnr] and vim.tbl_count(reviews[bufnr].hunks) or 0
end

--- Says beside the hunk under the cursor what can be done with it.
---@param bufnr integer
function M.hint(bufnr)
  api.nvim_buf_clear_namespace(bufnr, hints, 0, -1)
  if bufnr ~= api.nvim_get_current_buf() then
    return
  end
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local hunk, inline = M.hunks_at(bufnr, row)[1], require("lsp_agent.inline")
  inline.on_cursor(bufnr, row)
  if hunk and not inline.hunks_at(bufnr, row) then -- which says it itself
    local text = key_hints({
      { "keep", hunk.proposed and "apply" or "keep" },
      { "undo", hunk.proposed and "reject" or "undo" },
    })
    api.nvim_buf_set_extmark(bufnr, hints, row, 0, {
      virt_text = { { text, "LspAgentState" } },
      virt_text_pos = "eol",
      hl_mode = "combine",
    })
  end
end

---@param bufnr integer
function M.on_attach(bufnr)
  reviews[bufnr] = reviews[bufnr] or { hunks = {}, asked = 0 }
  local group = api.nvim_create_augroup(("lsp_agent.review.%d"):format(bufnr), {})
  local function on(events, callback)
    api.nvim_create_autocmd(events, { group = group, buffer = bufnr, callback = callback })
  end
  on({ "TextChanged", "TextChangedI" }, function()
    if M.count(bufnr) > 0 then
      refresh_soon(bufnr, SETTLE_MS)
    end
  end)
  on({ "CursorMoved", "BufEnter", "BufLeave" }, function()
    M.hint(bufnr)
  end)
  on("BufWipeout", function()
    local timer = reviews[bufnr].timer
    if timer then
      timer:close()
    end
    reviews[bufnr] = nil
  end)
  refresh_soon(bufnr, 0)
end

--- Called once, by `plugin/lsp_agent.lua`.
function M.listen()
  api.nvim_create_autocmd("WinScrolled", {
    group = api.nvim_create_augroup("lsp_agent.marks", {}),
    callback = function()
      for name, moved in pairs(vim.v.event) do
        local window = tonumber(name)
        if window and moved.topline < 0 and api.nvim_win_is_valid(window) then
          show_above_first(window)
        end
      end
    end,
  })
end

return M
