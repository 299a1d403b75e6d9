--- Has the agent fix what the language servers report: the server's own code action, by a command.

local client = require("lsp_agent.client")
local diagnostics = require("lsp_agent.diagnostics")
local tell = require("lsp_agent.tell")

-- As the server names it.
local TITLE = "Ask the agent to fix"

--- Asks about the problems of some lines; which one, where they are several.
---@param first integer line, from 1
---@param last integer inclusive
return function(first, last)
  local bufnr = vim.api.nvim_get_current_buf()
  local found = client.all(bufnr)[1]
  local problems = found and diagnostics.of_lines(bufnr, first - 1, last - 1, found.offset_encoding)
  if not found or not problems or not problems[1] then
    tell("no problem is reported here")
    return
  end
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(bufnr) },
    range = problems[1].range,
    context = { diagnostics = problems, triggerKind = 1 },
  }
  client.request(found, "textDocument/codeAction", params, function(actions)
    local fixes = vim.tbl_filter(function(action)
      return vim.startswith(action.title, TITLE)
    end, actions or {})
    local function run(action)
      found.commands[action.command.command](action.command)
    end
    if #fixes == 1 then
      run(fixes[1])
    else
      require("lsp_agent.pick")(fixes, {
        prompt = "Fix which problem?",
        kind = "lsp_agent_fix",
        none = "no problem is reported here",
        title = function(action)
          return vim.trim(action.title:sub(#TITLE + 2))
        end,
      }, run)
    end
  end)
end
