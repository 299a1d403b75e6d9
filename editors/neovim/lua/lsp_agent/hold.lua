--- Holds a change of a buffer back while what the person has begun would then act on other text.

local M = {}

local HOLD_MS = 3000

-- Whether what is typed goes before or behind several lines: at its end Neovim repeats it by their
-- old numbers.
local several_lines = false

-- Whether a command that is being typed has a line's number in its range.
---@return boolean
local function names_lines()
  local line = vim.fn.getcmdline():gsub("'%a", "")
  return vim.fn.getcmdtype() == ":" and line:find("^[^%a/?]*%d") ~= nil
end

-- Whether something is under way in the buffer that lines which come in above would move away from
-- what it is about: a selection or an operator (Neovim 0.10, 0.11), or what has numbers of lines.
---@param bufnr integer
---@return boolean
local function in_use(bufnr)
  if vim.api.nvim_get_current_buf() ~= bufnr then
    return false
  end
  local mode = vim.api.nvim_get_mode().mode
  return vim.startswith(mode, "no")
    or mode:find("^[vVsS\22\19]") ~= nil
    or (several_lines and vim.startswith(mode, "i"))
    or (mode == "c" and names_lines())
end

--- Waits, without holding up anything else. To be called in a coroutine, as handlers are.
---@async
---@param bufnr integer
---@return boolean free
function M.until_free(bufnr)
  if not in_use(bufnr) then
    return true
  end
  local thread = assert(coroutine.running())
  local deadline = vim.uv.now() + HOLD_MS
  local timer = assert(vim.uv.new_timer())
  timer:start(
    20,
    20,
    vim.schedule_wrap(function()
      if timer:is_closing() then
        return
      end
      local free = not (vim.api.nvim_buf_is_valid(bufnr) and in_use(bufnr))
      if free or vim.uv.now() > deadline then
        timer:close()
        assert(coroutine.resume(thread, free))
      end
    end)
  )
  return coroutine.yield()
end

local function listen()
  local group = vim.api.nvim_create_augroup("lsp_agent.hold", {})
  vim.api.nvim_create_autocmd("ModeChanged", {
    group = group,
    pattern = "\22:i",
    callback = function()
      several_lines = true
    end,
  })
  -- <C-c> does not say that it leaves Insert mode; entering it comes before the above.
  vim.api.nvim_create_autocmd({ "InsertEnter", "InsertLeave" }, {
    group = group,
    callback = function()
      several_lines = false
    end,
  })
end

listen()

return M
