--- The sessions that are known and the projects that they belong to, one project a server.

local transcript = require("lsp_agent.transcript")

local M = {}

---@class lsp_agent.Session
---@field id? string nil until the server has made it
---@field earlier? string its id, where the server that had it has gone
---@field package waiting? (fun())[] what waits until it is taken up again
---@field project lsp_agent.Project
---@field transcript lsp_agent.Transcript
---@field title? string
---@field agent? string
---@field model? string
---@field busy boolean
---@field turn? string the id of the one that runs
---@field queued string[]
---@field prompts lsp_agent.Prompt[] those whose turns have not started, in order
---@field asking? { sent?: boolean } while the first of them that is not taken is under way
---@field begun? string the id of the last turn that started
---@field dropped? string the id of the last one that ended before it was known whose it is
---@field handed? string the turn of the last prompt that the agent has
---@field origin? lsp_agent.Origin where that prompt was written, if not in the chat, until its turn ends
---@field usage? { input?: integer, output?: integer, cacheRead?: integer, cost?: number } tokens, US dollars
---@field window? { used: integer, size?: integer } tokens in the model's window, and how many fit
---@field plans integer how many were told
---@field plan? string the block of the last turn's
---@field thoughts { count: integer, space?: string } `space`, behind the last word, while it thinks
---@field error? string what was said last of what failed in this turn
---@field questions lsp_agent.Question[] those that are open, oldest first
---@field tools table<string, { above: string, output: string }> calls that run

---@class lsp_agent.Project
---@field root string
---@field client_id? integer nil while no server runs
---@field sessions lsp_agent.Session[]
---@field current lsp_agent.Session
---@field closed table<string, true> the ids of sessions that were closed here

---@class lsp_agent.Question
---@field client_id integer ids are those of one server
---@field questionId string
---@field kind "permission"|"save"|"conflict"|"agent"
---@field title string
---@field detail? string
---@field options { optionId: string, name: string, kind: string }[]
---@field came_at integer see ask_guard.lua

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
    prompts = {},
    questions = {},
    plans = 0,
    thoughts = { count = 0 },
    tools = {},
  }
  table.insert(project.sessions, session)
  return session
end

---@param root string
---@return lsp_agent.Project
function M.project(root)
  if not projects[root] then
    projects[root] = { root = root, sessions = {}, closed = {} }
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
---@return lsp_agent.Session?
function M.find(project, id)
  for _, session in ipairs(project.sessions) do
    if session.id == id then
      return session
    end
  end
end

--- The session of this id. The conversation that has no session yet becomes its.
---@param project lsp_agent.Project
---@param id string
---@return lsp_agent.Session
function M.session(project, id)
  local session = M.find(project, id)
  if session then
    return session
  end
  local current = project.current
  if current.id == nil and (current.earlier == nil or current.earlier == id) then
    current.id = id
    return current
  end
  return new_session(project, id)
end

--- The same for one that has just been opened: it never takes the conversation that waits.
---@param project lsp_agent.Project
---@param id string
---@return lsp_agent.Session
function M.add(project, id)
  project.closed[id] = nil
  return M.find(project, id) or new_session(project, id)
end

--- The client of its server, if that runs.
---@param session lsp_agent.Session
---@return vim.lsp.Client?
function M.client_of(session)
  local id = session.project.client_id
  return id and vim.lsp.get_client_by_id(id)
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

--- Brings what is shown of the sessions up to date.
function M.changed()
  vim.cmd.redrawstatus({ bang = true })
  require("lsp_agent.chat").refresh()
end

-- The server has gone. The conversation on show goes on in the same buffer: its session is taken
-- up again by the next server.
---@param project lsp_agent.Project
local function ended(project)
  project.client_id = nil
  for _, session in ipairs(project.sessions) do
    for _, question in ipairs(session.questions) do
      require("lsp_agent.ask").answered(session, question)
    end
    if session.id then
      session.transcript:append(
        { "The server has ended; your next prompt goes on with this session." },
        "LspAgentState"
      )
    end
    session.earlier = session.id or session.earlier
    session.id, session.busy, session.turn = nil, false, nil
    session.queued, session.questions, session.waiting = {}, {}, nil
    require("lsp_agent.prompts").dropped(session, false)
  end
  project.sessions = { project.current }
  M.changed()
end

---@param client vim.lsp.Client
function M.on_start(client)
  local project = M.project_of(client)
  if project.client_id then
    ended(project)
  end
  project.client_id = client.id
end

---@param client_id integer
function M.on_exit(client_id)
  for _, project in pairs(projects) do
    if project.client_id == client_id then
      ended(project)
    end
  end
end

--- Calls back when the session can be asked, which one of an earlier server can once this one has
--- taken it up. Where that fails a new one takes its place.
---@param session lsp_agent.Session
---@param to vim.lsp.Client
---@param callback fun()
function M.when_open(session, to, callback)
  if session.waiting then
    table.insert(session.waiting, callback)
    return
  elseif not session.earlier then
    callback()
    return
  end
  session.waiting = { callback }
  local mine = session.waiting
  local function opened()
    local waiting = session.waiting
    if waiting ~= mine then -- the server has ended meanwhile
      return
    end
    session.earlier, session.waiting = nil, nil
    for _, each in ipairs(waiting) do
      each()
    end
  end
  local params = { sessionId = session.earlier }
  require("lsp_agent.client").request(to, "agent/resumeSession", params, function()
    session.id = session.earlier
    opened()
  end, function(err)
    session.transcript:append(vim.split(err.message, "\n"), "LspAgentFailed")
    opened()
  end)
end

---@param session lsp_agent.Session
function M.ask_state(session)
  local client = M.client_of(session)
  if client then
    local params = { sessionId = session.id }
    require("lsp_agent.client").request(client, "agent/state", params, function(state)
      M.take_state(session, state)
    end, function() end) -- a closed session has none
  end
end

---@param session lsp_agent.Session
---@param state table the result of `agent/state`
function M.take_state(session, state)
  session.agent, session.model = state.agent, state.model
  M.changed()
end

--- The session is closed; another of its project's takes its place.
---@param session lsp_agent.Session
---@return lsp_agent.Session other
function M.forget(session)
  local project = session.project
  require("lsp_agent.prompts").dropped(session, true)
  for _, question in ipairs(session.questions) do
    require("lsp_agent.ask").answered(session, question)
  end
  if session.id then
    project.closed[session.id] = true
  end
  project.sessions = vim.tbl_filter(function(each)
    return each ~= session
  end, project.sessions)
  if project.current == session then
    project.current = project.sessions[#project.sessions] or new_session(project)
  end
  return project.current
end

return M
