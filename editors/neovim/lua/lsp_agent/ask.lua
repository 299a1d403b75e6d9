--- Questions of an agent's: shown in its chat, and asked with |vim.ui.select()|.

local config = require("lsp_agent.config")
local tell = require("lsp_agent.tell")
local window = require("lsp_agent.ask_window")

local M = {}

-- How long nobody must have typed before a picker comes up: it would take the next keys.
local PAUSE_MS = 400

-- What every picker shows in full, in cells. A longer text is read in a window of its own.
local ONE_LINE = 60

-- The answers that are awaited, by client and question: each is called once.
---@type table<string, fun(option_id?: string)>
local awaited = {}

local typed_at = 0

---@param question lsp_agent.Question
---@return string
local function key_of(question)
  return ("%d %s"):format(question.client_id, question.questionId)
end

---@param question lsp_agent.Question
---@param option_id? string
local function answer(question, option_id)
  local reply = awaited[key_of(question)]
  awaited[key_of(question)] = nil
  if reply then
    reply(option_id)
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

---@param question lsp_agent.Question
function M.select(question)
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
    answer(question, option and option.optionId)
  end)
end

-- Brings up the question once the person pauses in Normal mode, and no other one is being read.
-- Beside the command-line window no other can be opened.
---@param question lsp_agent.Question
local function select_at_pause(question)
  if not awaited[key_of(question)] then
    return
  end
  local idle = vim.uv.now() - typed_at >= PAUSE_MS and vim.api.nvim_get_mode().mode == "n"
  local room = vim.fn.getcmdwintype() == "" and not window.is_open()
  if idle and room then
    M.select(question)
  else
    vim.defer_fn(function()
      select_at_pause(question)
    end, PAUSE_MS)
  end
end

--- `agent/ask`
---@param question lsp_agent.Question
---@param context lsp.HandlerContext
---@return { optionId: string }|vim.NIL
function M.ask(_, question, context)
  local thread = coroutine.running()
  question.client_id = context.client_id
  awaited[key_of(question)] = function(option_id)
    assert(coroutine.resume(thread, option_id))
  end
  vim.schedule(function()
    tell(question.title .. " (:Agent answer)", vim.log.levels.WARN)
    if config.options.ask == "select" then
      select_at_pause(question)
    end
  end)
  local option_id = coroutine.yield()
  return option_id and { optionId = option_id } or vim.NIL
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
  awaited[key_of(question)] = nil -- it may have been answered elsewhere
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
  local number = header and row - (after - 1 - #question.options) + 1
  return number and question.options[number] and number
end

--- Answers with the option of that number.
---@param question lsp_agent.Question
---@param number integer
function M.answer(question, number)
  local option = question.options[number]
  if option then
    answer(question, option.optionId)
  else
    tell(("the question has no option %d"):format(number), vim.log.levels.WARN)
  end
end

--- The one that is open longest.
---@param session lsp_agent.Session
---@return lsp_agent.Question?
function M.open(session)
  return session.questions[1]
end

--- Called once, by `plugin/lsp_agent.lua`.
function M.listen()
  vim.on_key(function(_, typed)
    if typed == nil or typed ~= "" then
      typed_at = vim.uv.now()
    end
  end, vim.api.nvim_create_namespace("lsp_agent.ask"))
end

return M
