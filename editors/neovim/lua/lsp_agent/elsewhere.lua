--- What a person who looks elsewhere is told: a turn's end, a question. Those who want it told in
--- another way have the `User` events.

local M = {}

-- As the terminal tells; one that does not is looked at.
local is_away = false

local function ring()
  if is_away and require("lsp_agent.config").options.bell then
    -- Neovim's own `:normal! <Esc>` rings only where 'belloff' lets it.
    vim.api.nvim_chan_send(vim.v.stderr, "\a")
  end
end

---@param pattern string
---@param data table
local function tell(pattern, data)
  vim.api.nvim_exec_autocmds("User", { pattern = pattern, data = data, modeline = false })
  ring()
end

---@param session lsp_agent.Session
---@param event table `turnEnded` of `agent/event`
function M.turn_ended(session, event)
  tell("LspAgentTurnEnded", {
    session_id = session.id,
    title = session.title,
    stop_reason = event.stopReason,
    error = event.error,
  })
end

---@param session lsp_agent.Session
---@param question table of `agent/event`
function M.asked(session, question)
  tell("LspAgentAsked", {
    session_id = session.id,
    title = session.title,
    question = question.title,
  })
end

function M.listen()
  vim.api.nvim_create_autocmd({ "FocusLost", "FocusGained" }, {
    group = vim.api.nvim_create_augroup("lsp_agent.elsewhere", {}),
    callback = function(args)
      is_away = args.event == "FocusLost"
    end,
  })
end

return M
