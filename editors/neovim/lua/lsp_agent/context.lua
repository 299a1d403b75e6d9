--- What goes along with a prompt: parts of documents.

local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace("lsp_agent.context")

---@class lsp_agent.Context
---@field uri string
---@field range? lsp.Range

-- Lines that go along with the next prompt of the chat, as marks: they may move until then.
---@type { bufnr: integer, mark: integer }[]
local waiting = {}

---@param bufnr integer
---@param first integer 1-based
---@param last integer inclusive
---@return lsp_agent.Context
local function of_lines(bufnr, first, last)
  return {
    uri = vim.uri_from_bufnr(bufnr),
    range = {
      start = { line = first - 1, character = 0 },
      ["end"] = { line = last, character = 0 },
    },
  }
end

--- What a command was given by its range: the characters of a selection, else lines; without a
--- range the line of the cursor, so that the agent knows what file is meant.
---@param client vim.lsp.Client
---@param options vim.api.keyset.create_user_command.command_args
---@return lsp_agent.Context[]
function M.of_command(client, options)
  local bufnr = api.nvim_get_current_buf()
  if not client.attached_buffers[bufnr] then
    return {}
  end
  local selected = options.range == 2
    and vim.fn.visualmode() == "v"
    and options.line1 == vim.fn.line("'<")
    and options.line2 == vim.fn.line("'>")
  if selected then
    local params = vim.lsp.util.make_given_range_params(nil, nil, bufnr, client.offset_encoding)
    return { { uri = params.textDocument.uri, range = params.range } }
  end
  return { of_lines(bufnr, options.line1, options.line2) }
end

---@param root string
---@param name string
---@return string? path of a file below the root
local function file_in(root, name)
  local path = vim.fs.normalize(vim.fs.joinpath(root, name))
  local stat = vim.startswith(path, root .. "/") and vim.uv.fs_stat(path)
  return stat and stat.type == "file" and path or nil
end

--- Lines to go along with the next prompt that is written in the chat.
---@param bufnr integer
---@param first integer 1-based
---@param last integer inclusive
function M.add(bufnr, first, last)
  local mark = api.nvim_buf_set_extmark(bufnr, namespace, first - 1, 0, {
    end_row = last,
    line_hl_group = "LspAgentContext",
    strict = false,
  })
  table.insert(waiting, { bufnr = bufnr, mark = mark })
end

---@return string? such as "a.py:3-9, b.py:1"
function M.describe()
  local parts = {}
  for _, each in ipairs(M.waiting()) do
    local range = each.range
    local lines = ("%d-%d"):format(range.start.line + 1, range["end"].line)
    table.insert(parts, vim.fs.basename(vim.uri_to_fname(each.uri)) .. ":" .. lines)
  end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

---@return lsp_agent.Context[]
function M.waiting()
  local found = {}
  for _, each in ipairs(waiting) do
    if api.nvim_buf_is_loaded(each.bufnr) then
      local options = { details = true }
      local at = api.nvim_buf_get_extmark_by_id(each.bufnr, namespace, each.mark, options)
      if at[1] then
        table.insert(found, of_lines(each.bufnr, at[1] + 1, at[3].end_row))
      end
    end
  end
  return found
end

--- The files that a text names as `@path`, from the folder of the client's project. Each gets a
--- buffer, since the server takes texts from the editor alone.
---@param text string
---@param client vim.lsp.Client
---@return lsp_agent.Context[]
function M.named(text, client)
  local root = require("lsp_agent.client").root_of(client)
  local found, seen = {}, {}
  for name in (" " .. text):gmatch("%s@(%S+)") do
    local path = file_in(root, name) or file_in(root, (name:gsub("[.,;:!?)]+$", "")))
    if path and not seen[path] then
      seen[path] = true
      local bufnr = vim.fn.bufadd(path)
      vim.fn.bufload(bufnr)
      vim.lsp.buf_attach_client(bufnr, client.id)
      table.insert(found, { uri = vim.uri_from_bufnr(bufnr) })
    end
  end
  return found
end

--- An 'omnifunc' for such names.
---@param find_start 0|1
---@param base string
---@return integer|string[]
function M.complete(find_start, base)
  if find_start == 1 then
    local before = api.nvim_get_current_line():sub(1, api.nvim_win_get_cursor(0)[2])
    return (" " .. before):match("%s@()%S*$") and before:find("@%S*$") or -3
  end
  local session = require("lsp_agent.chat").session()
  local folder, start = base:match("^(.*/)([^/]*)$")
  folder, start = folder or "", start or base
  local names = {}
  for name, kind in vim.fs.dir(vim.fs.joinpath(session and session.project.root or ".", folder)) do
    local is_hidden = start == "" and vim.startswith(name, ".")
    if vim.startswith(name, start) and not is_hidden then
      table.insert(names, folder .. name .. (kind == "directory" and "/" or ""))
    end
  end
  table.sort(names)
  return names
end

--- What waits, which then no longer does.
---@return lsp_agent.Context[]
function M.take()
  local found = M.waiting()
  for _, each in ipairs(waiting) do
    if api.nvim_buf_is_valid(each.bufnr) then
      api.nvim_buf_del_extmark(each.bufnr, namespace, each.mark)
    end
  end
  waiting = {}
  return found
end

return M
