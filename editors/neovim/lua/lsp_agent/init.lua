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

---@class lsp_agent.Context
---@field uri string
---@field range? lsp.Range

--- Sends a prompt to the session on show, else to the one of the current buffer's project.
---@param text string
---@param context? lsp_agent.Context[] documents, or parts of them, that go along
function M.prompt(text, context)
  local client = require("lsp_agent.client")
  local chat = require("lsp_agent.chat")
  local session = chat.session()
  local id = session and session.project.client_id
  local to = id and vim.lsp.get_client_by_id(id) or client.of()
  if not to then
    vim.notify("lsp_agent: no server runs for this buffer", vim.log.levels.ERROR)
    return
  end
  if require("lsp_agent.config").options.chat.open then
    chat.open()
  end
  local argument = {
    text = text,
    sessionId = session and session.id,
    context = context and #context > 0 and context or nil,
  }
  client.execute(to, "lspAgent.prompt", argument)
end

--- Stops what runs in the session on show, and drops what waits.
function M.stop()
  local client = require("lsp_agent.client")
  local session = require("lsp_agent.chat").session()
  local to = client.of()
  if to then
    client.request(to, "agent/abort", { sessionId = session and session.id })
  end
end

return M
