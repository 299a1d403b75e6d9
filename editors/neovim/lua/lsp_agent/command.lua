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
    ---@type table<string, fun(argument: string)>
    local actions = require("lsp_agent.session_actions")
    actions[action](argument)
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

---@param argument string
local function answer(argument)
  local questions = require("lsp_agent.ask")
  local session = require("lsp_agent.chat").session()
  local question = questions.open(session)
  local number, reason = argument:match("^(%d+)%s*(.*)$")
  if not question then
    tell("no question is open")
  elseif number and session and session.questions[1] then
    questions.answer(question, tonumber(number) --[[@as integer]], reason ~= "" and reason or nil)
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
    argument = "[layout]",
    summary = "Shows or hides the chat; with right, bottom, float or tab shows it there from now "
      .. "on.",
    run = function(argument)
      local chat = require("lsp_agent.chat")
      if argument == "" then
        chat.toggle()
      else
        chat.lay_out(argument)
      end
    end,
    complete = function()
      return require("lsp_agent.config").layouts
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
    summary = "Hands a prompt to the agent while it works, if it can take one then (the embedded "
      .. "one, pi and Meerkat can); lines of a range go along. The other prompts wait until the "
      .. "turn has ended.",
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
    name = "revert",
    summary = "Takes the session's last turn out of all files, kept changes included.",
    run = function()
      require("lsp_agent.chat").request("agent/revert", {}, require("lsp_agent.tell_reverted"))
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
    name = "rewind",
    summary = "Goes back to before an earlier prompt, which you choose and can change; if you want, "
      .. "what the agent changed in files since is taken out as well, and what you did since stays. "
      .. "What was said since is kept as a session of its own.",
    run = on_session("rewind"),
  },
  {
    name = "fork",
    summary = "Opens a session that goes on from before an earlier prompt, or from now on.",
    run = on_session("fork"),
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

vim.list_extend(M.commands, require("lsp_agent.review_commands"))

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
  ---@cast name string
  ---@cast argument string
  local command = find(name == "" and "ask" or name)
  if not command and argument ~= "" then
    ask(options.args, options)
  elseif not command then -- one word is rather a sub-command with a slip in it
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
