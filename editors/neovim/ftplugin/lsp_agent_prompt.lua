local chat = require("lsp_agent.chat")

local function map(modes, keys, action, description)
  vim.keymap.set(modes, keys, action, { buffer = 0, desc = "agent: " .. description })
end

require("lsp_agent.prompt_words").start(vim.api.nvim_get_current_buf())

map("n", "<CR>", chat.send, "send the prompt")
map({ "n", "i" }, "<C-s>", chat.steer, "hand the prompt to the agent while it works")
map("i", "<CR>", function()
  if vim.fn.pumvisible() == 1 then
    vim.api.nvim_feedkeys(vim.keycode("<C-y>"), "n", false)
  else
    chat.send()
  end
end, "send the prompt, or take what a completion offers")
-- The right sides are not mapped again: these are Neovim's own <CR>.
map("i", "<C-j>", "<CR>", "a new line")
map("i", "<S-CR>", "<CR>", "a new line")
for keys, step in pairs({ ["<Up>"] = -1, ["<Down>"] = 1 }) do
  map({ "n", "i" }, keys, function()
    require("lsp_agent.history").on_key(keys, step)
  end, step < 0 and "the prompt before" or "the prompt after")
end
map("n", "<C-c>", chat.stop, "stop the agent")
map("n", "q", chat.close, "close the chat")
map("n", "g?", require("lsp_agent.keys_shown"), "this help")
