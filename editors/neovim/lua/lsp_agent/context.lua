--- What goes along with a prompt: parts of documents.

local extent = require("lsp_agent.extent")
local position = require("lsp_agent.position")

local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace("lsp_agent.context")

---@class lsp_agent.Context
---@field uri string
---@field range? lsp.Range

--- A part of a buffer, which may be typed in until the prompt is sent.
---@class lsp_agent.Held
---@field bufnr integer
---@field mark integer

-- Lines that go along with the next prompt of the chat.
---@type lsp_agent.Held[]
local waiting = {}

---@param bufnr integer
---@param first [integer, integer] row and column in bytes, from 0
---@param last [integer, integer] exclusive
---@param highlight? string
---@return lsp_agent.Held
local function hold(bufnr, first, last, highlight)
  local mark = api.nvim_buf_set_extmark(bufnr, namespace, first[1], first[2], {
    end_row = last[1],
    end_col = last[2],
    line_hl_group = highlight,
    strict = false,
  })
  return { bufnr = bufnr, mark = mark }
end

---@param held lsp_agent.Held
---@return [integer, integer]? first
---@return [integer, integer]? last
local function place(held)
  if not api.nvim_buf_is_loaded(held.bufnr) then
    return
  end
  return extent(held.bufnr, namespace, held.mark)
end

--- The rows that it is about, from 0.
---@param held lsp_agent.Held
---@return integer? first
---@return integer? last inclusive
function M.rows(held)
  local first, last = place(held)
  if first and last then
    return first[1], math.max(last[2] > 0 and last[1] or last[1] - 1, first[1])
  end
end

--- Nothing is held for its prompt any more.
---@param held lsp_agent.Held[]
function M.let_go(held)
  for _, each in ipairs(held) do
    if api.nvim_buf_is_valid(each.bufnr) then
      api.nvim_buf_del_extmark(each.bufnr, namespace, each.mark)
    end
  end
end

--- What a command was given by its range: the characters of a selection, else lines; without a
--- range the line of the cursor, so that the agent knows what file is meant.
---@param options vim.api.keyset.create_user_command.command_args
---@return lsp_agent.Held[]
function M.of_command(options)
  local bufnr = api.nvim_get_current_buf()
  if not require("lsp_agent.client").is_file(bufnr) then
    return {}
  end
  local selected = options.range == 2
    and vim.fn.visualmode() == "v"
    and options.line1 == vim.fn.line("'<")
    and options.line2 == vim.fn.line("'>")
  if selected then
    local range = vim.lsp.util.make_given_range_params(nil, nil, bufnr, "utf-8").range
    local first, last = range.start, range["end"]
    return { hold(bufnr, { first.line, first.character }, { last.line, last.character }) }
  end
  return { M.of_lines(bufnr, options.line1, options.line2) }
end

--- Whole lines.
---@param bufnr integer
---@param first integer from 1
---@param last integer inclusive
---@return lsp_agent.Held
function M.of_lines(bufnr, first, last)
  return hold(bufnr, { first - 1, 0 }, { last, 0 })
end

--- The lines of a command's range where they are no file's, as in a terminal: below a prompt.
---@param options vim.api.keyset.create_user_command.command_args
---@return string "" where there are none
function M.quoted(options)
  if options.range == 0 or require("lsp_agent.client").is_file(api.nvim_get_current_buf()) then
    return ""
  end
  local lines = api.nvim_buf_get_lines(0, options.line1 - 1, options.line2, false)
  return ("\n\n```\n%s\n```"):format(table.concat(lines, "\n"))
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
  table.insert(waiting, hold(bufnr, { first - 1, 0 }, { last, 0 }, "LspAgentContext"))
end

---@return string? such as "a.py:3-9, b.py:1"
function M.describe()
  local parts = {}
  for _, held in ipairs(waiting) do
    local first, last = place(held)
    if first and last then
      local name = vim.fs.basename(api.nvim_buf_get_name(held.bufnr))
      table.insert(parts, ("%s:%d-%d"):format(name, first[1] + 1, last[1]))
    end
  end
  return #parts > 0 and table.concat(parts, ", ") or nil
end

--- What waits, which then no longer does.
---@return lsp_agent.Held[]
function M.take()
  local taken = waiting
  waiting = {}
  return taken
end

--- What was held for a prompt that was not taken: whole lines wait for the next one.
---@param held lsp_agent.Held[]
function M.give_back(held)
  for _, each in ipairs(held) do
    local first, last = M.rows(each)
    if first and last then
      M.add(each.bufnr, first + 1, last + 1)
    end
  end
  M.let_go(held)
end

--- As the protocol has it, for a prompt that is sent. It may yet come back: all stays held.
---@param held lsp_agent.Held[]
---@param client vim.lsp.Client
---@return lsp_agent.Context[]
function M.resolve(held, client)
  local found = {}
  for _, each in ipairs(held) do
    local first, last = place(each)
    if first and last and client.attached_buffers[each.bufnr] then
      local encoding = client.offset_encoding
      table.insert(found, {
        uri = vim.uri_from_bufnr(each.bufnr),
        range = {
          start = position(each.bufnr, first[1], first[2], encoding),
          ["end"] = position(each.bufnr, last[1], last[2], encoding),
        },
      })
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

--- Names of files and folders that begin so, from the project's folder.
---@param base string
---@return string[]
function M.names(base)
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

return M
