--- Prompts that are asked for in place, at some lines: written in a small window below them, what
--- becomes of them told beside them, their changes confined to them.

local context = require("lsp_agent.context")
local extent = require("lsp_agent.extent")
local key_hints = require("lsp_agent.key_hints")
local marks = require("lsp_agent.marks")
local tell = require("lsp_agent.tell")

local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace("lsp_agent.inline")

---@class lsp_agent.Inline
---@field bufnr integer
---@field mark? integer
---@field text string the last prompt
---@field state lsp_agent.InlineState
---@field about? string more about the state
---@field said string what the agent says in this step
---@field turns table<string, true> the ids of its turns

---@alias lsp_agent.InlineState "waits"|"works"|"ends"|"answered"|"unchanged"|"failed"

---@type lsp_agent.Inline[]
local asked = {}

-- What was written and not sent.
local kept = ""

---@param each lsp_agent.Inline
---@return integer first row, from 0
---@return integer last inclusive
local function rows(each)
  local first, last
  if each.mark then
    first, last = extent(each.bufnr, namespace, each.mark)
  end
  if not first or not last then
    return 0, 0
  end
  local within = last[2] == 0 and last[1] > first[1]
  return first[1], within and last[1] - 1 or last[1]
end

---@param bufnr integer
---@param row integer from 0
---@return lsp_agent.Inline?
local function find(bufnr, row)
  for _, each in ipairs(asked) do
    if each.bufnr == bufnr then
      local first, last = rows(each)
      if row >= first and row <= last then
        return each
      end
    end
  end
end

---@param each lsp_agent.Inline
local function forget(each)
  asked = vim.tbl_filter(function(other)
    return other ~= each
  end, asked)
  if each.mark and api.nvim_buf_is_valid(each.bufnr) then
    api.nvim_buf_del_extmark(each.bufnr, namespace, each.mark)
  end
end

-- The open changes of its turns.
---@param each lsp_agent.Inline
---@return lsp_agent.Hunk[]
local function hunks_of(each)
  local first, last = rows(each)
  return vim.tbl_filter(function(hunk)
    return each.turns[hunk.turn] == true
  end, marks.hunks_at(each.bufnr, first, last))
end

---@param each lsp_agent.Inline
---@return string
local function description(each)
  local more = { { "again", "again" }, { "inline", "refine" } }
  if each.state == "answered" then
    local proposed = hunks_of(each)[1].proposed
    local decisions = {
      { "keep", proposed and "apply" or "keep" },
      { "undo", proposed and "reject" or "undo" },
    }
    return key_hints(vim.list_extend(decisions, more))
  elseif each.state == "waits" then
    return "agent: waits"
  elseif each.state == "unchanged" or each.state == "failed" then
    local how = each.state == "failed" and "failed" or "no change"
    local why = each.about and (": " .. each.about:gsub("\n.*", "")) or ""
    return ("agent: %s%s  %s"):format(how, why, key_hints(more))
  end
  return "agent: works" .. (each.about and (" · " .. each.about) or "")
end

---@param each lsp_agent.Inline
---@param first integer from 0
---@param last integer inclusive
local function draw(each, first, last)
  local count = api.nvim_buf_line_count(each.bufnr)
  first, last = math.min(first, count - 1), math.min(last, count - 1) -- the last lines may be gone
  local runs = each.state == "waits" or each.state == "works" or each.state == "ends"
  each.mark = api.nvim_buf_set_extmark(each.bufnr, namespace, first, 0, {
    id = each.mark,
    end_row = last,
    end_col = #api.nvim_buf_get_lines(each.bufnr, last, last + 1, true)[1],
    right_gravity = false,
    end_right_gravity = true,
    line_hl_group = runs and "LspAgentContext" or nil,
    virt_text = {
      { description(each), each.state == "failed" and "LspAgentFailed" or "LspAgentState" },
    },
    virt_text_pos = "eol",
    hl_mode = "combine",
  })
end

---@param each lsp_agent.Inline
local function redraw(each)
  if api.nvim_buf_is_loaded(each.bufnr) then
    draw(each, rows(each))
  else
    forget(each)
  end
end

---@param each lsp_agent.Inline
---@param state lsp_agent.InlineState
---@param about? string
local function set_state(each, state, about)
  each.state, each.about = state, about
  redraw(each)
end

---@param each lsp_agent.Inline
---@param event table
local function ended(each, event)
  if event.stopReason == "endTurn" then
    set_state(each, "ends")
    marks.refresh(each.bufnr) -- and then `on_marks`
  else
    local why = event.error or (event.stopReason == "aborted" and "stopped" or event.stopReason)
    set_state(each, "failed", why)
  end
end

---@param each lsp_agent.Inline
---@return lsp_agent.Origin
local function origin(each)
  return {
    on_event = function(event)
      each.turns[event.turnId] = true
      if event.type == "turnStarted" then
        set_state(each, "works")
      elseif event.type == "stepStarted" then
        each.said = ""
      elseif event.type == "textDelta" then
        each.said = each.said .. event.text
      elseif event.type == "toolCall" then
        local path = event.paths[1] and vim.fs.basename(event.paths[1])
        set_state(each, "works", path and ("%s %s"):format(event.tool, path) or event.tool)
      elseif event.type == "turnEnded" then
        ended(each, event)
      end
    end,
    came_back = function(text)
      kept = kept == "" and text or kept .. "\n" .. text
      forget(each)
    end,
  }
end

-- Sends a prompt for the lines of a record.
---@param each lsp_agent.Inline
---@param first integer row, from 0
---@param last integer inclusive
local function send(each, first, last)
  each.state, each.about, each.said = "waits", nil, ""
  draw(each, first, last)
  require("lsp_agent.prompts").write({
    text = each.text,
    held = { context.of_lines(each.bufnr, first + 1, last + 1) },
    context = {},
    confined = true,
    quiet = true,
    origin = origin(each),
  })
end

---@param bufnr integer
---@param held lsp_agent.Held
---@param refined? lsp_agent.Inline
---@param text string
local function ask(bufnr, held, refined, text)
  local first, last = context.rows(held)
  context.let_go({ held })
  if not first or not last then -- the buffer has gone
    kept = text
    return
  end
  local each = refined
  if not each then
    each = { bufnr = bufnr, text = text, state = "waits", said = "", turns = {} }
    table.insert(asked, each)
  end
  each.text = text
  send(each, first, last)
end

--- Asks for a change of the lines of a command's range, or the cursor's; on an answer, for another
--- of its lines.
---@param text string "" has it written first
---@param options vim.api.keyset.create_user_command.command_args
function M.open(text, options)
  local bufnr = api.nvim_get_current_buf()
  if not require("lsp_agent.client").is_file(bufnr) then
    tell("ask in a file: the changes stay within its lines", vim.log.levels.WARN)
    return
  end
  local first, last, refined = options.line1, options.line2, nil
  if options.range == 0 then
    refined = find(bufnr, first - 1)
    if refined and (refined.state == "waits" or refined.state == "works") then
      tell("the agent works on these lines")
      return
    elseif refined then
      first, last = rows(refined)
      first, last = first + 1, last + 1
    end
  end
  local held = context.of_lines(bufnr, first, last)
  if text ~= "" then
    ask(bufnr, held, refined, text)
    return
  end
  require("lsp_agent.float").open({
    row = math.min(last, vim.fn.line("w$")) - 1,
    title = refined and "refine" or "change " .. (first == last and "this line" or "these lines"),
    text = kept,
    on_send = function(written)
      kept = ""
      ask(bufnr, held, refined, written)
    end,
    on_leave = function(written)
      kept = written
      context.let_go({ held })
    end,
  })
end

--- Undoes what is left of the answer under the cursor and asks the same again; what cannot be
--- undone stays as it is.
function M.again()
  local bufnr = api.nvim_get_current_buf()
  local each = find(bufnr, api.nvim_win_get_cursor(0)[1] - 1)
  if not each or each.state == "waits" or each.state == "works" or each.state == "ends" then
    tell(each and "the agent works on these lines" or "nothing was asked here")
    return
  end
  local hunks = hunks_of(each)
  if hunks[1] then
    local asks = require("lsp_agent.review").decide_on(bufnr, hunks, "undo", function(all)
      if all then
        send(each, rows(each))
      else
        each.state = "answered"
      end
    end)
    each.state = asks and "waits" or each.state -- with no changes it would be over
  else
    send(each, rows(each))
  end
end

--- The open changes of the answer at a row.
---@param bufnr integer
---@param row integer from 0
---@return lsp_agent.Hunk[]? nil where none is
function M.hunks_at(bufnr, row)
  local each = find(bufnr, row)
  return each and each.state == "answered" and hunks_of(each) or nil
end

--- The marks of a buffer are shown anew: with its last change an answer is over.
---@param bufnr integer
function M.on_marks(bufnr)
  for _, each in ipairs(vim.list_slice(asked)) do
    if each.bufnr == bufnr and each.state == "ends" then
      if hunks_of(each)[1] then
        set_state(each, "answered")
      else
        set_state(each, "unchanged", each.said ~= "" and vim.trim(each.said) or nil)
      end
    elseif each.bufnr == bufnr and each.state == "answered" then
      if hunks_of(each)[1] then
        redraw(each)
      else
        forget(each)
      end
    end
  end
end

--- The cursor has moved: what came to nothing is told until it is elsewhere.
---@param bufnr integer
---@param row integer from 0
function M.on_cursor(bufnr, row)
  for _, each in ipairs(vim.list_slice(asked)) do
    local over = each.state == "unchanged" or each.state == "failed"
    if over and each.bufnr == bufnr and find(bufnr, row) ~= each then
      forget(each)
    end
  end
end

return M
