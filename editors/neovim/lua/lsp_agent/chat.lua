--- The chat: a window with a session's conversation, and one below it to write prompts in.

local client = require("lsp_agent.client")
local config = require("lsp_agent.config")
local sessions = require("lsp_agent.sessions")

local M = {}

local api = vim.api
local PROMPT_HEIGHT = 4

---@param role "chat"|"prompt"
---@return integer? window of this tab page
local function window_of(role)
  for _, window in ipairs(api.nvim_tabpage_list_wins(0)) do
    if vim.w[window].lsp_agent == role then
      return window
    end
  end
end

---@type integer?
local prompt_buffer

---@return integer
local function prompt_bufnr()
  if prompt_buffer and api.nvim_buf_is_valid(prompt_buffer) then
    return prompt_buffer
  end
  prompt_buffer = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(prompt_buffer, "lsp-agent://prompt")
  vim.bo[prompt_buffer].bufhidden = "hide"
  vim.bo[prompt_buffer].filetype = "lsp_agent_prompt"
  local function map(modes, keys, action, description)
    vim.keymap.set(modes, keys, action, { buffer = prompt_buffer, desc = description })
  end
  map({ "n", "i" }, "<CR>", M.send, "Send the prompt")
  map("i", "<C-j>", "<C-v><C-j>", "A new line")
  map("i", "<S-CR>", "<C-v><C-j>", "A new line")
  map("n", "<C-c>", M.stop, "Stop the agent")
  map("n", "q", M.close, "Close the chat")
  return prompt_buffer
end

-- The session on show, else the one of the client for the current buffer.
---@return lsp_agent.Session?
function M.session()
  local window = window_of("chat")
  local shown = window and sessions.by_buffer(api.nvim_win_get_buf(window))
  if shown then
    return shown
  end
  local found = client.of()
  return found and sessions.project_of(found).current
end

---@param session lsp_agent.Session
---@return string
local function title(session)
  local parts = { "agent" }
  table.insert(parts, session.model)
  table.insert(parts, session.title)
  if #session.queued > 0 then
    table.insert(parts, ("%d waiting"):format(#session.queued))
  end
  if next(session.questions) then
    table.insert(parts, "asks")
  elseif session.busy then
    table.insert(parts, "working")
  end
  return (table.concat(parts, " · "):gsub("%%", "%%%%"))
end

---@param window integer
---@param options table<string, any>
local function set(window, options)
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { scope = "local", win = window })
  end
end

---@param session lsp_agent.Session
---@return integer window
local function open_chat(session)
  local width = config.options.chat.width
  width = math.floor(width < 1 and vim.o.columns * width or width)
  local window = api.nvim_open_win(session.transcript.bufnr, false, {
    split = "right",
    win = -1,
    width = width,
  })
  vim.w[window].lsp_agent = "chat"
  set(window, {
    number = false,
    relativenumber = false,
    signcolumn = "no",
    foldcolumn = "0",
    list = false,
    spell = false,
    wrap = true,
    linebreak = true,
    breakindent = true,
    conceallevel = 2,
    winfixwidth = true,
    foldenable = true,
    foldmethod = "expr",
    foldexpr = "v:lua.require'lsp_agent.transcript'.fold_level(bufnr(), v:lnum)",
    foldlevel = 0,
    foldtext = "",
    fillchars = "fold: ",
  })
  api.nvim_win_set_cursor(window, { api.nvim_buf_line_count(session.transcript.bufnr), 0 })
  return window
end

---@param chat integer window
---@return integer window
local function open_prompt(chat)
  local window = api.nvim_open_win(prompt_bufnr(), false, {
    split = "below",
    win = chat,
    height = PROMPT_HEIGHT,
  })
  vim.w[window].lsp_agent = "prompt"
  set(window, {
    number = false,
    relativenumber = false,
    signcolumn = "no",
    foldcolumn = "0",
    wrap = true,
    linebreak = true,
    winfixheight = true,
    winfixwidth = true,
    winbar = "%#LspAgentState#prompt: Enter sends, Ctrl-J breaks the line%*",
  })
  return window
end

--- Shows the chat; with `focus` to write a prompt.
---@param options? { focus?: boolean }
function M.open(options)
  local session = M.session()
  if not session then
    vim.notify("lsp_agent: no server runs for this buffer", vim.log.levels.WARN)
    return
  end
  local chat = window_of("chat") or open_chat(session)
  local prompt = window_of("prompt") or open_prompt(chat)
  M.refresh()
  if options and options.focus then
    api.nvim_set_current_win(prompt)
    vim.cmd.startinsert()
  end
end

function M.close()
  for _, role in ipairs({ "prompt", "chat" }) do
    local window = window_of(role)
    if window and #api.nvim_tabpage_list_wins(0) > 1 then
      api.nvim_win_close(window, true)
    end
  end
end

function M.toggle()
  if window_of("chat") then
    M.close()
  else
    M.open({ focus = true })
  end
end

---@param session lsp_agent.Session
function M.show(session)
  session.project.current = session
  local window = window_of("chat")
  if window then
    api.nvim_win_set_buf(window, session.transcript.bufnr)
    api.nvim_win_set_cursor(window, { api.nvim_buf_line_count(session.transcript.bufnr), 0 })
  end
  M.refresh()
end

--- Brings what the windows say of the session up to date.
function M.refresh()
  for _, window in ipairs(api.nvim_list_wins()) do
    if vim.w[window].lsp_agent == "chat" then
      local session = sessions.by_buffer(api.nvim_win_get_buf(window))
      if session then
        set(window, { winbar = title(session) })
      end
    end
  end
end

--- Sends what is written in the prompt's window.
function M.send()
  local bufnr = prompt_bufnr()
  local text = table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
  if vim.trim(text) == "" then
    return
  end
  api.nvim_buf_set_lines(bufnr, 0, -1, true, {})
  require("lsp_agent").prompt(text)
end

function M.stop()
  require("lsp_agent").stop()
end

--- Called once, by `plugin/lsp_agent.lua`.
function M.listen()
  api.nvim_create_autocmd("WinClosed", {
    group = api.nvim_create_augroup("lsp_agent.chat", {}),
    callback = function(event)
      local window = tonumber(event.match)
      if window and vim.w[window].lsp_agent == "chat" then
        vim.schedule(M.close)
      end
    end,
  })
end

return M
