--- What `agent/event` tells of a session, and how its conversation shows it.

local calls = require("lsp_agent.calls")
local sessions = require("lsp_agent.sessions")
local tell = require("lsp_agent.tell")

local M = {}

local TITLE_LENGTH = 50

-- Of what a call is about, such as a tool's arguments. How much of it is seen is up to the window.
local CALL_LENGTH = 400

-- A plan of more steps is folded.
local SHORT_PLAN = 8

-- Of a running tool's output only the end is shown, in bytes; the result has all of it.
local SHOWN_OF_RUNNING = 4000

-- Events that come many a second and change nothing but the text of the conversation.
local STREAMED =
  { textDelta = true, thinkingDelta = true, toolArgsDelta = true, toolProgress = true }

-- What an agent does next once it has thought.
local ENDS_THOUGHT = {
  textDelta = true,
  toolCallStarted = true,
  toolCall = true,
  stepStarted = true,
  turnEnded = true,
}

-- What the server puts between a prompt and the documents that go along with it.
local CONTEXT = "\n\nContext from the editor:\n\n"

-- As a person would name it in the session's workspace.
---@param session lsp_agent.Session
---@param path string
---@return string
local function shown_path(session, path)
  local root = session.project.root .. "/"
  if vim.startswith(path, root) then
    return path:sub(#root + 1)
  end
  -- One that the agent has from its folder is not to be taken for one from Neovim's.
  return vim.startswith(path, "/") and vim.fn.fnamemodify(path, ":~") or path
end

-- What a tool call is about, in full and in one line.
---@param session lsp_agent.Session
---@param event table
---@return string full
---@return string line
local function tool_titles(session, event)
  local args = type(event.args) == "table" and event.args or {}
  local paths = vim.tbl_map(function(path)
    return shown_path(session, path)
  end, event.paths)
  local about = args.command or table.concat(paths, ", ")
  if about == "" and next(args) then
    about = vim.json.encode(args)
  end
  local full = ("%s: %s"):format(event.tool, about)
  return full, calls.shortened(full:gsub("\n.*", " …"), CALL_LENGTH)
end

---@param content table[]
---@return string
local function text_of(content)
  local texts = {}
  for _, block in ipairs(content) do
    table.insert(texts, block.text or ("(%s)"):format(block.type))
  end
  return table.concat(texts, "\n")
end

-- A tool's output as Markdown has it: indented.
---@param text string
---@return string[]
local function indented(text)
  return vim.tbl_map(function(line)
    return "    " .. line
  end, vim.split(vim.trim(text), "\n"))
end

local endings = {
  aborted = "Stopped.",
  maxTokens = "Cut off: the answer is at its limit of tokens.",
  maxSteps = "Ended: too many steps.",
  refusal = "The model refused.",
}

---@type table<string, fun(session: lsp_agent.Session, event: table)>
local on = {}

function on.turnStarted(session, event)
  require("lsp_agent.prompts").started(session, event.turnId)
  session.busy, session.turn, session.error, session.plan = true, event.turnId, nil, nil
  session.title = session.title or (event.prompt:gsub("\n.*", ""))
  local from, to = event.prompt:find(CONTEXT, 1, true)
  local text = event.prompt:sub(1, from and from - 1)
  session.transcript:pause()
  session.transcript:append({ "## You", "" }, "LspAgentYou")
  session.transcript:append(vim.split(vim.trim(text), "\n"))
  if to then
    local name = "context " .. event.turnId
    local first = event.prompt:sub(to + 1):match("^[^\n]*"):gsub(":$", "")
    session.transcript:block(name, "with " .. first, { folds = true })
    session.transcript:update(name, { body = indented(event.prompt:sub(to + 1)) })
  end
  session.transcript:append({ "## Agent", "" }, "LspAgentAgent")
  if not session.agent then
    sessions.ask_state(session)
  end
end

-- Folded; it grows while the agent thinks, and what it does next ends it. Space is written once a
-- word comes behind it.
function on.thinkingDelta(session, event)
  local thoughts = session.thoughts
  local text = thoughts.space and thoughts.space .. event.text or event.text:gsub("^%s+", "")
  local words = text:match("^.*%S") or ""
  if words == "" and not thoughts.space then
    return
  elseif not thoughts.space then
    thoughts.count = thoughts.count + 1
    local name = "thoughts " .. thoughts.count
    session.transcript:block(name, "thinking", { folds = true })
    session.transcript:update(name, { body = indented("") })
  end
  thoughts.space = text:sub(#words + 1)
  session.transcript:extend("thoughts " .. thoughts.count, (words:gsub("\n", "\n    ")))
end

function on.usage(session, event)
  session.usage = event.cumulative
end

function on.window(session, event)
  session.window = { used = event.used, size = event.size }
end

function on.textDelta(session, event)
  session.transcript:stream(event.text)
end

function on.stepStarted(session)
  session.transcript:pause()
end

-- How many steps of a plan are done, and the one at work, or else the next.
---@param entries { content: string, status: string }[]
---@return string
local function headline(entries)
  local done, current, next_one = 0, nil, nil
  for _, entry in ipairs(entries) do
    if entry.status == "completed" then
      done = done + 1
    elseif entry.status == "in_progress" then
      current = current or entry.content
    else
      next_one = next_one or entry.content
    end
  end
  local count = #entries > 0 and ("Plan %d/%d"):format(done, #entries) or "Plan given up"
  current = current or next_one
  return calls.shortened(current and count .. " · " .. current or count, TITLE_LENGTH)
end

-- One in a turn, which gets on where it is.
function on.plan(session, event)
  local entries = event.entries
  if not session.plan then
    session.plans = session.plans + 1
    session.plan = "plan " .. session.plans
    session.transcript:block(session.plan, headline(entries), { folds = #entries > SHORT_PLAN })
  end
  session.transcript:update(session.plan, {
    header = headline(entries),
    body = vim.tbl_map(function(entry)
      local mark = entry.status == "completed" and "x" or " "
      local hint = entry.status == "in_progress" and " (in progress)" or ""
      return ("- [%s] %s%s"):format(mark, entry.content, hint)
    end, entries),
  })
end

function on.toolCall(session, event)
  local full, line = tool_titles(session, event)
  session.tools[event.toolCallId] = { above = full ~= line and full .. "\n" or "", output = "" }
  session.transcript:block(event.toolCallId, line, {
    state = calls.RUNNING,
    highlight = "LspAgentState",
    folds = true,
  })
  -- What is folded takes one row; without a body it would not be.
  session.transcript:update(event.toolCallId, { body = indented("") })
end

function on.toolProgress(session, event)
  local tool = session.tools[event.toolCallId]
  if tool then
    tool.output = (tool.output .. event.text):sub(-SHOWN_OF_RUNNING)
    session.transcript:update(event.toolCallId, { body = indented(tool.above .. tool.output) })
  end
end

function on.toolResult(session, event)
  local tool = session.tools[event.toolCallId]
  if tool then
    session.tools[event.toolCallId] = nil
    session.transcript:update(event.toolCallId, {
      state = event.isError and calls.FAILED or calls.DONE,
      highlight = event.isError and "LspAgentFailed" or "LspAgentDone",
      body = indented(tool.above .. text_of(event.content)),
    })
  end
end

function on.turnEnded(session, event)
  local dropped = require("lsp_agent.prompts").ended(session, event.turnId)
  if dropped and session.turn then -- another one's
    return
  end
  session.busy, session.turn = #session.queued > 0, nil
  sessions.ask_state(session)
  local text = event.error or endings[event.stopReason]
  local failed = event.stopReason == "error"
  if text and text ~= session.error then
    local highlight = failed and "LspAgentFailed" or "LspAgentState"
    session.transcript:append(vim.split(text, "\n"), highlight)
  end
  if failed then
    session.transcript:append({ ":Agent retry sends it again." }, "LspAgentState")
  end
  if not require("lsp_agent.chat").is_shown(session) then
    tell(text or "done", failed and vim.log.levels.ERROR or nil)
  end
  require("lsp_agent.elsewhere").turn_ended(session, event)
end

function on.error(session, event)
  session.error = event.message
  session.transcript:pause()
  session.transcript:append(vim.split(event.message, "\n"), "LspAgentFailed")
end

function on.notice(session, event)
  if event.level ~= "debug" then
    local failed = event.level == "error" or event.level == "warning"
    local highlight = failed and "LspAgentFailed" or "LspAgentState"
    session.transcript:pause()
    session.transcript:append(vim.split(event.message, "\n"), highlight)
  end
end

function on.compacted(session, event)
  session.window = nil
  session.transcript:pause()
  session.transcript:append({ "*Summarised:*", "" })
  session.transcript:append(vim.split(event.summary, "\n"))
end

-- The conversation is shorter: it is told anew, unless it goes on by then.
function on.rewound(session)
  local client = sessions.client_of(session)
  local begun = session.begun
  session.window, session.error = nil, nil
  if not client then
    return
  end
  local params = { sessionId = session.id }
  require("lsp_agent.client").request(client, "agent/messages", params, function(result)
    if session.begun == begun then
      session.transcript:clear()
      M.retell(session, result.messages)
      local told = "Back at an earlier prompt; what came after it is a session of its own."
      session.transcript:append({ told }, "LspAgentState")
    end
  end)
end

function on.queueChanged(session, event)
  session.queued = event.queued
end

function on.questionAsked(session, event)
  local question = event.question
  question.client_id = session.project.client_id
  table.insert(session.questions, question)
  require("lsp_agent.ask").show(session, question)
  require("lsp_agent.elsewhere").asked(session, question)
end

function on.questionAnswered(session, event)
  for index, question in ipairs(session.questions) do
    if question.questionId == event.questionId then
      table.remove(session.questions, index)
      require("lsp_agent.ask").answered(session, question, event.optionId)
      return
    end
  end
end

--- Writes the messages of an earlier run into the conversation.
---@param session lsp_agent.Session
---@param messages table[] as `agent/messages` has them
function M.retell(session, messages)
  for number, message in ipairs(messages) do
    if message.role == "user" then
      local turn = { prompt = text_of(message.content), turnId = "earlier " .. number }
      on.turnStarted(session, turn)
    end
    for _, block in ipairs(message.role ~= "user" and message.content or {}) do
      if block.type == "text" then
        session.transcript:append(vim.split(vim.trim(block.text), "\n"))
      elseif block.type == "toolCall" then
        local path = type(block.args) == "table" and (block.args.path or block.args.file_path)
        on.toolCall(session, vim.tbl_extend("error", block, { paths = { path or nil } }))
      elseif block.type == "toolResult" then
        on.toolResult(session, block)
      elseif block.type == "plan" then
        on.plan(session, block)
      end
    end
  end
  session.busy, session.turn = false, nil
  sessions.changed()
end

-- An edit that is not in the text, though the agent made it.
---@param how string
local function not_in(how)
  return function(session, event)
    local text = "An edit of %s %s. A code action in that file applies it."
    local name = shown_path(session, vim.uri_to_fname(event.edit.uri))
    session.transcript:append({ text:format(name, how) }, "LspAgentFailed")
  end
end

on.editConflict = not_in("met other changes and is not in")
on.editLost = not_in("was lost in part or whole")

---@param client_id integer
---@param event table
function M.on_event(client_id, event)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client then
    return
  end
  if event.edit then
    require("lsp_agent.marks").on_edit(client, event.edit)
    require("lsp_agent.review_tab").on_change()
  end
  local project = sessions.project_of(client)
  if project.closed[event.sessionId] then -- what comes late of it
    return
  end
  local session = sessions.session(project, event.sessionId)
  local handler = on[event.type]
  if ENDS_THOUGHT[event.type] then
    session.thoughts.space = nil
  end
  if handler then
    handler(session, event)
  end
  require("lsp_agent.prompts").on_event(session, event)
  if not STREAMED[event.type] then
    sessions.changed()
  end
end

return M
