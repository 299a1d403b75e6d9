--- The chat's two windows in a tab page, and the buffer in which prompts are written.

local layouts = require("lsp_agent.layouts")
local own_buffer = require("lsp_agent.own_buffer")

local M = {}

local api = vim.api

-- Those of both, with some more.
---@param more table<string, any>
---@return table<string, any>
local function options(more)
  return vim.tbl_extend("error", {
    number = false,
    relativenumber = false,
    signcolumn = "no",
    foldcolumn = "0",
    wrap = true,
    linebreak = true,
    winfixwidth = true,
    winfixbuf = true,
  }, more)
end

---@type table<lsp_agent.Role, table<string, any>>
local OPTIONS = {
  chat = options({
    list = false,
    spell = false,
    breakindent = true,
    conceallevel = 0, -- a command that is asked about is seen as it is
    foldenable = true,
    foldmethod = "manual",
    foldtext = "v:lua.require'lsp_agent.calls'.fold_text()",
    fillchars = "fold: ",
  }),
  prompt = options({ winfixheight = true }),
}

---@param role lsp_agent.Role
---@param tabpage? integer this one, if none is given
---@return integer? window
function M.of(role, tabpage)
  for _, window in ipairs(api.nvim_tabpage_list_wins(tabpage or 0)) do
    if vim.w[window].lsp_agent == role then
      return window
    end
  end
end

---@param window integer
---@param values table<string, any>
function M.set(window, values)
  for name, value in pairs(values) do
    api.nvim_set_option_value(name, value, { scope = "local", win = window })
  end
end

-- Has a window be one of the chat's.
---@param window integer
---@param role lsp_agent.Role
local function dress(window, role)
  vim.w[window].lsp_agent = role
  M.set(window, OPTIONS[role])
  if vim.w[window].lsp_agent_layout == "bottom" then
    M.set(window, { winfixheight = true })
  end
end

--- Gives a window the person's own values of some options.
---@param window integer
---@param values table<string, any>
function M.reset(window, values)
  api.nvim_win_call(window, function()
    for name in pairs(values) do
      vim.cmd.setlocal(name .. "<")
    end
  end)
end

-- Has a window be one of the person's own.
---@param window integer
local function undress(window)
  vim.w[window].lsp_agent = nil
  for _, own in pairs(OPTIONS) do
    M.reset(window, own)
  end
  M.reset(window, { winbar = "" })
end

-- Puts a conversation into a chat's window, whose options a new buffer sets to the person's own.
---@param window integer
---@param transcript lsp_agent.Transcript
local function fill(window, transcript)
  local bufnr = transcript:buffer()
  M.set(window, { winfixbuf = false })
  api.nvim_win_set_buf(window, bufnr)
  dress(window, "chat")
  transcript:fold(window)
  require("lsp_agent.follow").to_end(window)
end

--- Has the chat's window, if it is open, show a conversation.
---@param transcript lsp_agent.Transcript
function M.show(transcript)
  local window = M.of("chat")
  if window and api.nvim_win_get_buf(window) ~= transcript:buffer() then
    fill(window, transcript)
  end
end

---@type integer?
local prompt_buffer
-- What was being written when its buffer went.
---@type string[]
local kept = {}

--- The buffer in which prompts are written: a new one with the same text if the person has removed
--- it.
---@return integer
function M.prompt_bufnr()
  if prompt_buffer and api.nvim_buf_is_loaded(prompt_buffer) then
    return prompt_buffer
  end
  local bufnr = own_buffer("lsp-agent://prompt", "lsp_agent_prompt")
  prompt_buffer = bufnr
  api.nvim_buf_set_lines(bufnr, 0, -1, true, kept)
  api.nvim_create_autocmd("BufUnload", {
    buffer = bufnr,
    callback = function()
      kept = api.nvim_buf_get_lines(bufnr, 0, -1, true)
    end,
  })
  return bufnr
end

--- Opens those of the chat's windows that are not open.
---@param transcript lsp_agent.Transcript
---@return integer chat
---@return integer prompt
function M.open(transcript)
  local own_tab = layouts.own_tab()
  if own_tab then
    api.nvim_set_current_tabpage(own_tab)
  end
  local chat = M.of("chat")
  if not chat then
    chat = layouts.open_chat(transcript:buffer())
    fill(chat, transcript)
  end
  local prompt = M.of("prompt")
  if not prompt then
    prompt = layouts.open_prompt(M.prompt_bufnr(), chat)
    dress(prompt, "prompt")
  end
  return chat, prompt
end

-- The tab page that was shown before the chat's own, or else another.
---@return integer?
local function tab_before()
  local tabs = api.nvim_list_tabpages()
  return tabs[vim.fn.tabpagenr("#")]
    or vim.iter(tabs):find(function(tab)
      return not vim.t[tab].lsp_agent
    end)
end

--- The windows of this tab page that are neither the chat's nor float, the current one first; from
--- the chat's own tab page those of the one before.
---@return integer[]
function M.of_files()
  local current, windows = api.nvim_get_current_win(), nil
  if vim.t.lsp_agent then
    local before = tab_before()
    windows = before and api.nvim_tabpage_list_wins(before) or {}
  else
    windows = vim.list_extend({ current }, api.nvim_tabpage_list_wins(0))
  end
  return vim.tbl_filter(function(window)
    return not layouts.floats(window) and not vim.w[window].lsp_agent
  end, windows)
end

-- A buffer that the person has, or else an empty one.
---@return integer
local function some_bufnr()
  for _, bufnr in ipairs(vim.list_extend({ vim.fn.bufnr("#") }, api.nvim_list_bufs())) do
    if api.nvim_buf_is_valid(bufnr) and vim.bo[bufnr].buflisted then
      return bufnr
    end
  end
  return api.nvim_create_buf(true, false)
end

-- Opens a window for files where only the chat's are left: those take no other buffer.
local function ensure_file()
  if M.of_files()[1] then
    return
  end
  local window = api.nvim_open_win(some_bufnr(), true, { split = "left", win = -1 })
  undress(window) -- it is opened with the options of the one beside it
  vim.t.lsp_agent = nil -- the tab page is no more the chat's own
end

-- Closes it, if it is there and not Neovim's last one.
---@param window? integer
local function close(window)
  local is_last = vim.iter(api.nvim_list_wins()):all(function(each)
    return each == window or layouts.floats(each)
  end)
  if window and api.nvim_win_is_valid(window) and not is_last then
    api.nvim_win_close(window, true)
  end
end

function M.close()
  local chat, prompt = M.of("chat"), M.of("prompt")
  if chat or prompt then
    ensure_file()
    local back = vim.t.lsp_agent and tab_before()
    if back then
      api.nvim_set_current_tabpage(back)
    end
    close(prompt)
    close(chat)
  end
end

--- Closes the tab page that is the chat's own, from another one.
function M.close_tab()
  local tab = layouts.own_tab()
  if tab then
    close(M.of("prompt", tab))
    close(M.of("chat", tab))
  end
end

-- Whether the tab page has another window of a file than this one.
---@param window integer
---@return boolean
local function has_other(window)
  return vim.iter(M.of_files()):any(function(each)
    return each ~= window
  end)
end

---@param bufnr integer
---@return boolean
local function is_ours(bufnr)
  return vim.startswith(api.nvim_buf_get_name(bufnr), "lsp-agent://")
end

local function listen()
  local group = api.nvim_create_augroup("lsp_agent.windows", {})
  local function on(event, callback)
    api.nvim_create_autocmd(event, { group = group, callback = callback })
  end
  on("WinClosed", function(event)
    local window = tonumber(event.match) --[[@as integer?]]
    if window and vim.w[window].lsp_agent == "chat" then
      local prompt = M.of("prompt", api.nvim_win_get_tabpage(window))
      vim.schedule(function()
        close(prompt)
      end)
    end
  end)
  -- Quitting the last window of a file is not to leave the chat alone.
  on("QuitPre", function()
    if not vim.w.lsp_agent and not has_other(api.nvim_get_current_win()) then
      M.close()
      if #api.nvim_list_tabpages() == 2 then
        M.close_tab()
      end
    end
  end)
  -- One that floats covers the file that the person goes to.
  on("WinEnter", function()
    vim.schedule(function()
      local chat = M.of("chat")
      if chat and layouts.floats(chat) and not layouts.floats(api.nvim_get_current_win()) then
        M.close()
      end
    end)
  end)
  on("VimResized", function()
    for _, window in ipairs(api.nvim_list_wins()) do
      local role = vim.w[window].lsp_agent
      if role and layouts.floats(window) then
        layouts.place(window, role)
      end
    end
  end)
  -- `:bdelete` closes a buffer's windows as long as there are others, and has the last one show
  -- another buffer, whosever it is.
  on("BufUnload", function()
    vim.schedule(function()
      for _, window in ipairs(api.nvim_list_wins()) do
        if vim.w[window].lsp_agent and not is_ours(api.nvim_win_get_buf(window)) then
          undress(window)
        end
      end
    end)
  end)
  on("BufDelete", function() -- of one that is listed
    vim.schedule(function()
      if M.of("chat") then
        ensure_file()
      end
    end)
  end)
end

listen()

return M
