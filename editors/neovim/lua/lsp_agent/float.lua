--- A small window below a line, in which a prompt or a comment is written with all of the person's
--- own keys.

local M = {}

local api = vim.api
local MOST_COLUMNS = 80
local MOST_LINES = 8

---@class lsp_agent.Float
---@field row integer from 0, of the line that it stands below
---@field title string
---@field text string what stands in it already
---@field on_send fun(text: string) not called with nothing written
---@field on_leave fun(text: string) it was left without sending

---@return integer
local function width()
  return math.max(math.min(MOST_COLUMNS, api.nvim_win_get_width(0) - 4), 10)
end

---@param options lsp_agent.Float
---@param bufnr integer
---@return integer window
local function open_window(options, bufnr)
  -- Where no room is below the line Neovim would put it over the line.
  local from = vim.fn.screenpos(0, options.row + 1, 1).row
  local below = from == 0 or from + 3 + vim.o.cmdheight < vim.o.lines
  return api.nvim_open_win(bufnr, true, {
    relative = "win",
    bufpos = { options.row, 0 },
    anchor = below and "NW" or "SW",
    row = below and 1 or 0,
    col = 0,
    width = width(),
    height = 1,
    style = "minimal",
    border = "rounded",
    title = (" %s "):format(options.title),
  })
end

-- As many lines as are written, up to a limit.
---@param window integer
local function fit(window)
  local needed = api.nvim_win_text_height(window, {}).all
  api.nvim_win_set_height(window, math.min(math.max(needed, 1), MOST_LINES))
end

-- Ends with what is written, once.
---@param bufnr integer
---@param options lsp_agent.Float
---@return fun(sends: boolean, close: fun())
local function ender(bufnr, options)
  local ended = false
  return function(sends, close)
    if ended then
      return
    end
    local text = table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
    if sends and vim.trim(text) == "" then
      return
    end
    ended = true
    vim.cmd.stopinsert()
    close()
    local done = sends and options.on_send or options.on_leave
    done(text)
  end
end

--- Opens it in the current window.
---@param options lsp_agent.Float
function M.open(options)
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(options.text, "\n"))
  vim.bo[bufnr].bufhidden = "wipe"
  local window = open_window(options, bufnr)
  vim.bo[bufnr].filetype = "lsp_agent_prompt"
  local wanted = { wrap = true, linebreak = true, list = false, winfixbuf = true }
  for name, value in pairs(wanted) do
    api.nvim_set_option_value(name, value, { scope = "local", win = window })
  end
  fit(window)
  local finish = ender(bufnr, options)
  local function close()
    if api.nvim_win_is_valid(window) then
      api.nvim_win_close(window, true)
    end
  end
  local function map(modes, keys, action)
    vim.keymap.set(modes, keys, action, { buffer = bufnr, nowait = true })
  end
  local function send()
    finish(true, close)
  end
  map("n", "<CR>", send)
  map("i", "<CR>", function()
    if vim.fn.pumvisible() == 1 then
      api.nvim_feedkeys(vim.keycode("<C-y>"), "n", false)
    else
      send()
    end
  end)
  map({ "n", "i" }, "<C-s>", send)
  map("n", "q", "q") -- not the chat's
  for _, keys in ipairs({ "<Esc>", "<C-c>" }) do
    map("n", keys, function()
      finish(false, close)
    end)
  end
  api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, {
    buffer = bufnr,
    callback = function()
      fit(window)
    end,
  })
  api.nvim_create_autocmd("WinLeave", {
    buffer = bufnr,
    callback = function()
      -- The text may go with the window, which cannot be closed while it is left.
      finish(false, vim.schedule_wrap(close))
    end,
  })
  api.nvim_win_set_cursor(window, { api.nvim_buf_line_count(bufnr), 0 })
  vim.cmd.startinsert({ bang = true })
end

return M
