--- How a change is shown: the colours of the lines that stand beside it, and the words that differ.

local syntax = require("lsp_agent.syntax")
local virtual_lines = require("lsp_agent.virtual_lines")
local word_diff = require("lsp_agent.word_diff")

local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace("lsp_agent.review.looks")

-- So many lines around a text tell what its words are.
local AROUND = 100

-- Lines have that of all extmarks, 4096.
local ABOVE_LINES = 4097

---@class lsp_agent.Look
---@field colours lsp_agent.Colours of the lines beside the text
---@field words lsp_agent.Words[] of those that differ
---@field words_there lsp_agent.Words[] of the text

-- The groups of the lines beside the text, and of those in it.
---@param hunk lsp_agent.Hunk
---@return string beside
---@return string there
local function bases(hunk)
  if hunk.proposed then
    return "LspAgentNew", "LspAgentOld"
  end
  return "LspAgentOld", "LspAgentNew"
end

--- For work in pieces: it yields.
---@async
---@param bufnr integer
---@param hunk lsp_agent.Hunk
---@param first integer the row that the lines beside the text stand at
---@return lsp_agent.Look
function M.of(bufnr, hunk, first)
  local last = first + #hunk.there
  local above = api.nvim_buf_get_lines(bufnr, math.max(first - AROUND, 0), first, false)
  local below = api.nvim_buf_get_lines(bufnr, last, last + AROUND, false)
  local shown = vim.list_slice(hunk.beside, 1, virtual_lines.MOST)
  local words, words_there = word_diff(hunk.beside, hunk.there)
  return {
    colours = syntax.colours(bufnr, above, shown, below),
    words = words,
    words_there = words_there,
  }
end

--- Its lines beside the text, plain until its look is known.
---@param bufnr integer
---@param hunk lsp_agent.Hunk
---@return lsp_agent.Chunk[][]
function M.lines(bufnr, hunk)
  local base, look = bases(hunk), hunk.look
  local colours = look and vim.deepcopy(look.colours) or {}
  for _, word in ipairs(look and look.words or {}) do
    colours[word.row] = colours[word.row] or {}
    local colour = { first = word.first, last = word.last, group = base .. "Word" }
    table.insert(colours[word.row], colour)
  end
  return virtual_lines.chunks(hunk.beside, colours, base, vim.bo[bufnr].tabstop)
end

--- Colours its lines in the text, and its words. Not by 'line_hl_group', above which no word's
--- background is seen.
---@param bufnr integer
---@param hunk lsp_agent.Hunk
---@param first integer the row of the change
function M.colour(bufnr, hunk, first)
  local _, base = bases(hunk)
  if hunk.there[1] then
    hunk.ground = api.nvim_buf_set_extmark(bufnr, namespace, first, 0, {
      id = hunk.ground,
      end_row = first + #hunk.there,
      hl_group = base,
      hl_eol = true,
      strict = false,
    })
  end
  for _, word in ipairs(hunk.look and hunk.look.words_there or {}) do
    api.nvim_buf_set_extmark(bufnr, namespace, first + word.row, word.first, {
      end_col = word.last,
      hl_group = base .. "Word",
      priority = ABOVE_LINES,
      strict = false,
    })
  end
end

---@param bufnr integer
function M.clear(bufnr)
  api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
end

return M
