--- `:Agent` and the table of its sub-commands.

local client = require("lsp_agent.client")
local tell = require("lsp_agent.tell")

local M = {}

---@class lsp_agent.Command
---@field name string
---@field argument? string as the help shows it
---@field summary string
---@field run fun(argument: string, options: vim.api.keyset.create_user_command.command_args)
---@field complete? fun(): string[]
---@field alone? boolean needs no server that runs already

---@param action string a function of lsp_agent.session_actions
local function on_session(action)
  return function(argument)
    require("lsp_agent.session_actions")[action](argument)
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
  local context, chat = require("lsp_agent.context"), require("lsp_agent.chat")
  local bufnr = vim.api.nvim_get_current_buf()
  local quoted = context.quoted(options)
  if argument ~= "" then
    local held = context.of_command(options)
    require("lsp_agent.prompts").write({ text = argument .. quoted, held = held, context = {} })
    return
  end
  if options.range > 0 and client.is_file(bufnr) then
    context.add(bufnr, options.line1, options.line2)
  elseif quoted ~= "" then
    chat.give_back(vim.trim(quoted))
  end
  chat.open({ focus = true })
end

---@param argument string
---@param options vim.api.keyset.create_user_command.command_args
local function steer(argument, options)
  if argument == "" then
    tell("say what: :Agent steer {prompt}", vim.log.levels.WARN)
  else
    local context = require("lsp_agent.context")
    local with = options.range > 0 and context.of_command(options) or {}
    require("lsp_agent.prompts").write({
      text = argument .. context.quoted(options),
      held = with,
      context = {},
      steer = true,
    })
  end
end

---@param argument string
---@param options vim.api.keyset.create_user_command.command_args
local function change(argument, options)
  local held = require("lsp_agent.context").of_command(options)
  if argument == "" or not held[1] then
    tell("say what, in a file: :'<,'>Agent change {prompt}", vim.log.levels.WARN)
    return
  end
  require("lsp_agent.prompts").write({
    text = argument,
    held = held,
    context = {},
    confined = true,
  })
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

---@param argument string
local function answer(argument)
  local questions = require("lsp_agent.ask")
  local session = require("lsp_agent.chat").session()
  local question = questions.open(session)
  local number, reason = argument:match("^(%d+)%s*(.*)$")
  if not question then
    tell("no question is open")
  elseif number and session and session.questions[1] then
    questions.answer(question, tonumber(number), reason ~= "" and reason or nil)
  else
    questions.select(question) -- a number is not one of an option of another session's question
  end
end

---@type lsp_agent.Command[]
M.commands = {
  {
    name = "ask",
    argument = "[prompt]",
    summary = "Sends a prompt, with the selected text or the line of the cursor. Without one it "
      .. "goes to the prompt's window; lines of a range go along with what is written there. In a "
      .. "terminal, or where else no file is, lines of a range are quoted in the prompt.",
    run = ask,
    alone = true,
  },
  {
    name = "change",
    argument = "{prompt}",
    summary = "Sends a prompt whose changes stay within the lines of the range, or the cursor's. The "
      .. "agent may put lines in there; what it tries elsewhere is refused, and it reads why.",
    run = change,
    alone = true,
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
    name = "steer",
    argument = "{prompt}",
    summary = "Hands a prompt to the agent while it works, if it can take one then (pi can); "
      .. "lines of a range go along. The other prompts wait until the turn has ended.",
    run = steer,
    alone = true,
  },
  {
    name = "answer",
    argument = "[number] [reason]",
    summary = "Opens the agent's question, or answers it with its option of that number. The agent "
      .. "reads a reason why you deny.",
    run = answer,
  },
  {
    name = "permissions",
    summary = "Lists the commands that you have allowed for good, in a project or everywhere; the "
      .. "one that you choose is asked about again.",
    run = function()
      require("lsp_agent.permissions").choose()
    end,
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
      require("lsp_agent.chat").request("agent/revert", {}, tell_reverted)
    end,
  },
  { name = "models", summary = "Chooses the model.", run = on_session("choose_model") },
  {
    name = "options",
    summary = "Sets what else the agent can be set to: its mode, how much it thinks.",
    run = on_session("choose_option"),
  },
  {
    name = "background",
    summary = "Lists the commands that the agent runs in the background; the one that you choose "
      .. "is ended.",
    run = on_session("choose_background_command"),
  },
  {
    name = "run",
    argument = "[command] [args]",
    summary = "Runs a slash command of the agent's or of its extensions; without a name you "
      .. "choose one.",
    run = function(argument)
      require("lsp_agent.slash_commands").run(argument)
    end,
    complete = function()
      return require("lsp_agent.slash_commands").names()
    end,
  },
  {
    name = "sessions",
    summary = "Chooses which session the chat shows; one of an earlier run is resumed, renamed, "
      .. "exported or deleted.",
    run = on_session("choose"),
  },
  {
    name = "continue",
    summary = "Goes on with a session that the agent itself has kept of this folder, from its own "
      .. "terminal client for one.",
    run = on_session("continue"),
  },
  {
    name = "rename",
    argument = "{title}",
    summary = "Gives the session another title.",
    run = on_session("rename"),
  },
  {
    name = "export",
    summary = "Shows the session as Markdown, in a tab page.",
    run = on_session("export"),
  },
  {
    name = "new",
    argument = "[agent]",
    summary = "Opens another session, with an agent of your settings.",
    run = on_session("new"),
  },
  { name = "close", summary = "Ends the session and its agent.", run = on_session("close") },
  {
    name = "retry",
    summary = "Sends the prompt of the turn that failed again.",
    run = function()
      require("lsp_agent.chat").when_open(function(session, to)
        require("lsp_agent.client").execute(to, "lspAgent.retry", { sessionId = session.id })
      end)
    end,
  },
  {
    name = "compact",
    summary = "Has the agent summarise the conversation, to make room.",
    run = function()
      require("lsp_agent.chat").request("agent/compact", {}, function()
        tell("the conversation is summarised")
      end)
    end,
  },
  {
    name = "clear",
    summary = "Has the agent forget the conversation.",
    run = function()
      require("lsp_agent.chat").request("agent/clear", {}, function()
        tell("the conversation is forgotten")
      end)
    end,
  },
  { name = "status", summary = "Says what the session is and does.", run = on_session("status") },
  {
    name = "connect",
    summary = "Chooses the agent: one that is installed, a model's key, a model server. It is "
      .. "written into your own settings and tried; a key goes into the system's keyring.",
    run = function()
      local root = require("lsp_agent.chat").root()
      client.when_ready(function(found)
        require("lsp_agent.connect").run(found)
      end, root)
    end,
    alone = true,
  },
  {
    name = "install",
    summary = "Installs the server, or brings it up to date: by uv, by pipx, else in a venv of its "
      .. "own.",
    alone = true,
    run = function()
      require("lsp_agent.install").run()
    end,
  },
  {
    name = "restart",
    summary = "Starts the server again. Changes that are to be reviewed stay so.",
    alone = true,
    run = function()
      client.restart(require("lsp_agent.chat").root())
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
    end, require("lsp_agent.chat").root())
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
