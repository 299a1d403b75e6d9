--- Which keys are meant for a question. What is typed as it comes up is not: whoever types on has
--- not seen it yet.

local M = {}

-- A rest is 300 ms, counted in turns of Neovim's loop and not by a clock: keys that waited while
-- Neovim, or the whole machine, stood still were typed before it could show anything.
local TICK_MS, REST = 100, 3

local clock = assert(vim.uv.new_timer())
local ticks, left = 0, 0

-- When the question came up, or the last key that was not meant for it.
---@type integer
local since = -REST
local was_early, is_meant = false, false

--- In ticks: for |M.is_new|. The clock runs until what is of now is no longer new.
---@return integer
function M.now()
  left = REST
  clock:start(TICK_MS, TICK_MS, function()
    ticks, left = ticks + 1, left - 1
    if left == 0 then
      clock:stop()
    end
  end)
  return ticks
end

--- A question has the keys from now on.
function M.begin()
  since, was_early, is_meant = M.now(), false, false
end

---@param came_at integer
---@return boolean
function M.is_new(came_at)
  return ticks - came_at < REST
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
