--- The prompts that were sent, brought back where prompts are written.

local M = {}

local api = vim.api
local MOST = 100

---@type string[]
local sent = {}

-- Which one a buffer shows, and what stood there before; by buffer.
---@type table<integer, { at: integer, own: string[], shown: string[] }>
local places = {}

---@param text string
function M.add(text)
  if sent[#sent] ~= text then
    table.insert(sent, text)
    table.remove(sent, #sent > MOST and 1 or #sent + 1)
  end
end

--- Shows the prompt before, or after, in place of what is written; that comes back behind the last.
---@param step -1|1
function M.go(step)
  local bufnr = api.nvim_get_current_buf()
  local lines = api.nvim_buf_get_lines(bufnr, 0, -1, true)
  local place = places[bufnr]
  if not place or not vim.deep_equal(place.shown, lines) then -- another text is being written
    place = { at = #sent + 1, own = lines, shown = lines }
  end
  local at = place.at + step
  if at >= 1 and at <= #sent + 1 then
    local shown = at <= #sent and vim.split(sent[at], "\n") or place.own
    api.nvim_buf_set_lines(bufnr, 0, -1, true, shown)
    local last = api.nvim_buf_get_lines(bufnr, -2, -1, true)[1]
    api.nvim_win_set_cursor(0, { #shown, #last })
    places[bufnr] = { at = at, own = place.own, shown = shown }
  end
end

--- The same by a key, which elsewhere than at the text's edge does what it always does.
---@param keys string
---@param step -1|1
function M.on_key(keys, step)
  local edge = step < 0 and 1 or api.nvim_buf_line_count(0)
  if vim.fn.pumvisible() == 0 and api.nvim_win_get_cursor(0)[1] == edge then
    M.go(step)
  else
    api.nvim_feedkeys(vim.keycode(keys), "n", false)
  end
end

return M
