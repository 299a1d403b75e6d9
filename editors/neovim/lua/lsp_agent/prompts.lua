--- Prompts on their way to an agent. Each stands at the end of its conversation until its turn
--- starts: while the server starts, while its session is taken up again, behind others. One that
--- comes to nothing goes back to where prompts are written.

local M = {}

local NO_FILE = "open a file first: its folder is the one that an agent works in"
local NO_SERVER = "no server runs for this prompt (:Agent restart)"

---@class lsp_agent.Prompt
---@field text string
---@field held lsp_agent.Held[] parts of buffers that go along
---@field context lsp_agent.Context[] what else does
---@field steer? boolean
---@field confined? boolean the agent may change only the lines that are held for it
---@field origin? lsp_agent.Origin where it was written, if not in the chat
---@field quiet? boolean the chat is not opened for it
---@field turn? string the id of its turn, once the server has taken it
---@field sent? boolean
---@field stopped? boolean not to be sent any more

--- What was written beside a text is told there of its prompt.
---@class lsp_agent.Origin
---@field on_event fun(event: table) of its turn, the last being `turnEnded`
---@field came_back fun(text: string) it was refused or dropped

---@param session lsp_agent.Session
local function show(session)
  local lines = {}
  for _, prompt in ipairs(session.prompts) do
    vim.list_extend(lines, { "## You, waiting", "" })
    vim.list_extend(lines, vim.split(vim.trim(prompt.text), "\n"))
    table.insert(lines, "")
  end
  session.transcript:set_tail(lines)
end

-- Takes a prompt off the list.
---@param session lsp_agent.Session
---@param prompt lsp_agent.Prompt
local function take(session, prompt)
  session.prompts = vim.tbl_filter(function(each)
    return each ~= prompt
  end, session.prompts)
  show(session)
end

-- The prompt of a turn, or the first one that has none.
---@param session lsp_agent.Session
---@param turn? string
---@return lsp_agent.Prompt?
local function find(session, turn)
  for _, prompt in ipairs(session.prompts) do
    if prompt.turn == turn then
      return prompt
    end
  end
end

-- The agent has a prompt, which will not come back.
---@param session lsp_agent.Session
---@param prompt lsp_agent.Prompt
local function hand_over(session, prompt)
  take(session, prompt)
  if session.handed ~= prompt.turn then
    session.handed, session.origin = prompt.turn, prompt.origin
  end
  require("lsp_agent.context").let_go(prompt.held)
end

-- Hands a prompt back to the person, where it was written.
---@param prompt lsp_agent.Prompt
local function return_to_person(prompt)
  if prompt.origin then
    require("lsp_agent.context").let_go(prompt.held)
    prompt.origin.came_back(prompt.text)
  else
    require("lsp_agent.context").give_back(prompt.held)
    require("lsp_agent.chat").give_back(prompt.text)
  end
end

---@param session lsp_agent.Session
---@param prompt lsp_agent.Prompt
local function give_back(session, prompt)
  take(session, prompt)
  return_to_person(prompt)
end

---@param session lsp_agent.Session
---@param prompt lsp_agent.Prompt
---@param reason string
local function refuse(session, prompt, reason)
  session.asking = nil
  give_back(session, prompt)
  session.transcript:append(vim.split(reason, "\n"), "LspAgentFailed")
  if not require("lsp_agent.chat").is_shown(session) then
    require("lsp_agent.tell")(reason, vim.log.levels.ERROR)
  end
end

---@param session lsp_agent.Session
---@param prompt lsp_agent.Prompt
---@param running? string the turn that ran when it was sent
---@param result { turnId: string }
local function taken(session, prompt, running, result)
  session.asking = nil
  prompt.turn = result.turnId
  local joins = result.turnId == running or result.turnId == session.handed
  if prompt.steer and joins then -- no turn of its own will tell of it
    hand_over(session, prompt)
    session.transcript:append({ "## You, while it works", "" }, "LspAgentYou")
    session.transcript:append(vim.split(vim.trim(prompt.text), "\n"))
  elseif session.begun == result.turnId then -- told of before this answer
    hand_over(session, prompt)
    if session.turn ~= result.turnId then -- its end, too
      M.on_event(session, { type = "turnEnded", turnId = result.turnId })
    end
  elseif session.dropped == result.turnId then -- this too
    give_back(session, prompt)
  end
end

-- Takes a step towards the agent. One that raises, as another plugin's autocommand may, is the end
-- of this prompt and not of all that come after it.
---@param session lsp_agent.Session
---@param prompt lsp_agent.Prompt
---@param step fun(...)
local function try(session, prompt, step, ...)
  local fine, err = pcall(step, ...)
  if not fine then
    refuse(session, prompt, (tostring(err):gsub("\nstack traceback:.*", "")))
    M.advance(session)
  end
end

---@param session lsp_agent.Session
---@param prompt lsp_agent.Prompt
---@param to vim.lsp.Client
---@param answered fun(): boolean whether the answer is still waited for
local function send(session, prompt, to, answered)
  local context = require("lsp_agent.context")
  local with = context.named(prompt.text, to)
  vim.list_extend(with, context.resolve(prompt.held, to))
  vim.list_extend(with, prompt.context)
  local running = session.turn
  local argument = { text = prompt.text, sessionId = session.id, context = with }
  argument.whenBusy = prompt.steer and "steer" or nil
  argument.range = prompt.confined and "confined" or nil
  prompt.sent = true
  require("lsp_agent.client").execute(to, "lspAgent.prompt", argument, function(result)
    if answered() then
      session.id = session.id or result.sessionId
      taken(session, prompt, running, result)
      M.advance(session)
    end
  end, function(err)
    if answered() then
      refuse(session, prompt, err.message)
      M.advance(session)
    end
  end)
end

--- Sends the first one that is not sent, if none is under way; one that was stopped goes back, after
--- those before it.
---@param session lsp_agent.Session
function M.advance(session)
  local prompt = find(session)
  while prompt and prompt.stopped and prompt == session.prompts[1] do
    give_back(session, prompt)
    prompt = find(session)
  end
  if session.asking or not prompt or prompt.stopped then
    return
  end
  local attempt = {}
  session.asking = attempt
  local function awaited()
    return session.asking == attempt
  end
  require("lsp_agent.client").when_ready(function(to)
    if not awaited() then
      return
    elseif not to then
      refuse(session, prompt, NO_SERVER)
      M.advance(session)
      return
    end
    attempt.sent = true
    require("lsp_agent.sessions").when_open(session, to, function()
      if awaited() then
        try(session, prompt, send, session, prompt, to, awaited)
      end
    end)
  end, session.project.root)
end

--- Takes a prompt for the session that the chat's windows show, or that of the buffer's project.
---@param prompt lsp_agent.Prompt
function M.write(prompt)
  require("lsp_agent.history").add(prompt.text)
  local chat = require("lsp_agent.chat")
  local session = chat.session()
  if not session then
    return_to_person(prompt)
    require("lsp_agent.tell")(NO_FILE, vim.log.levels.WARN)
    return
  end
  table.insert(session.prompts, prompt)
  show(session)
  local shown, err = true, nil
  if require("lsp_agent.config").options.chat.open and not prompt.quiet then
    shown, err = pcall(chat.open)
  end
  if not prompt.quiet then
    require("lsp_agent.follow").all_to_end(session.transcript:buffer())
  end
  M.advance(session) -- whether or not the chat has room
  if not shown then
    error(err, 0)
  end
end

--- Tells where a prompt was written of its turn.
---@param session lsp_agent.Session
---@param event table
function M.on_event(session, event)
  local origin = session.origin
  if origin and event.turnId == session.handed then
    if event.type == "turnEnded" then
      session.origin = nil
    end
    origin.on_event(event)
  end
end

--- A turn has started, whose prompt the conversation tells from now on.
---@param session lsp_agent.Session
---@param turn string
function M.started(session, turn)
  session.begun = turn
  local prompt = find(session, turn)
  if prompt then
    hand_over(session, prompt)
    M.advance(session)
  end
end

--- A turn has ended; one that had not started was dropped.
---@param session lsp_agent.Session
---@param turn string
---@return boolean dropped
function M.ended(session, turn)
  local prompt = find(session, turn)
  if prompt then
    give_back(session, prompt)
    M.advance(session)
  elseif session.begun ~= turn then -- it is told which prompt's it was
    session.dropped = turn
  end
  return session.begun ~= turn
end

--- The person has stopped the session: what is not sent yet is not to be sent.
---@param session lsp_agent.Session
function M.stopped(session)
  local first = find(session)
  if first and not first.sent then
    session.asking = nil
  end
  for _, prompt in ipairs(session.prompts) do
    prompt.stopped = not prompt.turn and not prompt.sent
  end
  M.advance(session)
end

--- The session is closed, or its server gone: what was sent and has not started comes back. Only
--- what still waits for a server goes on to wait, for the next one.
---@param session lsp_agent.Session
---@param closed boolean
function M.dropped(session, closed)
  local waits = not closed and session.asking and not session.asking.sent
  if not waits then
    session.asking = nil
  end
  local gone = { type = "turnEnded", turnId = session.handed, stopReason = "aborted" }
  M.on_event(session, gone)
  for _, prompt in ipairs(vim.list_slice(session.prompts)) do
    if prompt.turn or not waits then
      give_back(session, prompt)
    end
  end
end

return M
