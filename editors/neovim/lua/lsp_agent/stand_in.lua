--- A client in this process that does nothing. Neovim stops listening for good to a buffer that is
--- typed in while it has no client: a server that is started afterwards would never be told of a
--- change. So while a server is gone its buffers have this one.

local M = {}

M.NAME = "lsp_agent_waiting"

---@return vim.lsp.Config
function M.config()
  return {
    name = M.NAME,
    root_dir = "/",
    cmd = require("lsp_agent.in_process")({
      initialize = function(_, answer)
        answer(nil, { capabilities = vim.empty_dict() })
      end,
    }),
  }
end

return M
