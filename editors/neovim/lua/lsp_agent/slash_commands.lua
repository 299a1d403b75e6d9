--- The slash commands of the agent and of its extensions.

local chat = require("lsp_agent.chat")
local client = require("lsp_agent.client")
local tell = require("lsp_agent.tell")

local M = {}

-- How long a completion waits for an agent that has to be started for it.
local PATIENCE_MS = 1000

--- Asks for them; there are none where they cannot be asked for, which is said where one is run.
---@param on_told fun(commands: { name: string, description?: string }[])
function M.ask(on_told)
  local session, to = chat.session(), chat.client()
  if not session or not to then
    on_told({})
    return
  end
  require("lsp_agent.sessions").when_open(session, to, function()
    client.request(to, "agent/commands", { sessionId = session.id }, function(result)
      on_told(result.commands)
    end, function()
      on_told({})
    end)
  end)
end

--- Their names, as far as the agent tells them soon.
---@return string[]
function M.names()
  local told
  M.ask(function(commands)
    told = commands
  end)
  -- A request that takes longer goes on: to cancel it would cancel the start of an agent as well.
  vim.wait(PATIENCE_MS, function()
    return told ~= nil
  end, 10)
  return vim.tbl_map(function(command)
    return command.name
  end, told or {})
end

---@param result table
---@param session lsp_agent.Session
local function act(result, session)
  if result.action == "prompt" then
    require("lsp_agent").prompt(result.text)
  elseif result.action == "insert" and vim.bo.modifiable then
    vim.api.nvim_put(vim.split(result.text or "", "\n"), "c", true, true)
  elseif result.text then
    session.transcript:append(vim.split(result.text, "\n"))
    if not chat.is_shown(session) then
      tell(result.text)
    end
  end
end

--- Runs one; without a name the person chooses it.
---@param argument string its name, then its arguments
---@param on_refused? fun()
function M.run(argument, on_refused)
  local name, args = argument:match("^(%S*)%s*(.*)$")
  if name ~= "" then
    chat.request("agent/runCommand", { name = name, args = args }, act, on_refused)
    return
  end
  chat.request("agent/commands", {}, function(result)
    require("lsp_agent.pick")(result.commands, {
      prompt = "Command",
      kind = "lsp_agent_command",
      none = "the agent offers no commands",
      title = function(command)
        return ("/%s · %s"):format(command.name, command.description or "")
      end,
    }, function(command)
      M.run(command.name)
    end)
  end)
end

return M
