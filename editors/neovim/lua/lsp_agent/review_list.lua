--- The lines of the review's list: a heading, then a file each.

local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace("lsp_agent.review_list")

---@param files lsp_agent.FileReview[] that have something left
---@return string
local function heading(files)
  local left = 0
  for _, file in ipairs(files) do
    left = left + file.left
  end
  if left == 0 then
    return "Nothing is left to review."
  end
  local function counted(count, what)
    return ("%d %s%s"):format(count, what, count == 1 and "" or "s")
  end
  return ("%s in %s"):format(counted(left, "change"), counted(#files, "file"))
end

-- Those that have something left, and in their places those that had.
---@param before lsp_agent.FileReview[]
---@param files lsp_agent.FileReview[]
---@return lsp_agent.FileReview[]
local function with_done(before, files)
  local all = vim.list_slice(files)
  for _, file in ipairs(before) do
    local is_left = vim.iter(files):any(function(other)
      return other.uri == file.uri
    end)
    if not is_left then
      table.insert(all, vim.tbl_extend("force", file, { left = 0, added = 0, removed = 0 }))
    end
  end
  table.sort(all, function(one, other)
    return one.name < other.name
  end)
  return all
end

--- How much there is to decide on; a new file may be empty.
---@param file lsp_agent.FileReview
---@return string
local function left(file)
  local lines = "no lines"
  if file.added + file.removed > 0 then
    lines = ("+%d −%d"):format(file.added, file.removed)
  end
  return ("%d left  %s"):format(file.left, lines)
end

--- Writes it.
---@param bufnr integer
---@param before lsp_agent.FileReview[] what was written last
---@param files lsp_agent.FileReview[] that have something left
---@return lsp_agent.FileReview[] those of the lines from the second on
function M.render(bufnr, before, files)
  local all, lines = with_done(before, files), { heading(files) }
  for _, file in ipairs(all) do
    table.insert(lines, ("%s  %s"):format(file.name, file.left > 0 and left(file) or "✓"))
  end
  vim.bo[bufnr].modifiable = true
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  vim.bo[bufnr].modifiable = false
  api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  for index, file in ipairs(all) do
    api.nvim_buf_set_extmark(bufnr, namespace, index, #file.name, {
      end_col = #lines[index + 1],
      hl_group = file.left > 0 and "LspAgentState" or "LspAgentDone",
    })
  end
  return all
end

return M
