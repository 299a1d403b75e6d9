--- Questions of an agent's: shown in its chat and in a corner of the screen, and answered with
--- |vim.ui.select()| once the person opens them. None opens by itself: it would take the next keys.

local config = require("lsp_agent.config")
local corner = require("lsp_agent.ask_corner")
local guard = require("lsp_agent.ask_guard")
local tell = require("lsp_agent.tell")
local window = require("lsp_agent.ask_window")

local M = {}

-- What every picker shows in full, in cells. A longer text is read in a window of its own.
local ONE_LINE = 60

-- The answers that are awaited, by client and question: each is called once.
---@type table<string, fun(option_id?: string, reason?: string)>
local awaited = {}

-- Their questions, oldest first.
---@type lsp_agent.Question[]
local waiting = {}

---@param question lsp_agent.Question
---@return string
local function key_of(question)
  return ("%d %s"):format(question.client_id, question.questionId)
end

-- Nobody awaits its answer any more.
---@param question lsp_agent.Question
local function forget(question)
  awaited[key_of(question)] = nil
  waiting = vim.tbl_filter(function(each)
    return key_of(each) ~= key_of(question)
  end, waiting)
  M.refresh()
end

---@param question lsp_agent.Question
---@param option_id? string
---@param reason? string
local function answer(question, option_id, reason)
  local reply = awaited[key_of(question)]
  forget(question)
  if reply then
    reply(option_id, reason)
  end
end

-- All that the person decides on: the title, then the detail but for a first line that the title
-- ends with.
---@param question lsp_agent.Question
---@return string[]
local function text_of(question)
  local lines = vim.split(question.title, "\n")
  local detail = vim.split(question.detail or "", "\n")
  if vim.endswith(question.title, vim.trim(detail[1])) then
    table.remove(detail, 1)
  end
  for _, line in ipairs(detail) do
    table.insert(lines, line)
  end
  while vim.trim(lines[#lines]) == "" and #lines > 1 do
    table.remove(lines)
  end
  return lines
end

---@param question lsp_agent.Question
---@return string[]
local function answers_of(question)
  local lines = {}
  for number, option in ipairs(question.options) do
    table.insert(lines, ("  %d. %s"):format(number, option.name))
  end
  return lines
end

-- Whether a picker shows all of it, its answers too.
---@param question lsp_agent.Question
---@return boolean
local function fits_picker(question)
  local text = text_of(question)
  local fits = #text == 1 and vim.fn.strdisplaywidth(text[1]) <= vim.o.columns - 4
  return fits
    and vim.iter(vim.list_extend(text, answers_of(question))):all(function(line)
      return vim.fn.strdisplaywidth(line) <= ONE_LINE
    end)
end

--- Opens it, for the person who wants to answer.
---@param question lsp_agent.Question
function M.select(question)
  guard.begin()
  if not fits_picker(question) then
    window.open(key_of(question), text_of(question), answers_of(question), function(number)
      M.answer(question, number)
    end)
    return
  end
  vim.ui.select(question.options, {
    prompt = question.title,
    kind = "lsp_agent_question",
    format_item = function(option)
      return option.name
    end,
  }, function(option)
    if guard.all_meant() then
      if option then -- else the question stays open
        answer(question, option.optionId)
      end
    elseif awaited[key_of(question)] then
      vim.cmd.redraw() -- below what a picker has left on the screen it would ask for Enter
      tell("not answered: that was typed as the question opened", vim.log.levels.WARN)
    end
  end)
end

---@return string
local function how_to_answer()
  local keymaps = config.options.keymaps
  local key = keymaps and keymaps.answer
  return (key and key .. ", " or "") .. "click, :Agent answer"
end

--- Brings the corner of the screen up to date. Beside the command-line window there can be none.
function M.refresh()
  local session = waiting[1] and require("lsp_agent.chat").session()
  local question = M.open(session)
  if vim.fn.getcmdwintype() ~= "" then
    return
  elseif question and awaited[key_of(question)] and config.options.ask == "select" then
    corner.show(text_of(question)[1], how_to_answer())
  else
    corner.hide()
  end
end

--- `agent/ask`
---@async
---@param question lsp_agent.Question
---@param context lsp.HandlerContext
---@return { optionId: string, reason?: string }|vim.NIL
function M.ask(_, question, context)
  local thread = assert(coroutine.running())
  question.client_id, question.came_at = context.client_id, guard.now()
  awaited[key_of(question)] = function(option_id, reason)
    assert(coroutine.resume(thread, option_id, reason))
  end
  table.insert(waiting, question)
  vim.schedule(function()
    M.refresh()
    if config.options.ask == "chat" then
      tell(question.title .. " (:Agent answer)", vim.log.levels.WARN)
    end
  end)
  local option_id, reason = coroutine.yield()
  return option_id and { optionId = option_id, reason = reason } or vim.NIL
end

---@param question lsp_agent.Question
---@return string
local function name_of(question)
  return "question " .. question.questionId
end

-- What follows the first line, as Markdown has what is to be read as it is.
---@param text string[]
---@return string[]
local function indented(text)
  return vim.tbl_map(function(line)
    return "    " .. line
  end, vim.list_slice(text, 2))
end

---@param session lsp_agent.Session
---@param question lsp_agent.Question
function M.show(session, question)
  question.came_at = guard.now()
  local text = text_of(question)
  local body = vim.list_extend(indented(text), answers_of(question))
  table.insert(body, "  Enter on an answer chooses it, `:Agent answer` asks.")
  session.transcript:block(name_of(question), "? " .. text[1], { folds = false })
  session.transcript:update(name_of(question), { body = body })
end

---@param session lsp_agent.Session
---@param question lsp_agent.Question
---@param option_id? string
function M.answered(session, question, option_id)
  forget(question) -- it may have been answered elsewhere
  window.close(key_of(question))
  local said = "not answered"
  for _, option in ipairs(question.options) do
    if option.optionId == option_id then
      said = option.name
    end
  end
  local body = vim.list_extend(indented(text_of(question)), { "  → " .. said })
  session.transcript:update(name_of(question), { body = body })
end

--- The option that stands on that line of the conversation, if the question is open there: what
--- an agent writes may look like one.
---@param session lsp_agent.Session
---@param question lsp_agent.Question
---@param row integer from 0
---@return integer? number
function M.option_at(session, question, row)
  local header, after = session.transcript:rows_of(name_of(question))
  local number = header and after and row - (after - 1 - #question.options) + 1
  return number and question.options[number] and number
end

--- Answers with the option of that number, unless the question has come as that was typed: it
--- may stand where another one stood.
---@param question lsp_agent.Question
---@param number integer
---@param reason? string for the agent, of a denial
function M.answer(question, number, reason)
  local option = question.options[number]
  if option and guard.is_new(question.came_at) then
    tell("not answered: the question has only just come", vim.log.levels.WARN)
  elseif option and reason and option.kind ~= "deny" then
    tell("not answered: a reason is for a denial", vim.log.levels.WARN)
  elseif option then
    answer(question, option.optionId, reason)
  else
    tell(("the question has no option %d"):format(number), vim.log.levels.WARN)
  end
end

--- The one that is open longest, of the session or else of any.
---@param session? lsp_agent.Session
---@return lsp_agent.Question?
function M.open(session)
  return session and session.questions[1] or waiting[1]
end

local function listen()
  local click = vim.keycode("<LeftMouse>")
  vim.on_key(function(key, typed)
    if typed == nil or typed ~= "" then
      guard.typed()
    end
    if key == click and corner.has_mouse() then
      vim.schedule(function()
        vim.cmd.stopinsert()
        local question = M.open(require("lsp_agent.chat").session())
        if question then
          M.select(question)
        end
      end)
      return "" -- 0.10 gives it to the window below all the same
    end
  end, vim.api.nvim_create_namespace("lsp_agent.ask"))
  -- A window that floats is of one tab page, and which question is next depends on the buffer.
  vim.api.nvim_create_autocmd({ "BufEnter", "TabEnter", "VimResized", "CmdwinLeave" }, {
    group = vim.api.nvim_create_augroup("lsp_agent.ask", {}),
    callback = function()
      if waiting[1] then
        vim.schedule(M.refresh)
      end
    end,
  })
end

listen()

return M
