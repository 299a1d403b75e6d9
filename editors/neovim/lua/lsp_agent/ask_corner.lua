--- That a question is open, in a corner of the screen: a window that takes neither the focus nor a
--- key, and that a click opens the question from.

local calls = require("lsp_agent.calls")

local M = {}

local api = vim.api
local MOST_COLUMNS = 60

---@type integer?
local window

--- Takes it off the screen.
function M.hide()
  if window and api.nvim_win_is_valid(window) then
    api.nvim_win_close(window, true)
  end
  window = nil
end

--- Shows two lines, in place of what is shown.
---@param what string
---@param how string
function M.show(what, how)
  M.hide()
  local room = math.min(MOST_COLUMNS, math.max(vim.o.columns - 6, 1))
  local lines = { calls.fitted(what, room), calls.shortened(how, room) }
  local widths = vim.tbl_map(vim.fn.strdisplaywidth, lines)
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  vim.bo[bufnr].bufhidden = "wipe"
  window = api.nvim_open_win(bufnr, false, {
    relative = "editor",
    anchor = "NE",
    row = 0,
    col = vim.o.columns,
    width = math.max(widths[1], widths[2], 1),
    height = 2,
    style = "minimal",
    border = "rounded",
    title = " The agent asks ",
    focusable = false,
    noautocmd = true,
    zindex = 40, -- below one that has the focus
  })
  api.nvim_set_option_value("winhighlight", "NormalFloat:LspAgentQuestion", { win = window })
end

--- Whether the mouse is on it.
---@return boolean
function M.has_mouse()
  if not window or not api.nvim_win_is_valid(window) then
    return false
  end
  local at, mouse = vim.fn.win_screenpos(window), vim.fn.getmousepos()
  local row, column = mouse.screenrow - at[1], mouse.screencol - at[2]
  -- A position is that of the border.
  return row >= 0 and row < 4 and column >= 0 and column < api.nvim_win_get_width(window) + 2
end

return M
