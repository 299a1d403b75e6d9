local chat = require("lsp_agent.chat")

local function map(keys, action, description)
  vim.keymap.set("n", keys, action, { buffer = 0, desc = "agent: " .. description })
end

map("<CR>", chat.enter, "choose this answer, or write a prompt")
for _, keys in ipairs({ "i", "a", "o" }) do
  map(keys, chat.write, "write a prompt")
end
map("<C-c>", chat.stop, "stop the agent")
map("q", chat.close, "close the chat")
map("g?", require("lsp_agent.keys_shown"), "this help")
