--- What the person's own keys do, in one short line.

---@param keys string
---@return string
local function shown_keys(keys)
  local leader = vim.g.mapleader or "\\"
  return (keys:gsub("<[lL]eader>", leader == " " and "␣" or leader))
end

---@param hints [string, string][] the name of a keymap's option, and what it does
---@return string "" where no keys are set
return function(hints)
  local keymaps, parts = require("lsp_agent.config").options.keymaps or {}, {}
  for _, hint in ipairs(hints) do
    if keymaps[hint[1]] then
      table.insert(parts, ("%s %s"):format(shown_keys(keymaps[hint[1]]), hint[2]))
    end
  end
  return table.concat(parts, "  ")
end
