--- What is left to review of each file, and a file's text without it. Pure.

local lines_of = require("lsp_agent.lines_of")

local M = {}

---@class lsp_agent.FileReview
---@field uri string
---@field name string from the project's folder
---@field left integer open changes
---@field added integer lines of these
---@field removed integer lines that they have replaced
---@field first integer the row of the first one, from 0

---@param hunk table
---@return boolean
local function is_open(hunk)
  return hunk.status == "applied" or hunk.status == "proposed"
end

---@param edits table[] as `agent/edits` has them
---@param on_open fun(edit: table, hunk: table)
local function each_open(edits, on_open)
  for _, edit in ipairs(edits) do
    vim.iter(edit.hunks or {}):filter(is_open):each(function(hunk)
      on_open(edit, hunk)
    end)
  end
end

--- The files with open changes, by name. One that came without a line, or went, has no hunk and is
--- a change all the same.
---@param edits table[]
---@param root string
---@return lsp_agent.FileReview[]
function M.of(edits, root)
  local by_uri = {}
  local function one_more(uri, row, added, removed)
    local path = vim.uri_to_fname(uri)
    local within = vim.startswith(path, root .. "/")
    local name = within and path:sub(#root + 2) or path
    by_uri[uri] = by_uri[uri]
      or { uri = uri, name = name, left = 0, added = 0, removed = 0, first = row }
    local file = by_uri[uri]
    file.left = file.left + 1
    file.added = file.added + added
    file.removed = file.removed + removed
    file.first = math.min(file.first, row)
  end
  each_open(edits, function(edit, hunk)
    local added, removed = #lines_of(hunk.newText), #lines_of(hunk.oldText)
    one_more(edit.uri, hunk.range.start.line, added, removed)
  end)
  for _, edit in ipairs(edits) do
    if is_open(edit) and #(edit.hunks or {}) == 0 then
      one_more(edit.uri, 0, 0, 0)
    end
  end
  local files = vim.tbl_values(by_uri)
  table.sort(files, function(one, other)
    return one.name < other.name
  end)
  return files
end

--- The text of a file as it would be had the open decision gone the other way: without the changes
--- that are in, and with the proposals.
---@param lines string[] as it is
---@param edits table[] of this file
---@return string[]
function M.otherwise(lines, edits)
  local hunks = {}
  each_open(edits, function(_, hunk)
    table.insert(hunks, hunk)
  end)
  table.sort(hunks, function(one, other)
    return one.range.start.line > other.range.start.line
  end)
  local text = vim.list_slice(lines)
  for _, hunk in ipairs(hunks) do
    local start, stop = hunk.range.start, hunk.range["end"]
    local first = start.line + (start.character > 0 and 1 or 0)
    local last = math.min(stop.line + (stop.character > 0 and 1 or 0), #text)
    local put = lines_of(hunk.status == "proposed" and hunk.newText or hunk.oldText)
    text = vim
      .iter({ vim.list_slice(text, 1, first), put, vim.list_slice(text, last + 1) })
      :flatten()
      :totable()
  end
  return text
end

return M
