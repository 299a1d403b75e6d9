--- A language server in this process: what 'cmd' of a client's configuration takes.

---@alias lsp_agent.Answer fun(err?: lsp.ResponseError, result?: any)

--- What is not handled is answered with nothing.
---@param handlers table<string, fun(params: table, answer: lsp_agent.Answer)> by method
---@return fun(dispatchers: vim.lsp.rpc.Dispatchers): vim.lsp.rpc.PublicClient
return function(handlers)
  local stopped = false
  return function(dispatchers)
    local requests = 0
    return {
      request = function(method, params, answer)
        requests = requests + 1
        local handler = handlers[method]
        vim.schedule(function()
          if handler then
            handler(params, answer)
          else
            answer(nil, vim.NIL)
          end
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
  end
end
