--- What is known of the sessions, as `agent/event` tells it, one project a server.

local config = require("lsp_agent.config")
local transcript = require("lsp_agent.transcript")

local M = {}

---@class lsp_agent.Session
---@field id? string nil until the server has made it
---@field project lsp_agent.Project
---@field transcript lsp_agent.Transcript
---@field title? string
---@field agent? string
---@field model? string
---@field busy boolean
---@field queued string[]
---@field questions table<string, lsp_agent.Question>
---@field usage? table
---@field problem? string what is wrong with its agent
---@field private tools table<string, { title: string, output: string }>

---@class lsp_agent.Project
---@field root string
---@field client_id? integer nil while no server runs
---@field sessions lsp_agent.Session[]
---@field current lsp_agent.Session

---@class lsp_agent.Question
---@field questionId string
---@field sessionId string
---@field kind "permission"|"save"|"conflict"|"agent"
---@field title string
---@field detail? string
---@field options { optionId: string, name: string, kind: string }[]

---@type table<string, lsp_agent.Project>
local projects = {}

local chats = 0

---@param project lsp_agent.Project
---@param id? string
---@return lsp_agent.Session
local function new_session(project, id)
  chats = chats + 1
  local session = {
    id = id,
    project = project,
    transcript = transcript.new(("lsp-agent://chat/%d"):format(chats)),
    busy = false,
    queued = {},
    questions = {},
    tools = {},
  }
  table.insert(project.sessions, session)
  return session
end

---@param root string
---@return lsp_agent.Project
function M.project(root)
  if not projects[root] then
    projects[root] = { root = root, sessions = {} }
    projects[root].current = new_session(projects[root])
  end
  return projects[root]
end

---@param client vim.lsp.Client
---@return lsp_agent.Project
function M.project_of(client)
  return M.project(require("lsp_agent.client").root_of(client))
end

---@param project lsp_agent.Project
---@param id string
---@return lsp_agent.Session
function M.session(project, id)
  for _, session in ipairs(project.sessions) do
    if session.id == id then
      return session
    end
  end
  if project.current.id == nil then
    project.current.id = id
    return project.current
  end
  return new_session(project, id)
end

---@param bufnr integer
---@return lsp_agent.Session?
function M.by_buffer(bufnr)
  for _, project in pairs(projects) do
    for _, session in ipairs(project.sessions) do
      if session.transcript.bufnr == bufnr then
        return session
      end
    end
  end
end

local function changed()
  vim.cmd.redrawstatus({ bang = true })
  require("lsp_agent.chat").refresh()
end

---@param client vim.lsp.Client
function M.on_start(client)
  M.project_of(client).client_id = client.id
end

--- The server has gone, and its sessions with it. The conversation on show goes on in the same
--- buffer with the session that the next server makes.
---@param client_id integer
function M.on_exit(client_id)
  for _, project in pairs(projects) do
    if project.client_id == client_id then
      project.client_id = nil
      for _, session in ipairs(project.sessions) do
        if session.busy or session.id then
          session.transcript:append({ "*The server has ended, and this session with it.*" })
        end
        session.busy, session.queued, session.questions = false, {}, {}
      end
      project.current.id = nil
      project.sessions = { project.current }
      changed()
    end
  end
end

-- The first line of what a tool call is about.
---@param event table
---@return string
local function tool_title(event)
  local args = type(event.args) == "table" and event.args or {}
  local about = args.command or table.concat(event.paths or {}, ", ")
  if about == "" and next(args) then
    about = vim.json.encode(args)
  end
  return (("%s %s"):format(event.tool, about):gsub("\n.*", " …"))
end

---@param content table[]
---@return string[]
local function lines_of(content)
  local texts = {}
  for _, block in ipairs(content) do
    table.insert(texts, block.text or ("(%s)"):format(block.type))
  end
  return vim.split(vim.trim(table.concat(texts, "\n")), "\n")
end

---@param body string[]
---@return string
local function count(body)
  return #body == 1 and "1 line" or ("%d lines"):format(#body)
end

-- What is typed in the buffer is a tool's output, not Markdown of the agent's.
---@param lines string[]
---@return string[]
local function indented(lines)
  return vim.tbl_map(function(line)
    return "    " .. line
  end, lines)
end

local ended = {
  aborted = "Stopped.",
  maxTokens = "Cut off: the answer is at its limit of tokens.",
  maxSteps = "Ended: too many steps.",
  refusal = "The model refused.",
}

---@type table<string, fun(session: lsp_agent.Session, event: table)>
local on = {}

function on.turnStarted(session, event)
  session.busy, session.problem = true, nil
  session.title = session.title or (event.prompt:gsub("\n.*", ""))
  session.transcript:append({ "## You", "" }, "LspAgentYou")
  session.transcript:append(vim.split(vim.trim(event.prompt), "\n"))
  session.transcript:append({ ("## %s"):format(session.agent or "Agent"), "" }, "LspAgentAgent")
end

function on.textDelta(session, event)
  session.transcript:stream(event.text)
end

function on.toolCall(session, event)
  local title = tool_title(event)
  session.tools[event.toolCallId] = { title = title, output = "" }
  session.transcript:block(event.toolCallId, title, "…")
end

function on.toolProgress(session, event)
  local tool = session.tools[event.toolCallId]
  if tool then
    tool.output = tool.output .. event.text
    local body = vim.split(vim.trim(tool.output), "\n")
    local newest = body[#body]
    session.transcript:update(event.toolCallId, { state = newest, body = indented(body) })
  end
end

function on.toolResult(session, event)
  local tool = session.tools[event.toolCallId]
  if not tool then
    return
  end
  session.tools[event.toolCallId] = nil
  local body = lines_of(event.content)
  session.transcript:update(event.toolCallId, {
    state = (event.isError and "failed, " or "done, ") .. count(body),
    highlight = event.isError and "LspAgentFailed" or "LspAgentDone",
    body = indented(body),
  })
end

function on.usage(session, event)
  session.usage = event.cumulative
end

function on.turnEnded(session, event)
  session.busy = false
  local text = event.error or ended[event.stopReason]
  if text then
    local highlight = event.stopReason == "error" and "LspAgentFailed" or "LspAgentState"
    session.transcript:append(vim.split(text, "\n"), highlight)
  end
end

function on.error(session, event)
  session.transcript:append(vim.split(event.message, "\n"), "LspAgentFailed")
end

function on.notice(session, event)
  if event.level ~= "debug" then
    local failed = event.level == "error" or event.level == "warning"
    local highlight = failed and "LspAgentFailed" or "LspAgentState"
    session.transcript:append(vim.split(event.message, "\n"), highlight)
  end
end

function on.compacted(session, event)
  session.transcript:append({ "*Summarised:*", "" })
  session.transcript:append(vim.split(event.summary, "\n"))
end

function on.queueChanged(session, event)
  session.queued = event.queued
end

function on.questionAsked(session, event)
  local question = event.question
  session.questions[question.questionId] = question
  require("lsp_agent.ask").show(session, question)
end

function on.questionAnswered(session, event)
  local question = session.questions[event.questionId]
  session.questions[event.questionId] = nil
  if question then
    require("lsp_agent.ask").answered(session, question, event.optionId)
  end
end

function on.agentStatus(session, event)
  session.problem = event.status == "exited" and (event.message or "the agent has ended") or nil
end

---@param client_id integer
---@param event table
function M.on_event(client_id, event)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client then
    return
  end
  local session = M.session(M.project_of(client), event.sessionId)
  local handler = on[event.type]
  if handler then
    handler(session, event)
  end
  if event.edit then
    require("lsp_agent.review").on_edit(client, event.edit)
  end
  if event.type ~= "textDelta" and event.type ~= "toolProgress" then
    changed()
  end
end

return M
