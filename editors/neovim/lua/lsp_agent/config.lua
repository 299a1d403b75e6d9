--- The options of `setup()`.

local M = {}

---@class lsp_agent.Options
---@field cmd? string[] The server's command line.
---@field root_markers? string[] What marks the folder that an agent works in.
---@field settings? table Settings of lsp-agent, as in its `config.toml`.
---@field keymaps? lsp_agent.Keymaps|false Keys in buffers of files; `false` sets none.
---@field chat? lsp_agent.ChatOptions
---@field review? lsp_agent.ReviewOptions
---@field ask? "select"|"chat" Where questions stand, beside the chat: "select" shows in a corner of the screen that there is one. None opens by itself or takes a key: keymaps.answer, a click on it or `:Agent answer` opens it, by |vim.ui.select()|, or in a window of its own where a picker would cut it. What is typed in the first 300 ms after that is no answer.
---@field bell? boolean Ring the terminal's bell when a turn ends or the agent asks while you are in another window of your system.

---@class lsp_agent.Keymaps
---@field next? string|false To the next open change of the agent's.
---@field prev? string|false To the one before.
---@field keep? string|false Keep the change under the cursor, or apply the proposal.
---@field undo? string|false Undo the change under the cursor, or reject the proposal.
---@field hunk? string|false After an operator, and in Visual mode: the lines of the change under the cursor. Elsewhere map `<Plug>(lsp-agent-hunk)`.
---@field inline? string|false Ask for a change of the selected lines, or the cursor's, in place; on an answer, refine it. Elsewhere map `<Plug>(lsp-agent-inline)`.
---@field again? string|false Undo the answer under the cursor and ask the same again. Elsewhere map `<Plug>(lsp-agent-again)`.
---@field comment? string|false Comment on the change under the cursor, or on the selected lines. Elsewhere map `<Plug>(lsp-agent-comment)`.
---@field chat? string|false Show or hide the chat.
---@field answer? string|false Open the agent's question. Elsewhere than in buffers of files, map `<Plug>(lsp-agent-answer)`.

---@class lsp_agent.ChatOptions
---@field layout? "right"|"bottom"|"float"|"tab" Where it stands: beside the files, below them, over them, in a tab page of its own. Over them it closes when you go to one.
---@field width? number At the right: columns, or the share of the screen if below 1.
---@field height? number At the bottom: lines, or the share of the screen if below 1.
---@field open? boolean Show the chat when a prompt is sent.

---@class lsp_agent.ReviewOptions
---@field old_text? boolean Show above each change what it has replaced.

-- All of them, as they count: a person gives some, the others have their defaults.
---@class lsp_agent.Settled : lsp_agent.Options
---@field cmd string[]
---@field root_markers string[]
---@field settings table
---@field chat lsp_agent.SettledChat
---@field review lsp_agent.ReviewOptions

---@class lsp_agent.SettledChat : lsp_agent.ChatOptions
---@field layout lsp_agent.Layout
---@field width number
---@field height number

---@type lsp_agent.Layout[]
M.layouts = { "right", "bottom", "float", "tab" }

---@type lsp_agent.Settled
M.defaults = {
  cmd = { "lsp-agent", "serve" },
  root_markers = { ".lsp-agent.toml", ".git" },
  -- The changes are marked by the plugin itself.
  settings = { edits = { hints = "off" } },
  keymaps = {
    next = "]v",
    prev = "[v",
    keep = "<leader>ak",
    undo = "<leader>au",
    hunk = "ih",
    inline = "<leader>ai",
    again = "<leader>ar",
    comment = "<leader>ac",
    chat = "<leader>aa",
    answer = "<leader>aq",
  },
  chat = { layout = "right", width = 0.4, height = 0.4, open = true },
  review = { old_text = true },
  ask = "select",
  bell = true,
}

---@type lsp_agent.Settled
M.options = M.defaults

-- What of it the person has given to `setup()`, and what was wrong with that.
---@type lsp_agent.Options?
M.given = nil
---@type string[]
M.problems = {}

--- Where `:Agent install` puts the server where nothing else is here that would.
---@return string
function M.own_venv()
  return vim.fn.stdpath("data") .. "/lsp-agent-server"
end

-- Where uv and pipx put programs: uv's reference, "Executable directory".
---@return string[]
local function installed_in()
  local data = vim.env.XDG_DATA_HOME or vim.fs.normalize("~/.local/share")
  local own = vim.env.XDG_BIN_HOME or data .. "/../bin"
  return { own, vim.fs.normalize("~/.local/bin"), M.own_venv() .. "/bin" }
end

--- The server's command line, with the program where it is: Neovim's PATH may be without the folder
--- that uv and pipx install into.
---@return string[]
function M.cmd()
  local cmd = M.options.cmd
  if cmd[1] ~= M.defaults.cmd[1] or vim.fn.executable(cmd[1]) == 1 then
    return cmd
  end
  for _, folder in ipairs(installed_in()) do
    local program = folder .. "/" .. cmd[1]
    if vim.fn.executable(program) == 1 then
      return vim.list_extend({ program }, cmd, 2)
    end
  end
  return cmd
end

--- Sets where the chat stands; says so where it cannot stand there.
---@param layout string
function M.lay_out(layout)
  if not vim.list_contains(M.layouts, layout) then
    local known = table.concat(M.layouts, ", ")
    error(("lsp_agent: no layout %q, but %s"):format(layout, known), 0)
  end
  M.options = vim.tbl_deep_extend("force", M.options, { chat = { layout = layout } })
end

---@param options? lsp_agent.Options
function M.set(options)
  M.given, M.problems = {}, {}
  if not vim.deep_equal(options or {}, {}) then -- most people give none, and none is checked
    M.given, M.problems = require("lsp_agent.option_check")(options, M.defaults, {
      ask = { "select", "chat" },
      ["chat.layout"] = M.layouts,
    })
  end
  M.options = vim.tbl_deep_extend("force", M.defaults, M.given)
end

return M
