--- Messages of one line: a longer one would ask for Enter, and take a key that is being typed. What
--- has no room in it, a remedy most often, is shown in full in a window that takes no keys.

local api = vim.api

-- How long such a window stays at least; then it goes with the next thing that the person does.
local READING_MS = 5000

---@type integer?
local window

---@param text string
local function show(text)
  if window and api.nvim_win_is_valid(window) then
    api.nvim_win_close(window, true)
  end
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(vim.trim(text), "\n"))
  vim.bo[bufnr].bufhidden = "wipe"
  local width = math.max(math.min(vim.o.columns - 4, 80), 1)
  local opened = api.nvim_open_win(bufnr, false, {
    relative = "editor",
    anchor = "NE",
    row = 1,
    col = vim.o.columns - 1,
    width = width,
    height = math.max(vim.o.lines - vim.o.cmdheight - 4, 1),
    style = "minimal",
    border = "rounded",
    focusable = false,
    noautocmd = true,
  })
  vim.wo[opened].wrap, vim.wo[opened].linebreak = true, true
  local needed = api.nvim_win_text_height(opened, {}).all
  api.nvim_win_set_height(opened, math.min(needed, api.nvim_win_get_height(opened)))
  window = opened
  vim.defer_fn(function()
    api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "InsertEnter", "CmdlineEnter" }, {
      once = true,
      callback = vim.schedule_wrap(function()
        if api.nvim_win_is_valid(opened) then
          api.nvim_win_close(opened, true)
        end
      end),
    })
  end, READING_MS)
end

---@param text string
---@param level? integer of |vim.log.levels|
return function(text, level)
  local line = ("agent: " .. text):gsub("%s+", " ")
  local room = math.max(vim.v.echospace, 10)
  if vim.fn.strdisplaywidth(line) > room then
    line = vim.fn.strcharpart(line, 0, room - 1) .. "…"
    show(text)
  end
  vim.notify(line, level or vim.log.levels.INFO)
end
