if vim.g.loaded_lsp_agent then
  return
end
vim.g.loaded_lsp_agent = 1

-- As they were set: one that is another is the person's or the colour scheme's.
local set = {}

local function set_highlights()
  for name, of in pairs(require("lsp_agent.highlights")) do
    local definition = of[3] and require("lsp_agent.tints").background(of[1], unpack(of[3]))
      or { link = of[1] }
    local now = vim.api.nvim_get_hl(0, { name = name })
    if vim.tbl_isempty(now) or vim.deep_equal(now, set[name]) then
      vim.api.nvim_set_hl(0, name, definition)
      set[name] = vim.api.nvim_get_hl(0, { name = name })
    end
  end
end

set_highlights()
local highlights = vim.api.nvim_create_augroup("lsp_agent.highlights", {})
vim.api.nvim_create_autocmd("ColorScheme", { group = highlights, callback = set_highlights })
vim.api.nvim_create_autocmd("OptionSet", {
  group = highlights,
  pattern = "background",
  callback = set_highlights,
})

-- What else there is listens from when it is first used.
for _, module in ipairs({ "client", "elsewhere" }) do
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
---@param to string|fun(): string?
---@param description string
---@param options? vim.keymap.set.Opts
local function plug(modes, name, to, description, options)
  local keys = ("<Plug>(lsp-agent-%s)"):format(name)
  options =
    vim.tbl_extend("force", { silent = true, desc = "agent: " .. description }, options or {})
  vim.keymap.set(modes, keys, to, options)
end

for name, description in pairs({
  next = "next change",
  prev = "previous change",
  inline = "ask for a change here",
  again = "ask the same again",
  comment = "comment on the change",
  chat = "show or hide the chat",
  answer = "answer the question",
}) do
  plug({ "n" }, name, ("<Cmd>Agent %s<CR>"):format(name), description)
end
plug({ "x" }, "inline", ":Agent inline<CR>", "ask for a change of these lines")
plug({ "x" }, "comment", ":Agent comment<CR>", "comment on these lines")

for verb, description in pairs({ keep = "keep or apply", undo = "undo or reject" }) do
  plug({ "n" }, verb, function()
    return require("lsp_agent.operators").here(verb)
  end, description .. " the change", { expr = true })
  local function on_lines()
    return require("lsp_agent.operators").lines(verb)
  end
  plug({ "x" }, verb, on_lines, description .. " the changes", { expr = true })
  plug({ "n", "x" }, verb .. "-operator", on_lines, description .. " changes", { expr = true })
end
plug({ "o", "x" }, "hunk", function()
  return require("lsp_agent.operators").select()
end, "the lines of the change", { expr = true })
