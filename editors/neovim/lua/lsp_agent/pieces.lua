--- Work that is done in pieces between which Neovim takes keys: `coroutine.yield()` ends one.

local M = {}

-- How long the pieces between two looks for keys take together.
local BUDGET_NS = 8e6

---@type { key: integer, thread: thread }[]
local jobs = {}
local is_under_way = false

local function go_on()
  local deadline = vim.uv.hrtime() + BUDGET_NS
  while jobs[1] and vim.uv.hrtime() < deadline do
    local job = jobs[1]
    local fine, problem = coroutine.resume(job.thread)
    if coroutine.status(job.thread) == "dead" then
      M.drop(job.key)
    end
    if not fine then
      vim.schedule(function()
        error(problem, 0)
      end)
    end
  end
  is_under_way = jobs[1] ~= nil
  if is_under_way then
    vim.defer_fn(go_on, 1) -- one that is scheduled would come before the keys
  end
end

--- Forgets what is left of a work.
---@param key integer
function M.drop(key)
  jobs = vim.tbl_filter(function(job)
    return job.key ~= key
  end, jobs)
end

--- Begins at once, instead of what is left of the work of the same key.
---@param key integer
---@param work async fun()
function M.run(key, work)
  M.drop(key)
  table.insert(jobs, { key = key, thread = coroutine.create(work) })
  if not is_under_way then
    go_on()
  end
end

return M
