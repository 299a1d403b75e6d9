--- What a person does with sessions: choose, open, resume, rename, export and close them.

local chat = require("lsp_agent.chat")
local client = require("lsp_agent.client")
local events = require("lsp_agent.events")
local pick = require("lsp_agent.pick")
local sessions = require("lsp_agent.sessions")
local tell = require("lsp_agent.tell")

local M = {}

function M.choose_model()
  chat.request("agent/models", {}, function(result, session, to)
    pick(result.models, {
      prompt = "Model",
      kind = "lsp_agent_model",
      none = "the agent names no models",
      title = function(model)
        local mark = model.id == result.current and " (current)" or ""
        return ("%s · %s%s"):format(model.id, model.provider, mark)
      end,
    }, function(model)
      local params = { sessionId = session.id, model = model.id }
      client.request(to, "agent/setModel", params, function(state)
        sessions.take_state(session, state)
      end)
    end)
  end)
end

-- One of an option's values, then.
---@param session lsp_agent.Session
---@param to vim.lsp.Client
---@param option table
local function choose_value(session, to, option)
  pick(option.values, {
    prompt = option.name,
    kind = "lsp_agent_option_value",
    title = function(value)
      local mark = value.value == option.value and " (current)" or ""
      local described = value.description and " · " .. value.description or ""
      return value.name .. mark .. described
    end,
  }, function(value)
    local params = { sessionId = session.id, id = option.id, value = value.value }
    client.request(to, "agent/setOption", params)
  end)
end

--- The commands that run in the background; the chosen one is ended.
function M.choose_background_command()
  chat.request("agent/backgroundCommands", {}, function(result, session, to)
    local running = vim.tbl_filter(function(command)
      return command.state == "running"
    end, result.commands)
    pick(running, {
      prompt = "End a background command",
      kind = "lsp_agent_background_command",
      none = "no command runs in the background",
      title = function(command)
        local last = command.lines[#command.lines]
        return ("%s · %s%s"):format(command.id, command.command, last and " · " .. last or "")
      end,
    }, function(command)
      local params = { sessionId = session.id, id = command.id }
      client.request(to, "agent/stopBackgroundCommand", params)
    end)
  end)
end

function M.choose_option()
  chat.request("agent/options", {}, function(result, session, to)
    pick(result.options, {
      prompt = "Option",
      kind = "lsp_agent_option",
      none = "the agent has no options",
      title = function(option)
        return ("%s: %s"):format(option.name, option.value)
      end,
    }, function(option)
      choose_value(session, to, option)
    end)
  end)
end

-- Shows a session's Markdown in a buffer of its own.
---@param to vim.lsp.Client
---@param id string
local function export(to, id)
  client.request(to, "agent/exportSession", { sessionId = id }, function(result)
    vim.cmd.tabnew()
    vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.split(vim.trim(result.markdown), "\n"))
    vim.bo.buftype, vim.bo.bufhidden, vim.bo.filetype = "nofile", "wipe", "markdown"
  end)
end

-- Shows a session, which the person has chosen, in the chat.
---@param session lsp_agent.Session
local function switch(session)
  chat.show(session)
  chat.open()
end

-- Shows a session that the server has taken up, with what was said in it.
---@param project lsp_agent.Project
---@param to vim.lsp.Client
---@param info { sessionId: string, title?: string, agent?: string }
local function show_taken_up(project, to, info)
  local session = sessions.add(project, info.sessionId)
  session.title, session.agent = info.title, info.agent
  switch(session)
  client.request(to, "agent/messages", { sessionId = info.sessionId }, function(result)
    events.retell(session, result.messages)
  end)
end

-- Opens a stored session.
---@param project lsp_agent.Project
---@param to vim.lsp.Client
---@param info table
local function resume(project, to, info)
  client.request(to, "agent/resumeSession", { sessionId = info.sessionId }, function()
    show_taken_up(project, to, info)
  end)
end

---@type table<string, fun(project: lsp_agent.Project, to: vim.lsp.Client, info: table)>
local of_stored = {
  Resume = resume,
  Rename = function(_, to, info)
    vim.ui.input({ prompt = "Title: ", default = info.title }, function(title)
      if title and vim.trim(title) ~= "" then
        local params = { sessionId = info.sessionId, title = title }
        client.request(to, "agent/renameSession", params)
      end
    end)
  end,
  Export = function(_, to, info)
    export(to, info.sessionId)
  end,
  Delete = function(_, to, info)
    client.request(to, "agent/deleteSession", { sessionId = info.sessionId }, function()
      tell("the session is deleted")
    end)
  end,
}

---@param info table
---@return string
local function session_title(info)
  local when = info.stored and os.date("%d %b %H:%M", math.floor(info.updated))
  local status = info.status == "elsewhere" and "open elsewhere" or info.status
  return ("%s · %s · %s"):format(info.title or info.sessionId, info.agent, when or status)
end

--- Chooses which one the chat shows; one of an earlier run is resumed, renamed, exported or
--- deleted.
function M.choose()
  chat.request("agent/sessions", {}, function(result, session, to)
    pick(result.sessions, {
      prompt = "Session (an earlier one: resume, rename, export, delete)",
      kind = "lsp_agent_session",
      none = "no session yet; here you resume, rename or delete them",
      title = function(info)
        local mark = info.sessionId == session.id and " (current)" or ""
        return session_title(info) .. mark
      end,
    }, function(info)
      if not info.stored then
        switch(sessions.session(session.project, info.sessionId))
        return
      end
      local offered = { "Resume", "Rename", "Export", "Delete" }
      local options = { prompt = session_title(info), kind = "lsp_agent_stored_session" }
      pick(offered, options, function(choice)
        of_stored[choice](session.project, to, info)
      end)
    end)
  end)
end

--- Goes on with a session that the agent itself has kept, from its own terminal client for one.
function M.continue()
  chat.request("agent/agentSessions", {}, function(result, session, to)
    pick(result.sessions, {
      prompt = "The agent's own session",
      kind = "lsp_agent_own_session",
      none = "the agent has kept no other session of this folder",
      title = function(info)
        local when = info.updated and os.date(" · %d %b %H:%M", math.floor(info.updated)) or ""
        return (info.title or info.ref) .. when
      end,
    }, function(info)
      local params = { agent = session.agent, ref = info.ref }
      client.request(to, "agent/newSession", params, function(opened)
        show_taken_up(session.project, to, {
          sessionId = opened.sessionId,
          title = info.title,
          agent = session.agent,
        })
      end)
    end)
  end)
end

-- Calls back with the session that the chat shows, once it can be asked and if there is one.
---@param callback fun(session: lsp_agent.Session, to: vim.lsp.Client)
local function with_session(callback)
  chat.when_open(function(session, to)
    if session.id then
      callback(session, to)
    else
      tell("nothing was said yet")
    end
  end)
end

---@param asked { text: string, time?: number }
---@return string
local function prompt_title(asked)
  local when = asked.time and os.date(" · %d %b %H:%M", math.floor(asked.time)) or ""
  return vim.trim(asked.text):gsub("%s*\n.*", " …") .. when
end

-- Calls back with an earlier prompt of the session that the chat shows, the newest offered first.
---@param question string
---@param more table[] what is offered before them
---@param callback fun(asked: table, session: lsp_agent.Session, to: vim.lsp.Client)
local function choose_prompt(question, more, callback)
  with_session(function(session, to)
    client.request(to, "agent/prompts", { sessionId = session.id }, function(result)
      pick(vim.list_extend(more, vim.fn.reverse(result.prompts)), {
        prompt = question,
        kind = "lsp_agent_prompt",
        none = "nothing was said yet",
        title = prompt_title,
      }, function(asked)
        callback(asked, session, to)
      end)
    end)
  end)
end

-- Has the prompt written anew.
---@param text? string
local function write_again(text)
  if text then
    chat.give_back(text)
  end
  chat.open({ focus = true })
end

local KEEP, RESTORE = "The conversation alone", "The conversation and the files"

--- Goes back to before an earlier prompt.
function M.rewind()
  choose_prompt("Back to before", {}, function(asked, session, to)
    local options = { prompt = "What goes back", kind = "lsp_agent_rewind" }
    pick({ KEEP, RESTORE }, options, function(choice)
      client.request(to, "agent/rewind", {
        sessionId = session.id,
        turnId = asked.turnId,
        files = choice == RESTORE and "restore" or "keep",
      }, function(result)
        if result.reverted then
          require("lsp_agent.tell_reverted")(result.reverted)
        end
        write_again(result.text)
      end)
    end)
  end)
end

--- Opens a session that goes on from before an earlier prompt.
function M.fork()
  local now = { text = "Now, with all that was said" }
  choose_prompt("A new session from before", { now }, function(asked, session, to)
    local params = { sessionId = session.id, turnId = asked.turnId }
    client.request(to, "agent/fork", params, function(result)
      local info = { sessionId = result.sessionId, agent = session.agent }
      show_taken_up(session.project, to, info)
      write_again(result.text)
    end)
  end)
end

function M.export()
  with_session(function(session, to)
    export(to, session.id --[[@as string]])
  end)
end

---@param title string
function M.rename(title)
  if title == "" then
    tell("name the session: :Agent rename {title}", vim.log.levels.WARN)
    return
  end
  with_session(function(session, to)
    client.request(to, "agent/renameSession", { sessionId = session.id, title = title }, function()
      session.title = title
      chat.refresh()
    end)
  end)
end

---@param agent string its name in the settings, "" for the one that is chosen there
function M.new(agent)
  local params = { agent = agent ~= "" and agent or nil }
  local session, to = chat.target()
  if session and to then
    client.request(to, "agent/newSession", params, function(result)
      local opened = sessions.add(session.project, result.sessionId)
      chat.show(opened)
      tell("a new session")
    end)
  end
end

function M.close()
  chat.request("agent/closeSession", {}, function(_, session)
    chat.show(sessions.forget(session))
  end)
end

function M.status()
  chat.request("agent/state", {}, function(state, session)
    sessions.take_state(session, state)
    local lines = {
      ("agent     %s (%s)"):format(state.agent, state.hosting),
      ("model     %s"):format(state.model or "its own choice"),
      ("folder    %s"):format(state.cwd),
      ("session   %s, %s"):format(state.sessionId, state.busy and "working" or "idle"),
      ("questions %d"):format(#state.questions),
    }
    vim.api.nvim_echo({ { table.concat(lines, "\n") } }, true, {})
  end)
end

return M
