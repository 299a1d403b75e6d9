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

for _, module in ipairs({ "client", "edits", "ask", "windows", "marks", "elsewhere" }) do
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

vim.keymap.set("n", "<Plug>(lsp-agent-answer)", "<Cmd>Agent answer<CR>", {
  desc = "agent: answer the question",
})
