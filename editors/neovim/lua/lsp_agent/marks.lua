--- The marks of the agent's changes, which stay until they are decided on.

local client = require("lsp_agent.client")
local config = require("lsp_agent.config")
local extent = require("lsp_agent.extent")
local key_hints = require("lsp_agent.key_hints")
local lines_of = require("lsp_agent.lines_of")
local looks = require("lsp_agent.looks")
local pieces = require("lsp_agent.pieces")

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
---@field beside string[] the lines that are shown beside the text, old or proposed
---@field there string[] those in it
---@field options vim.api.keyset.set_extmark of the mark
---@field look? lsp_agent.Look once it is known
---@field lines? lsp_agent.Chunk[][] that stand beside the text, in that look
---@field ground? integer the mark that colours its lines in the text

---@class lsp_agent.Review
---@field hunks table<integer, lsp_agent.Hunk> by extmark
---@field asked integer counts the requests: only the newest one's answer is taken
---@field timer? uv.uv_timer_t
---@field pending boolean whether they are asked for, or soon
---@field waiting fun()[] done once they are known

---@type table<integer, lsp_agent.Review> by buffer
local reviews = {}

---@param hunk lsp_agent.Hunk
---@return string
local function key_of(hunk)
  return ("%s %s %s"):format(hunk.edit_id, hunk.hunk_id, hunk.proposed)
end

---@param one string[]
---@param other string[]
---@return boolean
local function is_same(one, other)
  for index, line in ipairs(one) do
    if line ~= other[index] then
      return false
    end
  end
  return #one == #other
end

-- Shows a hunk, in the look that is known of it.
---@param bufnr integer
---@param hunk lsp_agent.Hunk
---@param row integer
local function draw(bufnr, hunk, row)
  if hunk.beside[1] and (hunk.proposed or config.options.review.old_text) then
    hunk.lines = hunk.lines or looks.lines(bufnr, hunk)
    hunk.options.virt_lines = hunk.lines
  end
  hunk.mark = api.nvim_buf_set_extmark(bufnr, namespace, row, 0, hunk.options)
  hunk.options.id = hunk.mark
  looks.colour(bufnr, hunk, row)
end

---@param bufnr integer
---@param edit table
---@param hunk table
---@param known table<string, lsp_agent.Hunk> as they were shown last, by their ids
local function mark(bufnr, edit, hunk, known)
  local proposed = hunk.status == "proposed"
  local count = api.nvim_buf_line_count(bufnr)
  local first = math.min(hunk.range.start.line, count - 1)
  local last = math.min(hunk.range["end"].line, count)
  local there = api.nvim_buf_get_lines(bufnr, first, math.max(first, last), true)
  -- What went from the end stands below the last line: no line is left that was behind it.
  local behind = hunk.range.start.line >= count or hunk.range.start.character > 0
  local options = {
    -- Signs and colours of lines include the end's.
    end_row = there[1] and last - 1 or first,
    end_col = #(there[#there] or ""),
    end_right_gravity = there[1] ~= nil,
    right_gravity = false,
    sign_text = there[1] and "┃" or "▁",
    sign_hl_group = proposed and "LspAgentProposal" or "LspAgentChange",
    virt_lines_above = not behind,
    strict = false,
  }
  local shown = {
    edit_id = edit.editId,
    hunk_id = hunk.hunkId,
    proposed = proposed,
    turn = edit.turnId,
    old = hunk.oldText,
    new = hunk.newText,
    there = there,
    options = options,
  }
  ---@cast shown lsp_agent.Hunk
  local before = known[key_of(shown)]
  if before and before.old == shown.old and before.new == shown.new then
    shown.beside = before.beside
    if is_same(before.there, there) then
      shown.look, shown.lines = before.look, before.lines
    end
  end
  shown.beside = shown.beside or lines_of(proposed and hunk.newText or hunk.oldText)
  draw(bufnr, shown, first)
  reviews[bufnr].hunks[shown.mark] = shown
end

-- Finds out in pieces how the hunks look of which that is not known, those near the cursor first.
---@param bufnr integer
local function find_looks(bufnr)
  ---@type table<integer, integer>, lsp_agent.Hunk[]
  local rows, waiting = {}, {}
  local window = vim.fn.bufwinid(bufnr)
  local cursor = window ~= -1 and api.nvim_win_get_cursor(window)[1] - 1 or 0
  for id, hunk in pairs(reviews[bufnr].hunks) do
    if not hunk.look then
      rows[id] = M.rows(bufnr, hunk)
      table.insert(waiting, hunk)
    end
  end
  table.sort(waiting, function(one, other)
    return math.abs(rows[one.mark] - cursor) < math.abs(rows[other.mark] - cursor)
  end)
  local tick = api.nvim_buf_get_changedtick(bufnr)
  pieces.run(bufnr, function()
    for _, hunk in ipairs(waiting) do
      local row = rows[hunk.mark]
      local behind = not hunk.there[1] and not hunk.options.virt_lines_above
      local look = looks.of(bufnr, hunk, behind and row + 1 or row)
      local same = api.nvim_buf_is_loaded(bufnr) and api.nvim_buf_get_changedtick(bufnr) == tick
      if not same then
        return -- it is marked anew
      end
      hunk.look, hunk.lines = look, nil
      draw(bufnr, hunk, row)
      coroutine.yield()
    end
  end)
end

-- Neovim leaves out virtual lines above the first line wherever it comes to the top of the text.
---@param window integer that has the buffer
local function show_above_first(window)
  local bufnr = api.nvim_win_get_buf(window)
  local count = 0
  local first = api.nvim_buf_get_extmarks(bufnr, namespace, { 0, 0 }, { 0, -1 }, { details = true })
  for _, each in ipairs(first) do
    local details = each[4] or {}
    count = count + #(details.virt_lines or {})
  end
  if count == 0 then
    return
  end
  api.nvim_win_call(window, function()
    local view = vim.fn.winsaveview()
    if
      view.topline == 1 and vim.fn.winline() - view.topfill + count <= api.nvim_win_get_height(0)
    then
      vim.fn.winrestview({ topfill = count })
    end
  end)
end

---@param bufnr integer
---@param edits table[]
local function show(bufnr, edits)
  local known = {}
  for _, hunk in pairs(reviews[bufnr].hunks) do
    known[key_of(hunk)] = hunk
  end
  api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  looks.clear(bufnr)
  reviews[bufnr].hunks = {}
  for _, edit in ipairs(edits) do
    for _, hunk in ipairs(edit.hunks or {}) do
      if hunk.status == "applied" or hunk.status == "proposed" then
        mark(bufnr, edit, hunk, known)
      end
    end
  end
  find_looks(bufnr)
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    show_above_first(window)
  end
  require("lsp_agent.inline").on_marks(bufnr)
  require("lsp_agent.comments").on_marks(bufnr)
  require("lsp_agent.review_tab").on_change()
  M.hint(bufnr)
  vim.cmd.redrawstatus({ bang = true })
end

---@param review lsp_agent.Review
local function settle(review)
  local waiting = review.waiting
  review.pending, review.waiting = false, {}
  for _, work in ipairs(waiting) do
    work()
  end
end

--- Asks for the open hunks of a buffer and marks them.
---@param bufnr integer
function M.refresh(bufnr)
  local review = reviews[bufnr]
  local found = client.all(bufnr)[1]
  if review and not found then
    settle(review)
  end
  if not review or not found then
    return
  end
  review.pending = true
  review.asked = review.asked + 1
  local asked, tick = review.asked, api.nvim_buf_get_changedtick(bufnr)
  local params = { uri = vim.uri_from_bufnr(bufnr), open = true }
  client.request(found, "agent/edits", params, function(result)
    if not api.nvim_buf_is_loaded(bufnr) or review.asked ~= asked then
      return
    end
    if api.nvim_buf_get_changedtick(bufnr) ~= tick then
      M.refresh(bufnr) -- the ranges are those of an older text
    else
      show(bufnr, result.edits)
      settle(review)
    end
  end, function() -- asked again at the next change
    settle(review)
  end)
end

-- Refreshes after `milliseconds` without another call.
---@param bufnr integer
---@param milliseconds integer
local function refresh_soon(bufnr, milliseconds)
  local review = reviews[bufnr]
  review.pending = true
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

--- Those of some rows, as soon as it is known what is there: a key may come sooner than the marks
--- of a file that is just shown.
---@param bufnr integer
---@param row integer
---@param last_row integer
---@param work fun(hunks: lsp_agent.Hunk[])
function M.with_hunks_at(bufnr, row, last_row, work)
  local hunks, review = M.hunks_at(bufnr, row, last_row), reviews[bufnr]
  if hunks[1] or not review or not review.pending then
    work(hunks)
  else
    table.insert(review.waiting, function()
      work(M.hunks_at(bufnr, row, last_row))
    end)
  end
end

--- Where a hunk is.
---@param bufnr integer
---@param hunk lsp_agent.Hunk
---@return integer first row, from 0
---@return integer last inclusive
function M.rows(bufnr, hunk)
  local first, last = extent(bufnr, namespace, hunk.mark)
  return first and first[1] or 0, last and last[1] or 0
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
  reviews[bufnr].waiting = {} -- for a server that is gone
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
    pieces.drop(bufnr)
    local timer = reviews[bufnr].timer
    if timer then
      timer:close()
    end
    reviews[bufnr] = nil
  end)
  refresh_soon(bufnr, 0)
end

local function listen()
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

listen()

return M
