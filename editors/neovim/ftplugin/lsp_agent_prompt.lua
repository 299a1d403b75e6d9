local chat = require("lsp_agent.chat")

local function map(modes, keys, action, description)
  vim.keymap.set(modes, keys, action, { buffer = 0, desc = "agent: " .. description })
end

map({ "n", "i" }, "<CR>", chat.send, "send the prompt")
-- The right sides are not mapped again: these are Neovim's own <CR>.
map("i", "<C-j>", "<CR>", "a new line")
map("i", "<S-CR>", "<CR>", "a new line")
map("n", "<C-c>", chat.stop, "stop the agent")
map("n", "q", chat.close, "close the chat")
