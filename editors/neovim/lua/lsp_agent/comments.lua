--- A person's comments on the agent's changes, or on other lines: written one by one, sent together.

local chat = require("lsp_agent.chat")
local client = require("lsp_agent.client")
local context = require("lsp_agent.context")
local extent = require("lsp_agent.extent")
local marks = require("lsp_agent.marks")
local tell = require("lsp_agent.tell")

local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace("lsp_agent.comments")

---@class lsp_agent.Comment
---@field root string of the project
---@field path string
---@field bufnr integer
---@field mark? integer
---@field first integer row when it was last looked at, from 0
---@field last integer inclusive
---@field text string
---@field hunk? lsp_agent.Hunk what it is about, as it was then
---@field sent boolean

---@type lsp_agent.Comment[]
local comments = {}

-- What was written and neither sent nor thrown away.
local kept = ""

-- Where a comment is, which is remembered.
---@param comment lsp_agent.Comment
---@return integer first row, from 0
---@return integer last inclusive
local function rows(comment)
  if comment.mark and api.nvim_buf_is_loaded(comment.bufnr) then
    local first, last = extent(comment.bufnr, namespace, comment.mark)
    if first and last then
      comment.first, comment.last = first[1], math.max(last[1], first[1])
    end
  end
  return comment.first, comment.last
end

---@param comment lsp_agent.Comment
---@param first integer row, from 0
---@param last integer inclusive
local function draw(comment, first, last)
  if not api.nvim_buf_is_loaded(comment.bufnr) then
    return
  end
  local count = api.nvim_buf_line_count(comment.bufnr)
  first, last = math.min(first, count - 1), math.min(last, count - 1)
  local line = comment.text:gsub("\n.*", " …")
  local highlight = comment.sent and "LspAgentState" or "LspAgentComment"
  comment.mark = api.nvim_buf_set_extmark(comment.bufnr, namespace, first, 0, {
    id = comment.mark,
    end_row = last,
    end_col = #api.nvim_buf_get_lines(comment.bufnr, last, last + 1, true)[1],
    right_gravity = false,
    end_right_gravity = true,
    virt_text = { { ("● %s%s"):format(line, comment.sent and " (sent)" or ""), highlight } },
    virt_text_pos = "eol",
    hl_mode = "combine",
  })
end

---@param comment lsp_agent.Comment
local function redraw(comment)
  draw(comment, rows(comment))
end

-- Takes its mark away, and remembers where it was.
---@param comment lsp_agent.Comment
local function unmark(comment)
  rows(comment)
  if comment.mark and api.nvim_buf_is_valid(comment.bufnr) then
    api.nvim_buf_del_extmark(comment.bufnr, namespace, comment.mark)
  end
  comment.mark = nil
end

---@param gone fun(comment: lsp_agent.Comment): boolean
local function remove(gone)
  vim.iter(comments):filter(gone):each(unmark)
  comments = vim.tbl_filter(function(comment)
    return not gone(comment)
  end, comments)
end

---@param bufnr integer
---@param row integer from 0
---@return lsp_agent.Comment?
local function find(bufnr, row)
  for _, comment in ipairs(comments) do
    local first, last = rows(comment)
    if comment.bufnr == bufnr and row >= first and row <= last then
      return comment
    end
  end
end

-- Those of the project that is worked in here, by file and line.
---@return lsp_agent.Comment[]
local function here()
  local root = chat.root()
  local found = vim.tbl_filter(function(comment)
    return comment.root == root
  end, comments)
  table.sort(found, function(one, other)
    if one.path ~= other.path then
      return one.path < other.path
    end
    return rows(one) < rows(other)
  end)
  return found
end

-- A buffer that goes takes its marks along; the comments are there when the file is back, maybe in
-- another one.
local function follow_buffers()
  local group = api.nvim_create_augroup("lsp_agent.comments", {})
  local function on(event, callback)
    api.nvim_create_autocmd(event, {
      group = group,
      callback = function(of)
        local path = api.nvim_buf_get_name(of.buf)
        for _, comment in ipairs(comments) do
          if comment.path == path then
            callback(comment, of.buf)
          end
        end
      end,
    })
  end
  on("BufUnload", unmark)
  on({ "BufReadPost", "BufNewFile" }, function(comment, bufnr)
    comment.bufnr = bufnr
    redraw(comment)
  end)
end

---@param bufnr integer
---@param first integer row, from 0
---@param last integer inclusive
---@param hunk? lsp_agent.Hunk
---@param text string
local function add(bufnr, first, last, hunk, text)
  local attached = client.all(bufnr)[1]
  local comment = {
    root = attached and client.root_of(attached) or client.root(bufnr),
    path = api.nvim_buf_get_name(bufnr),
    bufnr = bufnr,
    first = first,
    last = last,
    text = text,
    hunk = hunk,
    sent = false,
  }
  table.insert(comments, comment)
  follow_buffers()
  redraw(comment)
end

-- Has a text written below some lines.
---@param bufnr integer
---@param first integer row, from 0
---@param last integer inclusive
---@param text string
---@param on_text fun(text: string, first: integer, last: integer) where these are then
local function compose(bufnr, first, last, text, on_text)
  local held = context.of_lines(bufnr, first + 1, last + 1)
  require("lsp_agent.float").open({
    row = math.min(last, vim.fn.line("w$") - 1),
    title = "comment",
    text = text,
    on_send = function(written)
      local from, to = context.rows(held)
      context.let_go({ held })
      if from and to then
        on_text(written, from, to)
      end
    end,
    on_leave = function(written)
      context.let_go({ held })
      kept = written ~= text and written or kept
    end,
  })
end

-- Changes what a comment says.
---@param comment lsp_agent.Comment
---@param text string "" has it written first
local function change(comment, text)
  local function changed(written)
    comment.text, comment.sent = written, false
    redraw(comment)
  end
  if text ~= "" then
    changed(comment.text .. "\n" .. text)
  else
    local first, last = rows(comment)
    compose(comment.bufnr, first, last, comment.text, changed)
  end
end

--- Comments on the hunk under the cursor, else on the lines of a command's range or the cursor's;
--- where a comment is already, says more in it.
---@param text string "" has it written first
---@param options vim.api.keyset.create_user_command.command_args
function M.write(text, options)
  local bufnr = api.nvim_get_current_buf()
  if not client.is_file(bufnr) then
    tell("comment on a change, in its file", vim.log.levels.WARN)
    return
  end
  local first, last, hunk = options.line1 - 1, options.line2 - 1, nil
  if options.range == 0 then
    local there = find(bufnr, first)
    if there then
      change(there, text)
      return
    end
    hunk = marks.hunks_at(bufnr, first)[1]
  end
  if hunk then
    first, last = marks.rows(bufnr, hunk)
  end
  if text ~= "" then
    add(bufnr, first, last, hunk, text)
    return
  end
  compose(bufnr, first, last, kept, function(written, from, to)
    kept = ""
    add(bufnr, from, to, hunk, written)
  end)
end

--- Takes away the comment under the cursor.
function M.remove()
  local comment = find(api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1] - 1)
  if comment then
    remove(function(each)
      return each == comment
    end)
  else
    tell("no comment here")
  end
end

--- Takes away all of this project.
function M.clear()
  local root = chat.root()
  remove(function(comment)
    return comment.root == root
  end)
end

--- Lists those of this project in the quickfix window.
function M.list()
  local items = vim.tbl_map(function(comment)
    local first, last = rows(comment)
    local text = comment.text:gsub("\n", " ")
    return { filename = comment.path, lnum = first + 1, end_lnum = last + 1, text = text }
  end, here())
  if not items[1] then
    tell("no comments")
    return
  end
  vim.fn.setqflist({}, " ", { title = "Comments for the agent", items = items })
  vim.cmd.copen()
end

---@param round lsp_agent.Comment[]
---@param sent boolean
local function mark_sent(round, sent)
  for _, comment in ipairs(round) do
    comment.sent = sent
    redraw(comment)
  end
end

-- They go once the agent has done with them; where it does not get so far they are to be sent anew.
---@param round lsp_agent.Comment[]
---@return lsp_agent.Origin
local function origin(round)
  return {
    on_event = function(event)
      if event.type ~= "turnEnded" then
        return
      elseif event.stopReason == "endTurn" then
        remove(function(comment)
          return comment.sent and vim.list_contains(round, comment)
        end)
      else
        mark_sent(round, false)
      end
    end,
    came_back = function()
      mark_sent(round, false)
    end,
  }
end

--- The marks of a buffer are shown anew: a comment on a hunk is where that is now.
---@param bufnr integer
function M.on_marks(bufnr)
  for _, comment in ipairs(comments) do
    if comment.bufnr == bufnr and comment.hunk then
      for _, hunk in ipairs(marks.all(bufnr)) do
        if hunk.edit_id == comment.hunk.edit_id and hunk.hunk_id == comment.hunk.hunk_id then
          comment.hunk = hunk
          draw(comment, marks.rows(bufnr, hunk))
        end
      end
    end
  end
end

--- Sends those of this project that are not sent as one prompt.
function M.send()
  local round = vim.tbl_filter(function(comment)
    return not comment.sent
  end, here())
  local to = chat.client()
  if not round[1] or not to then
    tell(to and "no comments to send" or "no server runs for these comments (:Agent restart)")
    return
  end
  local told, held = {}, {}
  for _, comment in ipairs(round) do
    vim.fn.bufload(vim.fn.bufadd(comment.path)) -- the server takes texts from the editor alone
    vim.lsp.buf_attach_client(comment.bufnr, to.id)
    local first, last = rows(comment)
    table.insert(held, context.of_lines(comment.bufnr, first + 1, last + 1))
    table.insert(told, {
      path = comment.path:sub(#comment.root + 2),
      first = first + 1,
      last = last + 1,
      text = comment.text,
      old = comment.hunk and comment.hunk.old,
      new = comment.hunk and comment.hunk.new,
      proposed = comment.hunk and comment.hunk.proposed,
    })
  end
  mark_sent(round, true)
  require("lsp_agent.prompts").write({
    text = require("lsp_agent.comment_prompt")(told),
    held = held,
    context = {},
    origin = origin(round),
  })
end

return M
