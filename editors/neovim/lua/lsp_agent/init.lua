local M = {}

--- Sets the options and turns the plugin on for all files. On Neovim 0.11 and newer
--- `vim.lsp.enable("lsp_agent")` does the same with the default options.
---@param options? lsp_agent.Options
function M.setup(options)
  local client = require("lsp_agent.client")
  require("lsp_agent.config").set(options)
  if vim.lsp.config then
    vim.lsp.config(client.NAME, client.config())
    vim.lsp.enable(client.NAME)
  end
  client.chosen = true
  client.attach_all()
end

--- Sends a prompt: in the chat's windows to the session that they show, elsewhere to that of the
--- current buffer's project. A file that the text names as `@path`, from the project's folder,
--- goes along. While the server starts the prompt waits for it. While the agent works it waits for
--- the turn's end, or with `steer` in the options is handed to the agent at once, if that can take
--- it. A prompt that is refused or dropped is put where prompts are written.
---@param text string
---@param context? lsp_agent.Context[] documents, or parts of them, that go along
---@param options? { steer?: boolean }
function M.prompt(text, context, options)
  require("lsp_agent.prompts").write({
    text = text,
    held = {},
    context = context or {},
    steer = options and options.steer,
  })
end

--- Stops what that session does, and drops what waits.
function M.stop()
  require("lsp_agent.chat").request("agent/abort", {}, function(result)
    if not result.aborted then
      require("lsp_agent.tell")("nothing runs")
    end
  end)
  local session = require("lsp_agent.chat").session()
  if session then
    require("lsp_agent.prompts").stopped(session)
  end
end

--- For 'statusline': what the agent of the current buffer's project does, and what there is to
--- review in this buffer; empty where no server is.
---@return string
function M.statusline()
  -- Drawn all the time, and the folder of a file without a server is looked for on disk.
  local found = #require("lsp_agent.client").all() > 0 and require("lsp_agent.chat").client()
  if not found then
    return ""
  end
  local session = require("lsp_agent.sessions").project_of(found).current
  local parts = { "agent" }
  if next(session.questions) then
    table.insert(parts, "asks")
  elseif session.busy then
    table.insert(parts, "working")
  end
  local count = require("lsp_agent.marks").count(vim.api.nvim_get_current_buf())
  if count > 0 then
    table.insert(parts, ("%d to review"):format(count))
  end
  return table.concat(parts, " · ")
end

return M
