if vim.g.loaded_lsp_agent then
  return
end
vim.g.loaded_lsp_agent = 1

local function set_highlights()
  for name, to in pairs(require("lsp_agent.highlights")) do
    vim.api.nvim_set_hl(0, name, { link = to[1], default = true })
  end
end

set_highlights()
vim.api.nvim_create_autocmd("ColorScheme", {
  group = vim.api.nvim_create_augroup("lsp_agent.highlights", {}),
  callback = set_highlights,
})

for _, module in ipairs({ "client", "edits", "ask", "windows", "marks" }) do
  require("lsp_agent." .. module).listen()
end

vim.api.nvim_create_user_command("Agent", function(options)
  require("lsp_agent.command").run(options)
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "lsp-agent: prompts, review, sessions",
  complete = function(lead, line)
    return require("lsp_agent.command").complete(lead, line)
  end,
})

---@param modes string[]
---@param name string
---@param command string
---@param description string
local function plug(modes, name, command, description)
  local keys = ("<Plug>(lsp-agent-%s)"):format(name)
  vim.keymap.set(modes, keys, command, { silent = true, desc = "agent: " .. description })
end

plug({ "n" }, "answer", "<Cmd>Agent answer<CR>", "answer the question")
plug({ "n" }, "inline", "<Cmd>Agent inline<CR>", "ask for a change here")
plug({ "x" }, "inline", ":Agent inline<CR>", "ask for a change of these lines")
plug({ "n" }, "again", "<Cmd>Agent again<CR>", "ask the same again")
plug({ "n" }, "comment", "<Cmd>Agent comment<CR>", "comment on the change")
plug({ "x" }, "comment", ":Agent comment<CR>", "comment on these lines")
