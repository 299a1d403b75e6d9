--- Which keys are meant for a question. What is typed as it comes up is not: whoever types on has
--- not seen it yet.

local M = {}

local REST_MS = 300

-- When the question came up, or the last key that was not meant for it.
---@type number
local since = 0
local was_early, is_meant = false, false

--- Milliseconds, of now: `vim.uv.now()` stands still while Neovim is busy.
---@return number
function M.now()
  return vim.uv.hrtime() / 1e6
end

--- A question has the keys from now on.
function M.begin()
  since, was_early, is_meant = M.now(), false, false
end

---@param came_at number
---@return boolean
function M.is_new(came_at)
  return M.now() - came_at < REST_MS
end

--- Whether the last key was: before it the person had left the keyboard alone for a moment.
---@return boolean
function M.meant()
  return is_meant or not M.is_new(since)
end

--- Whether all keys were, also the first. A picker keeps what was typed as it opened.
---@return boolean
function M.all_meant()
  return not was_early and M.meant()
end

--- Told of each key.
function M.typed()
  if not is_meant then
    is_meant = M.meant()
    was_early = was_early or not is_meant
    since = M.now()
  end
end

return M
