--- `:Agent` and its sub-commands.

local client = require("lsp_agent.client")
local tell = require("lsp_agent.tell")

local M = {}

---@class lsp_agent.Command
---@field name string
---@field argument? string as the help shows it
---@field summary string
---@field run fun(argument: string, options: vim.api.keyset.create_user_command.command_args)
---@field complete? fun(): string[]
---@field alone? boolean needs no server

-- Makes a request for the session that is meant.
---@param method string
---@param params table
---@param on_result fun(result: any, session: lsp_agent.Session, to: vim.lsp.Client)
local function for_session(method, params, on_result)
  local session, to = require("lsp_agent.chat").target()
  if session and to then
    params.sessionId = session.id
    client.request(to, method, params, function(result)
      on_result(result, session, to)
    end)
  end
end

---@return string[]
local function everywhere()
  return { "all" }
end

---@param method "agent/keepAll"|"agent/undoAll"|"agent/applyAll"
local function decide_all(method)
  return function(argument)
    require("lsp_agent.review").decide_all(method, argument == "all")
  end
end

---@param verb "keep"|"undo"
---@param wanted? "proposed"|"applied"
local function decide(verb, wanted)
  return function(_, options)
    local range = options.range > 0 and { options.line1, options.line2 } or nil
    require("lsp_agent.review").decide(verb, range, wanted)
  end
end

---@param argument string
---@param options vim.api.keyset.create_user_command.command_args
local function ask(argument, options)
  local context = require("lsp_agent.context")
  local bufnr = vim.api.nvim_get_current_buf()
  if argument ~= "" then
    local found = client.of(bufnr)
    require("lsp_agent").prompt(argument, found and context.of_command(found, options))
    return
  end
  if options.range > 0 and client.is_file(bufnr) then
    context.add(bufnr, options.line1, options.line2)
  end
  require("lsp_agent.chat").open({ focus = true })
end

---@param result table
local function tell_reverted(result)
  local counts, conflicts = {}, {}
  for _, file in ipairs(result.files) do
    counts[file.outcome] = (counts[file.outcome] or 0) + 1
    if file.outcome == "conflict" then
      table.insert(conflicts, vim.fs.basename(vim.uri_to_fname(file.uri)))
    end
  end
  local parts = {}
  for outcome, count in vim.spairs(counts) do
    table.insert(parts, ("%d %s"):format(count, outcome))
  end
  local text = #parts > 0 and "taken back: " .. table.concat(parts, ", ") or "nothing to take back"
  if #conflicts > 0 then
    tell(text .. ": " .. table.concat(conflicts, ", "), vim.log.levels.WARN)
  else
    tell(text)
  end
end

local function models()
  for_session("agent/models", {}, function(result, session, to)
    vim.ui.select(result.models, {
      prompt = "Model",
      kind = "lsp_agent_model",
      format_item = function(model)
        local mark = model.id == result.current and " (current)" or ""
        return ("%s · %s%s"):format(model.id, model.provider, mark)
      end,
    }, function(model)
      if model then
        local params = { sessionId = session.id, model = model.id }
        client.request(to, "agent/setModel", params, function(state)
          require("lsp_agent.sessions").take_state(session, state)
        end)
      end
    end)
  end)
end

---@return string[]
local function slash_commands()
  local session, to = require("lsp_agent.chat").target()
  if not session or not to then
    return {}
  end
  local result = client.result_of(to, "agent/commands", { sessionId = session.id })
  return vim.tbl_map(function(command)
    return command.name
  end, result and result.commands or {})
end

---@param result table
local function act(result)
  if result.action == "prompt" then
    require("lsp_agent").prompt(result.text)
  elseif result.action == "insert" and vim.bo.modifiable then
    vim.api.nvim_put(vim.split(result.text or "", "\n"), "c", true, true)
  elseif result.text then
    tell(result.text)
  end
end

---@param argument string
local function run_command(argument)
  local name, args = argument:match("^(%S*)%s*(.*)$")
  if name ~= "" then
    for_session("agent/runCommand", { name = name, args = args }, act)
    return
  end
  for_session("agent/commands", {}, function(result)
    if #result.commands == 0 then
      tell("the agent offers no commands")
      return
    end
    vim.ui.select(result.commands, {
      prompt = "Command",
      kind = "lsp_agent_command",
      format_item = function(command)
        return ("/%s · %s"):format(command.name, command.description or "")
      end,
    }, function(command)
      if command then
        run_command(command.name)
      end
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

-- Opens a stored session and shows what was said in it.
---@param project lsp_agent.Project
---@param to vim.lsp.Client
---@param info table
local function resume(project, to, info)
  local params = { sessionId = info.sessionId }
  client.request(to, "agent/resumeSession", params, function()
    local sessions = require("lsp_agent.sessions")
    local session = sessions.add(project, info.sessionId)
    session.title, session.agent = info.title, info.agent
    require("lsp_agent.chat").show(session)
    client.request(to, "agent/messages", params, function(result)
      sessions.retell(session, result.messages)
    end)
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

local function pick_session()
  for_session("agent/sessions", {}, function(result, session, to)
    if #result.sessions == 0 then
      tell("no session yet")
      return
    end
    vim.ui.select(result.sessions, {
      prompt = "Session",
      kind = "lsp_agent_session",
      format_item = session_title,
    }, function(info)
      if info and not info.stored then
        local sessions = require("lsp_agent.sessions")
        require("lsp_agent.chat").show(sessions.session(session.project, info.sessionId))
      elseif info then
        local offered = { "Resume", "Rename", "Export", "Delete" }
        vim.ui.select(offered, { prompt = session_title(info) }, function(choice)
          if choice then
            of_stored[choice](session.project, to, info)
          end
        end)
      end
    end)
  end)
end

local function export_this()
  local session, to = require("lsp_agent.chat").target()
  if session and to and session.id then
    export(to, session.id)
  elseif session then
    tell("nothing was said yet")
  end
end

---@param title string
local function rename(title)
  local session, to = require("lsp_agent.chat").target()
  if title == "" then
    tell("name the session: :Agent rename {title}", vim.log.levels.WARN)
  elseif session and to and session.id then
    client.request(to, "agent/renameSession", { sessionId = session.id, title = title }, function()
      session.title = title
      require("lsp_agent.chat").refresh()
    end)
  elseif session then
    tell("nothing was said yet")
  end
end

---@param argument string
local function new(argument)
  local params = { agent = argument ~= "" and argument or nil }
  local session, to = require("lsp_agent.chat").target()
  if session and to then
    client.request(to, "agent/newSession", params, function(result)
      local opened = require("lsp_agent.sessions").add(session.project, result.sessionId)
      require("lsp_agent.chat").show(opened)
      tell("a new session")
    end)
  end
end

local function close()
  for_session("agent/closeSession", {}, function(_, session)
    require("lsp_agent.chat").show(require("lsp_agent.sessions").forget(session))
  end)
end

local function status()
  for_session("agent/state", {}, function(state, session)
    require("lsp_agent.sessions").take_state(session, state)
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

---@param argument string
local function answer(argument)
  local questions = require("lsp_agent.ask")
  local session = require("lsp_agent.chat").session()
  local question = session and questions.open(session)
  if not session or not question then
    tell("no question is open")
  elseif tonumber(argument) then
    questions.answer(question, tonumber(argument))
  else
    questions.select(question)
  end
end

---@type lsp_agent.Command[]
M.commands = {
  {
    name = "ask",
    argument = "[prompt]",
    summary = "Sends a prompt, with the selected text or the line of the cursor. Without one it "
      .. "goes to the prompt's window; lines of a range go along with what is written there.",
    run = ask,
  },
  {
    name = "chat",
    summary = "Shows or hides the chat.",
    run = function()
      require("lsp_agent.chat").toggle()
    end,
  },
  {
    name = "stop",
    summary = "Stops what the agent does, and drops the prompts that wait.",
    run = function()
      require("lsp_agent").stop()
    end,
  },
  {
    name = "answer",
    argument = "[number]",
    summary = "Answers the agent's open question, with its option of that number if one is given.",
    run = answer,
  },
  {
    name = "next",
    summary = "Goes to the next open change, in this file and then in others.",
    run = function()
      require("lsp_agent.review").go()
    end,
  },
  {
    name = "prev",
    summary = "Goes to the open change before.",
    run = function()
      require("lsp_agent.review").go({ previous = true })
    end,
  },
  {
    name = "keep",
    summary = "Keeps the change under the cursor, or those in a range of lines.",
    run = decide("keep", "applied"),
  },
  {
    name = "undo",
    summary = "Undoes the change under the cursor, or those in a range of lines. What you typed "
      .. "around it stays.",
    run = decide("undo", "applied"),
  },
  {
    name = "apply",
    summary = "Applies the proposal under the cursor, or those in a range of lines.",
    run = decide("keep", "proposed"),
  },
  {
    name = "reject",
    summary = "Drops the proposal under the cursor, or those in a range of lines.",
    run = decide("undo", "proposed"),
  },
  {
    name = "keep_all",
    argument = "[all]",
    summary = "Keeps the changes of this file; with `all` of every file.",
    run = decide_all("agent/keepAll"),
    complete = everywhere,
  },
  {
    name = "undo_all",
    argument = "[all]",
    summary = "Undoes the changes of this file and drops its proposals; with `all` of every file.",
    run = decide_all("agent/undoAll"),
    complete = everywhere,
  },
  {
    name = "apply_all",
    argument = "[all]",
    summary = "Applies the proposals of this file; with `all` of every file.",
    run = decide_all("agent/applyAll"),
    complete = everywhere,
  },
  {
    name = "preview",
    summary = "Shows the edit under the cursor as a unified diff, in a floating window.",
    run = function()
      require("lsp_agent.review").preview()
    end,
  },
  {
    name = "diff",
    summary = "Shows the edit under the cursor as two texts in 'diff' mode, in a tab page.",
    run = function()
      require("lsp_agent.review").diff()
    end,
  },
  {
    name = "revert",
    summary = "Takes the session's last turn out of all files, kept changes included.",
    run = function()
      for_session("agent/revert", {}, tell_reverted)
    end,
  },
  { name = "models", summary = "Chooses the model.", run = models },
  {
    name = "run",
    argument = "[command] [args]",
    summary = "Runs a slash command of the agent's or of its extensions; without a name you "
      .. "choose one.",
    run = run_command,
    complete = slash_commands,
  },
  {
    name = "sessions",
    summary = "Chooses which session the chat shows; one of an earlier run is resumed, renamed, "
      .. "exported or deleted.",
    run = pick_session,
  },
  {
    name = "rename",
    argument = "{title}",
    summary = "Gives the session another title.",
    run = rename,
  },
  {
    name = "export",
    summary = "Shows the session as Markdown, in a tab page.",
    run = export_this,
  },
  {
    name = "new",
    argument = "[agent]",
    summary = "Opens another session, with an agent of your settings.",
    run = new,
  },
  { name = "close", summary = "Ends the session and its agent.", run = close },
  {
    name = "compact",
    summary = "Has the agent summarise the conversation, to make room.",
    run = function()
      for_session("agent/compact", {}, function()
        tell("the conversation is summarised")
      end)
    end,
  },
  {
    name = "clear",
    summary = "Has the agent forget the conversation.",
    run = function()
      for_session("agent/clear", {}, function()
        tell("the conversation is forgotten")
      end)
    end,
  },
  { name = "status", summary = "Says what the session is and does.", run = status },
  {
    name = "restart",
    summary = "Starts the server again. Changes that are to be reviewed stay so.",
    alone = true,
    run = function()
      client.restart(client.of())
    end,
  },
  {
    name = "log",
    summary = "Opens Neovim's log of language servers.",
    alone = true,
    run = function()
      local log = vim.lsp.log or require("vim.lsp.log")
      vim.cmd.tabedit(vim.fn.fnameescape(log.get_filename()))
    end,
  },
}

---@param name string
---@return lsp_agent.Command?
local function find(name)
  for _, command in ipairs(M.commands) do
    if command.name == name then
      return command
    end
  end
end

---@param options vim.api.keyset.create_user_command.command_args
function M.run(options)
  local name, argument = options.args:match("^(%S*)%s*(.*)$")
  local command = find(name == "" and "ask" or name)
  if not command then
    tell((":Agent has no %s; to prompt: :Agent ask …"):format(name), vim.log.levels.ERROR)
  elseif command.alone then
    command.run(vim.trim(argument), options)
  else
    client.when_ready(function()
      command.run(vim.trim(argument), options)
    end)
  end
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local name = line:match("^.-Agent!?%s+(%S+)%s")
  local offered
  if name then
    local command = find(name)
    offered = command and command.complete and command.complete() or {}
  else
    offered = vim.tbl_map(function(command)
      return command.name
    end, M.commands)
  end
  return vim.tbl_filter(function(each)
    return vim.startswith(each, lead)
  end, offered)
end

return M
