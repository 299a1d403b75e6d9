--- Where the chat's two windows stand.

local config = require("lsp_agent.config")

local M = {}

local api = vim.api
local PROMPT_HEIGHT = 4
-- Of the screen, what both take where they float.
local FLOAT_SHARE = 0.8
-- Lines above and below a window that floats.
local BORDER = 2

---@alias lsp_agent.Role "chat"|"prompt"
---@alias lsp_agent.Layout "right"|"bottom"|"float"|"tab"

---@param size number cells, or the share of the screen if below 1
---@param screen integer
---@return integer
local function cells(size, screen)
  return math.floor(size < 1 and screen * size or size)
end

-- The chat above, the prompt below it, in the middle of the screen.
---@param role lsp_agent.Role
---@return vim.api.keyset.win_config
local function floating(role)
  local columns, lines = vim.o.columns, vim.o.lines - vim.o.cmdheight
  local width, height = cells(FLOAT_SHARE, columns), cells(FLOAT_SHARE, lines)
  local chat_height = math.max(height - PROMPT_HEIGHT - 2 * BORDER, 3) -- one is the bar's
  local both = chat_height + PROMPT_HEIGHT + 2 * BORDER
  local top = math.max(math.floor((lines - both) / 2), 0)
  return {
    relative = "editor",
    row = role == "chat" and top or top + chat_height + BORDER,
    col = math.floor((columns - width) / 2),
    width = math.max(width - BORDER, 1),
    height = role == "chat" and chat_height or PROMPT_HEIGHT,
    border = "rounded",
    zindex = 45, -- below pickers
  }
end

-- The window of a tab page of its own.
---@return integer
local function tab_window()
  vim.cmd("tab split")
  vim.t.lsp_agent = "chat"
  return api.nvim_get_current_win()
end

--- Opens the chat's window.
---@param bufnr integer
---@return integer window
function M.open_chat(bufnr)
  local options = config.options.chat
  local layout, window = options.layout, nil
  if layout == "tab" then
    window = tab_window()
  elseif layout == "float" then
    window = api.nvim_open_win(bufnr, false, floating("chat"))
  elseif layout == "bottom" then
    local height = cells(options.height, vim.o.lines)
    window = api.nvim_open_win(bufnr, false, { split = "below", win = -1, height = height })
  else
    local width = cells(options.width, vim.o.columns)
    window = api.nvim_open_win(bufnr, false, { split = "right", win = -1, width = width })
  end
  vim.w[window].lsp_agent_layout = layout
  return window
end

--- Opens the prompt's, below the chat's.
---@param bufnr integer
---@param chat integer window
---@return integer window
function M.open_prompt(bufnr, chat)
  if M.floats(chat) then
    return api.nvim_open_win(bufnr, false, floating("prompt"))
  end
  local below = { split = "below", win = chat, height = PROMPT_HEIGHT }
  return api.nvim_open_win(bufnr, false, below)
end

--- Has a window that floats stand where the screen, as it is now, has it.
---@param window integer
---@param role lsp_agent.Role
function M.place(window, role)
  api.nvim_win_set_config(window, floating(role))
end

---@param window integer
---@return boolean
function M.floats(window)
  return api.nvim_win_get_config(window).relative ~= ""
end

--- The tab page that is the chat's own.
---@return integer?
function M.own_tab()
  for _, tab in ipairs(api.nvim_list_tabpages()) do
    if vim.t[tab].lsp_agent == "chat" then
      return tab
    end
  end
end

return M
