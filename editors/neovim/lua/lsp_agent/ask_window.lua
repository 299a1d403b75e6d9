--- A question in a floating window: all of it, above its answers. A picker shows one line of it,
--- or as much as it has room for; here whoever gets to an answer has been through the text.

local guard = require("lsp_agent.ask_guard")
local tell = require("lsp_agent.tell")

local M = {}

local api = vim.api
local MOST_COLUMNS = 100
local HOW = "A digit goes to its answer, Enter chooses it, q leaves the question open."

---@type { name: string, window: integer }?
local shown

---@return boolean
function M.is_open()
  return shown ~= nil and api.nvim_win_is_valid(shown.window)
end

--- Closes it, if it is open and has the question of that name.
---@param name string
function M.close(name)
  if shown and shown.name == name then
    if M.is_open() then
      api.nvim_win_close(shown.window, true)
    end
    shown = nil
  end
end

---@param bufnr integer
---@return integer
local function open_float(bufnr)
  local width = math.min(MOST_COLUMNS, math.max(vim.o.columns - 4, 1))
  local most = math.max(vim.o.lines - vim.o.cmdheight - 4, 1)
  local opened = api.nvim_open_win(bufnr, true, {
    relative = "editor",
    row = 1,
    col = math.floor((vim.o.columns - width) / 2) - 1,
    width = width,
    height = most,
    style = "minimal",
    border = "rounded",
    title = " The agent asks ",
  })
  for name, value in pairs({ wrap = true, conceallevel = 0, smoothscroll = true, list = false }) do
    api.nvim_set_option_value(name, value, { scope = "local", win = opened })
  end
  local needed = api.nvim_win_text_height(opened, {}).all
  api.nvim_win_set_height(opened, math.min(math.max(needed, 1), most))
  return opened
end

-- What a digit does. Were it a count, Enter would choose the answer that the cursor is on, whatever
-- number was typed before it.
---@param before integer how many lines are above the answers
---@param count integer of answers
---@return fun(digit: integer)
local function goes_to_answers(before, count)
  local number = 0
  return function(digit)
    if not guard.meant() then
      return
    end
    local longer = 10 * number + digit
    number = longer <= count and longer or digit
    local is_answer = number >= 1 and number <= count
    if is_answer and before + number > vim.fn.line("w$") then
      tell("read on: the answers stand below all of the text")
    elseif is_answer then
      api.nvim_win_set_cursor(0, { before + number, 0 })
    end
  end
end

--- Opens it, in place of one that is open.
---@param name string
---@param text string[]
---@param answers string[] one line each
---@param on_choice fun(number: integer)
function M.open(name, text, answers, on_choice)
  if shown then
    M.close(shown.name)
  end
  local lines = vim.list_extend({}, text)
  table.insert(lines, "")
  local before = #lines
  vim.list_extend(lines, answers)
  vim.list_extend(lines, { "", HOW })
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].modifiable = false
  local function map(keys, action)
    vim.keymap.set("n", keys, action, { buffer = bufnr, nowait = true })
  end
  map("q", function()
    if guard.meant() then
      M.close(name)
    end
  end)
  local go_to = goes_to_answers(before, #answers)
  for digit = 0, 9 do
    map(tostring(digit), function()
      go_to(digit)
    end)
  end
  map("<CR>", function()
    local number = api.nvim_win_get_cursor(0)[1] - before
    if number >= 1 and number <= #answers and guard.meant() then
      M.close(name)
      on_choice(number)
    end
  end)
  shown = { name = name, window = open_float(bufnr) }
end

return M
