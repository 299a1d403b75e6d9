--- The agent's changes where they are: marked until they are decided on.

local client = require("lsp_agent.client")
local config = require("lsp_agent.config")
local tell = require("lsp_agent.tell")

local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace("lsp_agent.review")
local hints = api.nvim_create_namespace("lsp_agent.review.hint")

-- How long after the last key the marks of a buffer are asked for anew.
local SETTLE_MS = 300

---@class lsp_agent.Hunk
---@field edit_id string
---@field hunk_id string
---@field proposed boolean

---@class lsp_agent.Review
---@field hunks table<integer, lsp_agent.Hunk> by extmark
---@field asked integer counts the requests: only the newest one's answer is taken
---@field timer? uv.uv_timer_t

---@type table<integer, lsp_agent.Review> by buffer
local reviews = {}

---@param text string
---@return string[] lines without their ends
local function lines_of(text)
  local lines = vim.split(text, "\r?\n")
  if lines[#lines] == "" then
    table.remove(lines)
  end
  return lines
end

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
    options.virt_lines_above = true
  end
  local id = api.nvim_buf_set_extmark(bufnr, namespace, first, 0, options)
  reviews[bufnr].hunks[id] = { edit_id = edit.editId, hunk_id = hunk.hunkId, proposed = proposed }
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

---@param row integer 0-based
---@param bufnr integer
---@param last_row? integer
---@return lsp_agent.Hunk[]
local function hunks_at(bufnr, row, last_row)
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

---@param bufnr integer
---@return integer
function M.count(bufnr)
  return reviews[bufnr] and vim.tbl_count(reviews[bufnr].hunks) or 0
end

---@param keys string
---@return string
local function shown_keys(keys)
  local leader = vim.g.mapleader or "\\"
  return (keys:gsub("<[lL]eader>", leader == " " and "␣" or leader))
end

--- Says beside the hunk under the cursor what can be done with it.
---@param bufnr integer
function M.hint(bufnr)
  api.nvim_buf_clear_namespace(bufnr, hints, 0, -1)
  local keymaps = config.options.keymaps
  if not keymaps or bufnr ~= api.nvim_get_current_buf() then
    return
  end
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local hunk = hunks_at(bufnr, row)[1]
  if hunk then
    local text = {}
    local function add(keys, does)
      if keys then
        table.insert(text, ("%s %s"):format(shown_keys(keys), does))
      end
    end
    add(keymaps.keep, hunk.proposed and "apply" or "keep")
    add(keymaps.undo, hunk.proposed and "reject" or "undo")
    api.nvim_buf_set_extmark(bufnr, hints, row, 0, {
      virt_text = { { table.concat(text, "  "), "LspAgentState" } },
      virt_text_pos = "eol",
      hl_mode = "combine",
    })
  end
end

---@param verb "keep"|"undo"
---@param hunk lsp_agent.Hunk
---@return string method
local function method_for(verb, hunk)
  if verb == "undo" then
    return "agent/rejectEdit"
  end
  return hunk.proposed and "agent/applyEdit" or "agent/keepEdit"
end

--- Keeps (or applies) or undoes (or rejects) the hunks under the cursor or in a range of lines.
---@param verb "keep"|"undo"
---@param range? [integer, integer] lines from 1
---@param wanted? "proposed"|"applied" only those
function M.decide(verb, range, wanted)
  local bufnr = api.nvim_get_current_buf()
  local found = client.all(bufnr)[1]
  local line = api.nvim_win_get_cursor(0)[1]
  local hunks = hunks_at(bufnr, (range and range[1] or line) - 1, (range and range[2] or line) - 1)
  local by_edit = {}
  for _, hunk in ipairs(hunks) do
    if not wanted or hunk.proposed == (wanted == "proposed") then
      local key = method_for(verb, hunk) .. "\0" .. hunk.edit_id
      by_edit[key] = by_edit[key] or {}
      table.insert(by_edit[key], hunk)
    end
  end
  if not found or vim.tbl_isempty(by_edit) then
    tell(("no %s here"):format(wanted == "proposed" and "proposal" or "change"))
    return
  end
  for _, group in pairs(by_edit) do
    local params = { editId = group[1].edit_id, hunks = {} }
    for _, hunk in ipairs(group) do
      table.insert(params.hunks, hunk.hunk_id)
    end
    client.request(found, method_for(verb, group[1]), params, function(result)
      if result.applied == false then
        tell(result.failureReason or "it could not be applied", vim.log.levels.WARN)
      end
      M.refresh(bufnr)
    end)
  end
end

--- Decides on all that is open in this file, or everywhere.
---@param method "agent/keepAll"|"agent/undoAll"|"agent/applyAll"
---@param everywhere boolean
function M.decide_all(method, everywhere)
  local bufnr = api.nvim_get_current_buf()
  local found = client.of(bufnr)
  if found then
    local params = everywhere and {} or { uri = vim.uri_from_bufnr(bufnr) }
    client.request(found, method, params, function()
      for each in pairs(found.attached_buffers) do
        M.refresh(each)
      end
    end)
  end
end

-- The file's window, if the current one is the chat's.
local function to_file()
  if vim.w.lsp_agent then
    for _, window in ipairs(api.nvim_tabpage_list_wins(0)) do
      if not vim.w[window].lsp_agent then
        api.nvim_set_current_win(window)
        return
      end
    end
  end
end

--- To the next open change, in this file and then in the others.
---@param options? { previous?: boolean }
function M.go(options)
  to_file()
  local bufnr = api.nvim_get_current_buf()
  local found = client.of(bufnr)
  if not found then
    return
  end
  local params = { previous = options and options.previous or false }
  if client.is_file(bufnr) then
    params.uri = vim.uri_from_bufnr(bufnr)
    params.position = vim.lsp.util.make_position_params(0, found.offset_encoding).position
  end
  -- The server has it shown with window/showDocument.
  client.request(found, "agent/nextChange", params, function(result)
    if not result.uri then
      tell("no change is open")
    end
  end)
end

---@param on_found fun(found: vim.lsp.Client, hunk: lsp_agent.Hunk)
local function with_hunk(on_found)
  local bufnr = api.nvim_get_current_buf()
  local found = client.of(bufnr)
  local hunk = hunks_at(bufnr, api.nvim_win_get_cursor(0)[1] - 1)[1]
  if found and hunk then
    on_found(found, hunk)
  else
    tell("no change here")
  end
end

--- The edit under the cursor as a unified diff, in a floating window.
function M.preview()
  with_hunk(function(found, hunk)
    client.request(found, "agent/previewEdit", { editId = hunk.edit_id }, function(result)
      local options = { focus_id = "lsp_agent_preview", max_width = 100, max_height = 30 }
      vim.lsp.util.open_floating_preview(lines_of(result.text), "diff", options)
    end)
  end)
end

---@param name string
---@param text string
---@param filetype string
---@return integer bufnr
local function scratch(name, text, filetype)
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines_of(text))
  api.nvim_buf_set_name(bufnr, ("lsp-agent://%d/%s"):format(bufnr, name))
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = filetype
  return bufnr
end

--- The edit under the cursor as a diff of the whole text, in a tab page.
function M.diff()
  local filetype = vim.bo.filetype
  local name = vim.fs.basename(api.nvim_buf_get_name(0))
  with_hunk(function(found, hunk)
    client.request(found, "agent/editText", { editId = hunk.edit_id }, function(result)
      vim.cmd.tabnew()
      vim.bo.bufhidden = "wipe"
      api.nvim_win_set_buf(0, scratch("before/" .. name, result.before, filetype))
      vim.cmd.diffthis()
      local after = scratch("after/" .. name, result.after, filetype)
      api.nvim_open_win(after, true, { split = "right", win = 0 })
      vim.cmd.diffthis()
    end)
  end)
end

---@param bufnr integer
local function set_keymaps(bufnr)
  local keymaps = config.options.keymaps
  if not keymaps then
    return
  end
  local function map(modes, keys, action, description)
    if keys then
      vim.keymap.set(modes, keys, action, { buffer = bufnr, desc = "agent: " .. description })
    end
  end
  local function decide(verb)
    return function()
      local range
      if api.nvim_get_mode().mode:find("^[vV\22]") then
        local from, to = vim.fn.line("v"), vim.fn.line(".")
        range = { math.min(from, to), math.max(from, to) }
        api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
      end
      M.decide(verb, range)
    end
  end
  map("n", keymaps.next, M.go, "next change")
  map("n", keymaps.prev, function()
    M.go({ previous = true })
  end, "previous change")
  map({ "n", "x" }, keymaps.keep, decide("keep"), "keep or apply the change")
  map({ "n", "x" }, keymaps.undo, decide("undo"), "undo or reject the change")
  map("n", keymaps.chat, function()
    require("lsp_agent.chat").toggle()
  end, "show or hide the chat")
end

---@param bufnr integer
function M.on_attach(bufnr)
  reviews[bufnr] = reviews[bufnr] or { hunks = {}, asked = 0 }
  set_keymaps(bufnr)
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

return M
