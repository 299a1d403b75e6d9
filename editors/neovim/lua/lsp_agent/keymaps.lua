--- The keys in buffers of files.

local config = require("lsp_agent.config")

---@type { name: string, modes: string[], does: string }[]
local KEYS = {
  { name = "next", modes = { "n" }, does = "next change" },
  { name = "prev", modes = { "n" }, does = "previous change" },
  { name = "keep", modes = { "n", "x" }, does = "keep or apply the change" },
  { name = "undo", modes = { "n", "x" }, does = "undo or reject the change" },
  { name = "hunk", modes = { "o", "x" }, does = "the lines of the change" },
  { name = "inline", modes = { "n", "x" }, does = "ask for a change here" },
  { name = "again", modes = { "n" }, does = "ask the same again" },
  { name = "comment", modes = { "n", "x" }, does = "comment on the change" },
  { name = "chat", modes = { "n" }, does = "show or hide the chat" },
  { name = "answer", modes = { "n" }, does = "answer the question" },
}

--- Sets them.
---@param bufnr integer
return function(bufnr)
  for _, key in ipairs(KEYS) do
    local keys = (config.options.keymaps or {})[key.name]
    if keys then
      local to = ("<Plug>(lsp-agent-%s)"):format(key.name)
      vim.keymap.set(key.modes, keys, to, { buffer = bufnr, desc = "agent: " .. key.does })
    end
  end
end
