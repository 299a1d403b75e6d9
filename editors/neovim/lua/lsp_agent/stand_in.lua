--- A client in this process that does nothing. Neovim stops listening for good to a buffer that is
--- typed in while it has no client: a server that is started afterwards would never be told of a
--- change. So while a server is gone its buffers have this one.

local M = {}

M.NAME = "lsp_agent_waiting"

---@return vim.lsp.Config
function M.config()
  local stopped = false
  return {
    name = M.NAME,
    root_dir = "/",
    cmd = function(dispatchers)
      local requests = 0
      return {
        request = function(method, _, answer)
          requests = requests + 1
          local result = method == "initialize" and { capabilities = vim.empty_dict() } or vim.NIL
          vim.schedule(function()
            answer(nil, result)
          end)
          return true, requests
        end,
        notify = function(method)
          stopped = stopped or method == "exit"
          if method == "exit" then
            dispatchers.on_exit(0, 0)
          end
          return true
        end,
        is_closing = function()
          return stopped
        end,
        terminate = function()
          stopped = true
          dispatchers.on_exit(0, 0)
        end,
      }
    end,
  }
end

return M
