--- Shows, in a float, the keys of ours that the current buffer has: `g?`.

local api = vim.api

-- How they begin what they say of themselves.
local OURS = "agent: "

-- By what they do, in Normal mode first.
---@return [string, string][] keys and what they do
local function keys_here()
  local found, by_text = {}, {}
  for _, mode in ipairs({ "n", "i" }) do
    local maps = api.nvim_buf_get_keymap(0, mode)
    table.sort(maps, function(one, other)
      return one.lhs < other.lhs
    end)
    for _, map in ipairs(maps) do
      local does = map.desc or ""
      local text = vim.startswith(does, OURS) and does:sub(#OURS + 1)
      local known = text and by_text[text]
      if known and not vim.list_contains(vim.split(known[1], " "), map.lhs) then
        known[1] = known[1] .. " " .. map.lhs
      elseif text and not known then
        by_text[text] = { map.lhs, text }
        table.insert(found, by_text[text])
      end
    end
  end
  return found
end

return function()
  local keys, width = keys_here(), 0
  for _, key in ipairs(keys) do
    width = math.max(width, #key[1])
  end
  local lines = vim.tbl_map(function(key)
    return key[1] .. (" "):rep(width + 2 - #key[1]) .. key[2]
  end, keys)
  vim.lsp.util.open_floating_preview(lines, "", { focus_id = "lsp_agent_keys", max_width = 80 })
end
