--- `:Agent connect`: chooses the agent, in the person's own settings, and tries it.

local client = require("lsp_agent.client")
local config = require("lsp_agent.config")
local pick = require("lsp_agent.pick")
local tell = require("lsp_agent.tell")

local M = {}

---@class lsp_agent.Connectable
---@field name string as `lsp-agent setup --agent` takes it
---@field title string
---@field key? boolean it needs one
---@field missing? string what brings it where it is not here

-- Those that are here first, then those that need a key, then those that are not here.
---@param found table of agent/agents
---@return lsp_agent.Connectable[]
local function offered(found)
  local here, keys, missing = {}, {}, {}
  for _, agent in ipairs(found.agents) do
    local mark = agent.chosen and " (chosen)" or ""
    if agent.name == "builtin" then
      keys = {
        { name = "anthropic", title = "Anthropic, by your key", key = true },
        { name = "openai", title = "OpenAI, by your key", key = true },
      }
    elseif agent.path then
      table.insert(here, { name = agent.name, title = agent.title .. mark })
    elseif agent.install then
      local title = ("%s · not here: %s"):format(agent.title, agent.install)
      table.insert(missing, { name = agent.name, title = title, missing = agent.install })
    end
  end
  for _, server in ipairs(found.servers) do
    local name = server.title:lower():gsub(" ", "-")
    table.insert(here, { name = name, title = ("%s · %s"):format(server.title, server.models[1]) })
  end
  return vim.list_extend(vim.list_extend(here, keys), missing)
end

-- What the command says of its trial that went wrong.
---@param ended vim.SystemCompleted
---@return string
local function reason(ended)
  local failed = (ended.stdout or ""):match("✗ ([^\n]+)")
  return failed or vim.trim(ended.stderr or ""):gsub("^lsp%-agent: ", "")
end

---@param choice lsp_agent.Connectable
---@param key? string
local function set_up(choice, key)
  local command = vim.list_extend({ config.cmd()[1] }, { "setup", "--yes", "--agent", choice.name })
  if key then
    table.insert(command, "--key")
  end
  tell(("trying %s …"):format(choice.title))
  vim.system(
    command,
    { text = true, stdin = key and key .. "\n" or nil },
    vim.schedule_wrap(function(ended)
      if ended.code == 0 then
        tell(("%s answers: :Agent ask …"):format(choice.title))
      else
        tell(reason(ended), vim.log.levels.ERROR)
      end
      client.restart(require("lsp_agent.chat").root())
    end)
  )
end

---@param choice lsp_agent.Connectable
local function take(choice)
  if choice.missing then
    tell(("install it in a terminal, then try again: %s"):format(choice.missing))
  elseif choice.key then
    -- Not by vim.ui.input(), which shows and may remember it.
    local key = vim.fn.inputsecret("Key (empty: the one of your keyring or environment): ")
    set_up(choice, key ~= "" and key or nil)
  else
    set_up(choice)
  end
end

---@param to? vim.lsp.Client
function M.run(to)
  if not to then
    tell("no server runs: open a file first, and see :checkhealth lsp_agent")
    return
  end
  client.request(to, "agent/agents", {}, function(found)
    pick(offered(found), {
      prompt = "Agent",
      kind = "lsp_agent_connect",
      title = function(choice)
        return choice.title
      end,
    }, take)
  end)
end

return M
