if vim.g.loaded_lsp_agent then
  return
end
vim.g.loaded_lsp_agent = 1

for _, module in ipairs({ "client", "edits", "ask", "chat" }) do
  require("lsp_agent." .. module).listen()
end

vim.api.nvim_create_user_command("Agent", function(options)
  require("lsp_agent.command").run(options)
end, {
  nargs = "*",
  range = true,
  desc = "lsp-agent: prompts, review, sessions",
  complete = function(lead, line)
    return require("lsp_agent.command").complete(lead, line)
  end,
})
