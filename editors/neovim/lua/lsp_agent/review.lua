--- What a person does with the agent's changes: decides on them, goes to them, compares texts.

local chat = require("lsp_agent.chat")
local client = require("lsp_agent.client")
local lines_of = require("lsp_agent.lines_of")
local marks = require("lsp_agent.marks")
local tell = require("lsp_agent.tell")
local windows = require("lsp_agent.windows")

local M = {}

local api = vim.api

-- The server that is asked where the next change is, and what was typed ahead of its answer: that is
-- for the place it leads to.
---@type vim.lsp.Client?
local asked
---@type fun()[]
local ahead = {}

---@param work fun()
---@return boolean whether it is done later
local function is_ahead(work)
  if asked and client.is_over(asked) then
    asked, ahead = nil, {}
  end
  if asked then
    table.insert(ahead, work)
  end
  return asked ~= nil
end

-- A file that is just shown is attached to a moment later.
local arrive = vim.schedule_wrap(function()
  local works = ahead
  asked, ahead = nil, {}
  for _, work in ipairs(works) do
    work()
  end
end)

---@param verb "keep"|"undo"
---@param hunk lsp_agent.Hunk
---@return string method
local function method_for(verb, hunk)
  if verb == "undo" then
    return "agent/rejectEdit"
  end
  return hunk.proposed and "agent/applyEdit" or "agent/keepEdit"
end

--- Keeps (or applies) or undoes (or rejects) some hunks of a buffer; says so where none can be asked.
---@param bufnr integer
---@param hunks lsp_agent.Hunk[]
---@param verb "keep"|"undo"
---@param on_done? fun(all: boolean) whether each could be decided
---@return boolean asked
function M.decide_on(bufnr, hunks, verb, on_done)
  local found = client.all(bufnr)[1]
  if not found then
    tell("no server runs for this buffer (:Agent restart)", vim.log.levels.WARN)
    return false
  end
  local by_edit = {}
  for _, hunk in ipairs(hunks) do
    local key = method_for(verb, hunk) .. "\0" .. hunk.edit_id
    by_edit[key] = by_edit[key] or {}
    table.insert(by_edit[key], hunk)
  end
  local left, all = vim.tbl_count(by_edit), true
  ---@param failure? string
  ---@param level? integer
  local function decided(failure, level)
    if failure then
      all = false
      tell(failure, level)
    end
    left = left - 1
    marks.refresh(bufnr)
    if left == 0 and on_done then
      on_done(all)
    end
  end
  for _, group in pairs(by_edit) do
    local params = { editId = group[1].edit_id, hunks = {} }
    for _, hunk in ipairs(group) do
      table.insert(params.hunks, hunk.hunk_id)
    end
    client.request(found, method_for(verb, group[1]), params, function(result)
      local failure = result.applied == false
      local reason = result.failureReason or "it could not be applied"
      decided(failure and reason or nil, vim.log.levels.WARN)
    end, function(err)
      decided(err.message, vim.log.levels.ERROR)
    end)
  end
  return true
end

--- The same for those under the cursor, all of an answer in place there, or those in a range of
--- lines.
---@param verb "keep"|"undo"
---@param range? [integer, integer] lines from 1
---@param wanted? "proposed"|"applied" only those
function M.decide(verb, range, wanted)
  local function again()
    M.decide(verb, range, wanted)
  end
  if not range and is_ahead(again) then
    return
  end
  local bufnr = api.nvim_get_current_buf()
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local answered = not range and require("lsp_agent.inline").hunks_at(bufnr, row)
  local first, last = row, row
  if range then
    first, last = range[1] - 1, range[2] - 1
  end
  local function decide(found)
    local hunks = vim.tbl_filter(function(hunk)
      return not wanted or hunk.proposed == (wanted == "proposed")
    end, found)
    if hunks[1] then
      M.decide_on(bufnr, hunks, verb)
    else
      tell(("no %s here"):format(wanted == "proposed" and "proposal" or "change"))
    end
  end
  if answered then
    decide(answered)
  else
    marks.with_hunks_at(bufnr, first, last, decide)
  end
end

-- Seen from the chat's windows, that of a file beside them.
---@return integer?
local function beside_chat()
  return vim.w.lsp_agent and windows.of_files()[1]
end

--- Says how many proposals did not get in, and why the first did not.
---@param result { failures?: { failureReason: string }[] }
function M.tell_failures(result)
  local failures = result.failures or {}
  if failures[1] then
    local text = ("%d not applied: %s"):format(#failures, failures[1].failureReason)
    tell(text, vim.log.levels.WARN)
  end
end

--- Decides on all that is open in this file, or everywhere.
---@param method "agent/keepAll"|"agent/undoAll"|"agent/applyAll"
---@param everywhere boolean
function M.decide_all(method, everywhere)
  local found = chat.client()
  if found then
    local bufnr = api.nvim_win_get_buf(beside_chat() or 0)
    local params = everywhere and {} or { uri = vim.uri_from_bufnr(bufnr) }
    client.request(found, method, params, function(result)
      M.tell_failures(result)
      for each in pairs(found.attached_buffers) do
        marks.refresh(each)
      end
    end)
  end
end

--- To the next open change, in this file and then in the others.
---@param options? { previous?: boolean }
function M.go(options)
  local function again()
    M.go(options)
  end
  if is_ahead(again) then
    return
  end
  local found = chat.client()
  local window = beside_chat()
  if window then
    api.nvim_set_current_win(window)
  end
  local bufnr = api.nvim_get_current_buf()
  if not found then
    return
  end
  local params = { previous = options and options.previous or false }
  if found.attached_buffers[bufnr] then
    params.uri = vim.uri_from_bufnr(bufnr)
    params.position = vim.lsp.util.make_position_params(0, found.offset_encoding).position
  end
  asked = found
  -- The server has it shown with window/showDocument, before it answers.
  client.request(found, "agent/nextChange", params, function(result)
    if not result.uri then
      tell("no change is open")
    end
    arrive()
  end, function(err)
    tell(err.message, vim.log.levels.ERROR)
    arrive()
  end)
end

---@param on_found fun(found: vim.lsp.Client, hunk: lsp_agent.Hunk)
local function with_hunk(on_found)
  local bufnr = api.nvim_get_current_buf()
  local found = chat.client()
  local row = api.nvim_win_get_cursor(0)[1] - 1
  marks.with_hunks_at(bufnr, row, row, function(hunks)
    if found and hunks[1] then
      on_found(found, hunks[1])
    else
      tell("no change here")
    end
  end)
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

return M
