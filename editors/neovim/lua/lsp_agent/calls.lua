--- How a tool call is shown in one row.

local M = {}

local api = vim.api
local blocks = api.nvim_create_namespace("lsp_agent.blocks")

--- States, which stand before it.
M.RUNNING, M.DONE, M.FAILED = "… ", "✓ ", "✗ "

--- The beginning of a line that is too long, up to a word's end.
---@param text string
---@param width integer cells
---@return string
function M.shortened(text, width)
  if vim.fn.strdisplaywidth(text) <= width then
    return text
  end
  local room = math.max(width - 1, 1)
  local start = vim.fn.strcharpart(text, 0, room)
  while vim.fn.strdisplaywidth(start) > room do
    start = vim.fn.strcharpart(start, 0, vim.fn.strchars(start) - 1)
  end
  local words = start:match("^.*%s") or ""
  return (vim.fn.strdisplaywidth(words) > room / 2 and words or start) .. "…"
end

-- A path without its first folders: paths differ in their ends.
---@param path string
---@param width integer cells
---@return string
local function shortened_path(path, width)
  local below, shown = path, path
  while vim.fn.strdisplaywidth(shown) > width do
    local shorter = below:match("^/?[^/]+(/.+)$")
    if not shorter then
      local count = vim.fn.strchars(shown)
      return "…" .. vim.fn.strcharpart(shown, count - math.max(width - 1, 1))
    end
    below, shown = shorter, "…" .. shorter
  end
  return shown
end

--- What a call is about, such as "read: lib/names.py", in one row: of paths the names of the files,
--- of a command its beginning.
---@param header string
---@param width integer cells
---@return string
function M.fitted(header, width)
  local tool, about = header:match("^(%S+: )(.*)$")
  local paths = about and vim.split(about, ", ", { plain = true }) or {}
  local are_paths = about and about:find("/", 1, true) and not table.concat(paths):find("%s")
  if tool and are_paths and vim.fn.strdisplaywidth(header) > width then
    local room = width - vim.fn.strdisplaywidth(tool) - 2 * (#paths - 1)
    header = tool
      .. table.concat(
        vim.tbl_map(function(path)
          return shortened_path(path, math.max(math.floor(room / #paths), 1))
        end, paths),
        ", "
      )
  end
  return M.shortened(header, width)
end

-- The last line that says something: of how a command ended the state tells already.
---@param first integer
---@param last integer
---@return string
local function last_words(first, last)
  for number = last, first + 1, -1 do
    local line = vim.trim(vim.fn.getline(number) --[[@as string]])
    if line ~= "" and not vim.startswith(line, "[exit ") then
      return line
    end
  end
  return ""
end

-- Whose last line says what came of them.
local SAYS = { [M.RUNNING] = "LspAgentState", [M.FAILED] = "LspAgentFailed" }

--- 'foldtext': the header, with its state before it; while the call runs, and where it failed, the
--- last line of its output.
---@return [string, string][]
function M.fold_text()
  local first = vim.v.foldstart
  local at = { first - 1, 0 }
  local header = vim.fn.getline(first) --[[@as string]]
  local mark = api.nvim_buf_get_extmarks(0, blocks, at, at, { details = true })[1]
  local details = mark and mark[4] or {}
  local state = details.virt_text and details.virt_text[1]
  local newest = last_words(first, vim.v.foldend)
  local parts = state and { state } or {}
  local room = api.nvim_win_get_width(0) - (state and 2 or 0)
  local colour = state and SAYS[state[1]]
  if colour and newest ~= "" then
    local said = "  " .. M.shortened(newest, math.floor(room / 2) - 2)
    local left = room - vim.fn.strdisplaywidth(said)
    table.insert(parts, { M.fitted(header, left), "LspAgentTool" })
    table.insert(parts, { said, colour })
  else
    table.insert(parts, { M.fitted(header, room), "LspAgentTool" })
  end
  return parts
end

return M
