--- The commands that the person has allowed for good: shown, and taken back one by one.

local client = require("lsp_agent.client")
local pick = require("lsp_agent.pick")
local tell = require("lsp_agent.tell")

local M = {}

-- In one line, with what would not be seen written out.
---@param permission { command: string }
---@return string
local function command_of(permission)
  return vim.fn.strtrans((permission.command:gsub("\n", " ↵ ")))
end

---@param permission { command: string, folder?: string }
---@return string
local function title_of(permission)
  local where = permission.folder and "in " .. vim.fn.strtrans(permission.folder) or "everywhere"
  return ("%s · %s"):format(command_of(permission), where)
end

--- Lists them; the one that is chosen is asked about again.
function M.choose()
  local _, to = require("lsp_agent.chat").target()
  if not to then
    return
  end
  client.request(to, "agent/permissions", {}, function(result)
    pick(result.permissions, {
      prompt = "Allowed for good: ask again about",
      kind = "lsp_agent_permission",
      none = "no command is allowed for good",
      title = title_of,
    }, function(permission)
      local params = { remove = { permission.permissionId } }
      client.request(to, "agent/permissions", params, function()
        tell("asked about again: " .. command_of(permission))
      end)
    end)
  end)
end

return M
