--- Windows that stay at the end of a text that grows.

local M = {}

local api = vim.api

--- Those of a buffer that are at its end: whose cursor is in that row or behind it.
---@param bufnr integer
---@param row integer from 1
---@return integer[]
function M.windows(bufnr, row)
  return vim.tbl_filter(function(window)
    return api.nvim_win_get_cursor(window)[1] >= row
  end, vim.fn.win_findbuf(bufnr))
end

-- The line at the top of the current window with which the last one is at its bottom. Neovim itself
-- leaves the window as it is where folds have closed since, and centres what is far away.
---@param last integer from 1
---@return integer
local function top_for(last)
  local window = api.nvim_get_current_win()
  local room = vim.fn.getwininfo(window)[1].height
  local top = last
  while top > 1 do
    local closed = vim.fn.foldclosed(top - 1)
    local above = closed > 0 and closed or top - 1
    local range = { start_row = above - 1, end_row = top - 2 }
    room = room - api.nvim_win_text_height(window, range).all
    if room < 1 then -- the last line has one
      break
    end
    top = above
  end
  return top
end

--- Brings a window to the end of its text, which fills it.
---@param window integer
function M.to_end(window)
  local last = api.nvim_buf_line_count(api.nvim_win_get_buf(window))
  api.nvim_win_set_cursor(window, { last, 0 })
  api.nvim_win_call(window, function()
    vim.fn.winrestview({ topline = top_for(last), lnum = last, col = 0 })
  end)
end

--- The same for all windows of a buffer.
---@param bufnr integer
function M.all_to_end(bufnr)
  vim.tbl_map(M.to_end, vim.fn.win_findbuf(bufnr))
end

return M
