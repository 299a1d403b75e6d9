--- What completes the words of a prompt that is written: a language server in this process, so that
--- Neovim's own completion and the plugins for it take it as any other. `@` are files of the
--- project, and `/` at the beginning the agent's commands.

local context = require("lsp_agent.context")
local in_process = require("lsp_agent.in_process")

local M = {}

local NAME = "lsp_agent_prompt"
local KINDS = vim.lsp.protocol.CompletionItemKind

---@param row integer from 0
---@param first integer column in bytes
---@param last integer
---@param text string
---@return lsp.CompletionItem
local function item(row, first, last, text, kind, detail)
  local range = {
    start = { line = row, character = first },
    ["end"] = { line = row, character = last },
  }
  local edit = { newText = text, range = range }
  return { label = text, filterText = text, kind = kind, detail = detail, textEdit = edit }
end

---@param row integer
---@param before string the line to the cursor
---@return lsp.CompletionItem[]?
local function files(row, before)
  local at = (" " .. before):find("%s@%S*$")
  if not at then
    return nil
  end
  return vim.tbl_map(function(name)
    local kind = vim.endswith(name, "/") and KINDS.Folder or KINDS.File
    return item(row, at - 1, #before, "@" .. name, kind)
  end, context.names(before:sub(at + 1)))
end

---@param params lsp.CompletionParams
---@param answer lsp_agent.Answer
local function complete(params, answer)
  local bufnr = vim.uri_to_bufnr(params.textDocument.uri)
  local row, column = params.position.line, params.position.character
  local line = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
  local before = line:sub(1, column)
  local function answer_with(items)
    -- Of a folder only its own names are known.
    answer(nil, { isIncomplete = true, items = items })
  end
  if row > 0 or not before:find("^/[%w_.:-]*$") then
    answer_with(files(row, before) or {})
    return
  end
  require("lsp_agent.slash_commands").ask(function(commands)
    answer_with(vim.tbl_map(function(command)
      local text = "/" .. command.name
      return item(row, 0, #before, text, KINDS.Function, command.description)
    end, commands))
  end)
end

--- Attaches it to the buffer in which prompts are written.
---@param bufnr integer
function M.start(bufnr)
  vim.lsp.start({
    name = NAME,
    cmd = in_process({
      initialize = function(_, answer)
        local triggers = { triggerCharacters = { "@", "/" } }
        local capabilities = { positionEncoding = "utf-8", completionProvider = triggers }
        answer(nil, { capabilities = capabilities })
      end,
      ["textDocument/completion"] = complete,
    }),
  }, { bufnr = bufnr })
end

return M
