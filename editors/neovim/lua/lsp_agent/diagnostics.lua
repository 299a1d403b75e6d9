--- `agent/diagnostics`: what the language servers and linters say of a document.

local position = require("lsp_agent.position")

local M = {}

-- lsp-agent's own hints.
local OWN_SOURCE = "lsp-agent"

---@param bufnr integer
---@param encoding string
---@return lsp.Diagnostic[]
local function of_buffer(bufnr, encoding)
  return M.of_lines(bufnr, 0, math.huge, encoding)
end

--- Those of some lines, without our own hints.
---@param bufnr integer
---@param first integer row, from 0
---@param last number inclusive
---@param encoding string
---@return lsp.Diagnostic[]
function M.of_lines(bufnr, first, last, encoding)
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(bufnr)) do
    local end_row, end_column = each.end_lnum or each.lnum, each.end_col or each.col
    if each.source ~= OWN_SOURCE and each.lnum <= last and end_row >= first then
      table.insert(found, {
        range = {
          start = position(bufnr, each.lnum, each.col, encoding),
          ["end"] = position(bufnr, end_row, end_column, encoding),
        },
        severity = each.severity,
        code = each.code,
        source = each.source,
        message = each.message,
      })
    end
  end
  return found
end

---@param params { uris?: string[] }
---@param context lsp.HandlerContext
function M.answer(_, params, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  local files = {}
  for bufnr in pairs(client.attached_buffers) do
    local uri = vim.uri_from_bufnr(bufnr)
    local found = of_buffer(bufnr, client.offset_encoding)
    if params.uris and vim.list_contains(params.uris, uri) or not params.uris and found[1] then
      table.insert(files, { uri = uri, diagnostics = found })
    end
  end
  return { files = files }
end

return M
