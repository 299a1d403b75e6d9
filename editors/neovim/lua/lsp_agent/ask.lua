--- Questions of an agent's: shown in its chat, and asked with |vim.ui.select()|.

local config = require("lsp_agent.config")
local tell = require("lsp_agent.tell")

local M = {}

-- How long nobody must have typed before a picker comes up: it would take the next keys.
local PAUSE_MS = 400

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

-- What the detail of a question says beyond its title.
---@param question lsp_agent.Question
---@return string[]
local function detail_of(question)
  local lines = {}
  for _, paragraph in ipairs(vim.split(vim.trim(question.detail or ""), "\n\n")) do
    if paragraph ~= "" and not question.title:find(vim.trim(paragraph), 1, true) then
      vim.list_extend(lines, vim.split(paragraph, "\n"))
    end
  end
  return lines
end

---@param question lsp_agent.Question
function M.select(question)
  vim.ui.select(question.options, {
    prompt = table.concat({ question.title, unpack(detail_of(question)) }, "\n"),
    kind = "lsp_agent_question",
    format_item = function(option)
      return option.name
    end,
  }, function(option)
    answer(question, option and option.optionId)
  end)
end

-- Brings up the picker once the person pauses in Normal mode.
---@param question lsp_agent.Question
local function select_at_pause(question)
  if not awaited[key_of(question)] then
    return
  end
  local idle = vim.uv.now() - typed_at >= PAUSE_MS
  if idle and vim.api.nvim_get_mode().mode == "n" then
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

---@param session lsp_agent.Session
---@param question lsp_agent.Question
function M.show(session, question)
  local body = detail_of(question)
  for number, option in ipairs(question.options) do
    table.insert(body, ("  %d. %s"):format(number, option.name))
  end
  table.insert(body, "  Enter on an answer chooses it, `:Agent answer` asks.")
  local header = "? " .. question.title:gsub("\n.*", " …")
  session.transcript:block(name_of(question), header, { folds = false })
  session.transcript:update(name_of(question), { body = body })
end

---@param session lsp_agent.Session
---@param question lsp_agent.Question
---@param option_id? string
function M.answered(session, question, option_id)
  awaited[key_of(question)] = nil -- it may have been answered elsewhere
  local said = "not answered"
  for _, option in ipairs(question.options) do
    if option.optionId == option_id then
      said = option.name
    end
  end
  session.transcript:update(name_of(question), { body = { "  → " .. said } })
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
