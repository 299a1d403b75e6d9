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
