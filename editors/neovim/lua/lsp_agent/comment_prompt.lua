--- The one prompt that several comments are sent as. Pure.

local lines_of = require("lsp_agent.lines_of")

-- Of a longer change the agent knows the rest, and has its lines as context.
local MOST_LINES = 80

---@class lsp_agent.Commented
---@field path string as the agent knows it
---@field first integer line, from 1
---@field last integer inclusive
---@field text string
---@field old? string what the change that it is about has replaced, nil for lines that are none's
---@field new? string
---@field proposed? boolean

---@param text string
---@param sign string
---@return string[]
local function signed(text, sign)
  return vim.tbl_map(function(line)
    return sign .. line
  end, lines_of(text))
end

---@param old string
---@param new string
---@return string[] lines
local function diff(old, new)
  local lines = vim.list_extend(signed(old, "-"), signed(new, "+"))
  if #lines > MOST_LINES then
    lines = vim.list_extend(vim.list_slice(lines, 1, MOST_LINES), { "…" })
  end
  local fence = "```"
  while table.concat(lines, "\n"):find(fence, 1, true) do
    fence = fence .. "`"
  end
  table.insert(lines, 1, fence .. "diff")
  table.insert(lines, fence)
  return lines
end

---@param comment lsp_agent.Commented
---@return string
local function place(comment)
  local lines = ("line %d"):format(comment.first)
  if comment.last > comment.first then
    lines = ("lines %d-%d"):format(comment.first, comment.last)
  end
  local of = comment.old and (comment.proposed and ", your proposal" or ", your change") or ""
  return ("%s, %s%s:"):format(comment.path, lines, of)
end

---@param comments lsp_agent.Commented[]
---@return string
return function(comments)
  local lines = {
    #comments == 1 and "A comment from my review. Do what it asks."
      or ("%d comments from my review. Do what each asks."):format(#comments),
  }
  for number, comment in ipairs(comments) do
    vim.list_extend(lines, { "", ("%d. %s"):format(number, place(comment)), "" })
    if comment.old then
      vim.list_extend(lines, diff(comment.old, comment.new or ""))
      table.insert(lines, "")
    end
    vim.list_extend(lines, vim.split(vim.trim(comment.text), "\n"))
  end
  return table.concat(lines, "\n")
end
