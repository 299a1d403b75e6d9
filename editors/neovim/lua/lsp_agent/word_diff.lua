--- Which words differ between two pieces of text.

-- Texts of more bytes than that are not compared.
local LONGEST = 20000

-- A line of which less than this share stays is another line: its words are not marked.
local SHARE_KEPT = 0.3

-- `vim.diff` has another name from 0.12 on.
local diff = vim.text and vim.text.diff or vim.diff

---@class lsp_agent.Words
---@field row integer of the text, from 0
---@field first integer column in bytes
---@field last integer exclusive

---@class lsp_agent.Token : lsp_agent.Words
---@field text string "" for the end of a line

---@param lines string[]
---@return boolean
local function is_long(lines)
  local bytes = 0
  for _, line in ipairs(lines) do
    bytes = bytes + #line + 1
    if bytes > LONGEST then
      return true
    end
  end
  return false
end

-- Words, runs of blanks, and other characters one by one.
---@param lines string[]
---@return lsp_agent.Token[]
local function tokens_of(lines)
  local tokens = {}
  for index, line in ipairs(lines) do
    local at = 1
    while at <= #line do
      local last = select(2, line:find("^[%w_\128-\255]+", at))
        or select(2, line:find("^%s+", at))
        or at
      local text = line:sub(at, last)
      table.insert(tokens, { row = index - 1, first = at - 1, last = last, text = text })
      at = last + 1
    end
    table.insert(tokens, { row = index - 1, first = #line, last = #line, text = "" })
  end
  return tokens
end

-- One a line, for a comparison of lines.
---@param tokens lsp_agent.Token[]
---@return string
local function as_lines(tokens)
  local texts = {}
  for _, token in ipairs(tokens) do
    table.insert(texts, token.text)
  end
  return table.concat(texts, "\n") .. "\n"
end

---@param token lsp_agent.Token
---@return integer bytes that are seen
local function weight(token)
  return token.text:find("%S") and #token.text or 0
end

-- The changed words of one side, those that only blanks part as one.
---@param tokens lsp_agent.Token[]
---@param changed table<integer, true> by the token's number
---@return lsp_agent.Words[]
local function marked(tokens, changed)
  local kept, all = {}, {}
  for number, token in ipairs(tokens) do
    all[token.row] = (all[token.row] or 0) + weight(token)
    kept[token.row] = (kept[token.row] or 0) + (changed[number] and 0 or weight(token))
  end
  local found, open = {}, nil
  for number, token in ipairs(tokens) do
    local says = weight(token) > 0
    if token.text == "" or (says and not changed[number]) then
      open = nil
    elseif says and kept[token.row] >= SHARE_KEPT * all[token.row] then
      if open then
        open.last = token.last
      else
        open = { row = token.row, first = token.first, last = token.last }
        table.insert(found, open)
      end
    end
  end
  return found
end

---@param tokens lsp_agent.Token[]
---@param at integer
---@param step 1|-1
---@return integer where a line ends, from there on or before it; outside of the tokens for none
local function line_end(tokens, at, step)
  while tokens[at] and tokens[at].text ~= "" do
    at = at + step
  end
  return at
end

-- Has as many tokens, which are kept, be the changed ones in place of those alike; false where
-- these are not.
---@param tokens lsp_agent.Token[]
---@param changed table<integer, true>
---@param from integer the first of those that are changed
---@param to integer the first of those that are kept
---@param count integer
---@return boolean
local function swap(tokens, changed, from, to, count)
  for offset = 0, count - 1 do
    local one, other = tokens[from + offset], tokens[to + offset]
    if not other or one.text ~= other.text or changed[to + offset] then
      return false
    end
  end
  for offset = 0, count - 1 do
    changed[from + offset], changed[to + offset] = nil, true
  end
  return true
end

-- Has what only one side has be whole lines where it can be: in `f(a, b)`, `g(a)` for `f(a)` the
-- comparison may take the second line's `)` for the one that was there, and `, b)`, `g(a` for new.
---@param tokens lsp_agent.Token[]
---@param changed table<integer, true>
---@param first integer
---@param last integer
local function settle(tokens, changed, first, last)
  local first_end = line_end(tokens, first, 1)
  if first_end > last then
    return -- all in one line
  end
  local tail = line_end(tokens, last + 1, 1) - last
  local fits = first_end - tail + 1 >= first
  if fits and swap(tokens, changed, first_end - tail + 1, last + 1, tail) then
    return
  end
  local before, last_end = line_end(tokens, first - 1, -1), line_end(tokens, last, -1)
  local head = first - 1 - before
  if head == last - last_end then
    swap(tokens, changed, last_end + 1, before + 1, head)
  end
end

--- The words of each that the other has not.
---@param old string[] lines
---@param new string[]
---@return lsp_agent.Words[] of the old
---@return lsp_agent.Words[] of the new
return function(old, new)
  if #old == 0 or #new == 0 or is_long(old) or is_long(new) then
    return {}, {}
  end
  local before, after = tokens_of(old), tokens_of(new)
  local old_text, new_text = as_lines(before), as_lines(after)
  local gone, come = {}, {}
  local hunks = diff(old_text, new_text, { result_type = "indices", algorithm = "histogram" })
  ---@cast hunks integer[][]
  for _, hunk in ipairs(hunks) do
    for number = hunk[1], hunk[1] + hunk[2] - 1 do
      gone[number] = true
    end
    for number = hunk[3], hunk[3] + hunk[4] - 1 do
      come[number] = true
    end
  end
  for _, hunk in ipairs(hunks) do
    if hunk[2] == 0 then
      settle(after, come, hunk[3], hunk[3] + hunk[4] - 1)
    elseif hunk[4] == 0 then
      settle(before, gone, hunk[1], hunk[1] + hunk[2] - 1)
    end
  end
  return marked(before, gone), marked(after, come)
end
