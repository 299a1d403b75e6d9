--- `:Agent` and its sub-commands.

local M = {}

---@class lsp_agent.Command
---@field summary string
---@field run fun(argument: string, options: vim.api.keyset.create_user_command.command_args)

---@type table<string, lsp_agent.Command>
M.commands = {
  ask = {
    summary = "Send a prompt.",
    run = function(argument)
      require("lsp_agent").prompt(argument)
    end,
  },
  chat = {
    summary = "Show or hide the chat.",
    run = function()
      require("lsp_agent.chat").toggle()
    end,
  },
  stop = {
    summary = "Stop what the agent does.",
    run = function()
      require("lsp_agent").stop()
    end,
  },
}

---@param options vim.api.keyset.create_user_command.command_args
function M.run(options)
  local name, argument = options.args:match("^(%S*)%s*(.*)$")
  local command = M.commands[name]
  if not command then
    vim.notify(("lsp_agent: :Agent has no %q"):format(name), vim.log.levels.ERROR)
    return
  end
  command.run(argument, options)
end

---@param lead string
---@return string[]
function M.complete(lead)
  local found = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, vim.tbl_keys(M.commands))
  table.sort(found)
  return found
end

return M
