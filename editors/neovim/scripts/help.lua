-- Writes doc/lsp_agent.txt from the sources:
--
--   nvim -l scripts/help.lua          writes it
--   nvim -l scripts/help.lua --print  prints it

local WIDTH = 78
local folder = vim.fn.fnamemodify(arg[0], ":p:h:h")
vim.opt.runtimepath:prepend(folder)

local lines = {}

---@param text string
local function add(text)
  table.insert(lines, (text:gsub("%s+$", "")))
end

---@param text string
---@param indent integer
local function wrapped(text, indent)
  local margin = (" "):rep(indent)
  local line = margin
  for word in text:gmatch("%S+") do
    if #line > indent and #line + #word + 1 > WIDTH then
      add(line)
      line = margin
    end
    line = line .. (#line > indent and " " or "") .. word
  end
  add(line)
end

---@param title string
---@param tag string
local function section(title, tag)
  add("")
  add(("="):rep(WIDTH))
  local right = ("*%s*"):format(tag)
  add(title .. (" "):rep(math.max(WIDTH - #title - #right, 1)) .. right)
  add("")
end

---@param left string
---@param tag string
local function entry(left, tag)
  local right = ("*%s*"):format(tag)
  if #left + #right + 1 > WIDTH then
    add((" "):rep(WIDTH - #right) .. right)
    add(left)
  else
    add(left .. (" "):rep(WIDTH - #left - #right) .. right)
  end
end

---@param code string
local function example(code)
  add(">lua")
  for line in vim.gsplit(vim.trim(code), "\n") do
    add("    " .. line)
  end
  add("<")
end

---@param name string
---@return string[]
local function source(name)
  return vim.fn.readfile(("%s/lua/lsp_agent/%s.lua"):format(folder, name))
end

-- The `---@field`s of the classes of a file, by class.
---@return table<string, { name: string, type: string, text: string }[]>
local function classes_of(name)
  ---@type table<string, { name: string, type: string, text: string }[]>, string?
  local found, class = {}, nil
  for _, line in ipairs(source(name)) do
    class = line:match("^%-%-%-@class (%S+)") or class
    local field, rest = line:match("^%-%-%-@field (%S+) (.*)$")
    if class and field and rest then
      local type, text = rest:match("^(.-) ([A-Z].*)$")
      found[class] = found[class] or {}
      local all = found[class]
      table.insert(all, { name = field:gsub("%?$", ""), type = type or rest, text = text or "" })
    end
  end
  return found
end

-- The public functions of init.lua with the comments above them.
---@return { name: string, parameters: string, text: string }[]
local function functions_of(name)
  local found, comment = {}, {}
  for _, line in ipairs(source(name)) do
    local text = line:match("^%-%-%- (.*)$")
    local called, parameters = line:match("^function M%.([%w_]+)(%b())")
    if text then
      table.insert(comment, text)
    elseif called then
      table.insert(found, {
        name = called,
        parameters = parameters,
        text = table.concat(comment, " "),
      })
    end
    if not line:find("^%-%-%-") then
      comment = {}
    end
  end
  return found
end

---@param fields { name: string, type: string, text: string }[]
---@param defaults table
---@param prefix string
---@param classes table
local function options(fields, defaults, prefix, classes)
  for _, field in ipairs(fields) do
    local name = prefix .. field.name
    local inner = classes[field.type:match("^lsp_agent%.%w+") or ""]
    local default = defaults[field.name]
    entry(name, "lsp_agent-options-" .. name)
    if field.text ~= "" then
      wrapped(field.text, 4)
    end
    if inner then
      add("")
      options(inner, default, name .. ".", classes)
    else
      wrapped(("Default: `%s`"):format(vim.inspect(default, { newline = " ", indent = "" })), 4)
      add("")
    end
  end
end

add("*lsp_agent.txt* *lsp-agent*  A coding agent in Neovim")
section("INTRODUCTION", "lsp_agent")
wrapped(
  "A language server, `lsp-agent`, that puts a coding agent into your buffers. It reads what you "
    .. "see, unsaved text included. Its changes come as small edits that you undo, keep or take "
    .. "out one by one. Needs Neovim 0.10 or newer and the program `lsp-agent`.",
  0
)
section("SETUP", "lsp_agent-setup")
wrapped("Install this folder as a package, see |packages|, and call in your |init.lua|:", 0)
example('require("lsp_agent").setup()')
wrapped("or, from Neovim 0.11 on, what does the same with the default options:", 0)
example('vim.lsp.enable("lsp_agent")')
wrapped(
  "The server is then on every buffer of a file, one server for each folder that has a "
    .. "`.lsp-agent.toml` or `.git`. |:checkhealth| lsp_agent says what is missing, the agent "
    .. "included, and what mends it.",
  0
)

section("OPTIONS", "lsp_agent-options")
local classes = classes_of("config")
local defaults = require("lsp_agent.config").defaults
options(classes["lsp_agent.Options"], defaults, "", classes)

section("COMMANDS", ":Agent")
wrapped(
  "Each is a sub-command; without any `:Agent` is `:Agent ask`, and so is `:Agent` with several words "
    .. "of which the first is none of these.",
  0
)
add("")
for _, command in ipairs(require("lsp_agent.command").commands) do
  local argument = command.argument and " " .. command.argument or ""
  entry((":Agent %s%s"):format(command.name, argument), ":Agent-" .. command.name)
  wrapped(command.summary, 4)
  add("")
end

section("THE CHAT", "lsp_agent-chat")
wrapped(
  "Above, the conversation, as it comes. While the cursor is on its last line the window "
    .. "follows, as it does when you send a prompt; else it stays where you read. Tool calls are "
    .. "folded with their results, see |fold-commands|; of one that failed the last line is shown. "
    .. "Below, the prompt: <CR> sends it, and it waits while the agent works; <C-s> "
    .. "hands it to the agent at once, see |:Agent-steer|. <C-j> breaks the line; in Normal mode "
    .. "<C-c> stops the agent and `q` closes both windows. <Up> in the first line brings back what you "
    .. "sent before, <Down> in the last what came after. A file that it names as `@path`, from the "
    .. "project's folder, goes along, unsaved text included. A prompt such as `/name words` runs a command of the "
    .. "agent's. Both are completed by <C-x><C-o>, and by plugins that complete from language "
    .. "servers. `g?` shows the keys. On an "
    .. "answer to a question <CR> chooses it; else it leads to the prompt, as |i| does.",
  0
)
section("ASKING IN PLACE", "lsp_agent-inline")
wrapped(
  "`:Agent inline`, `<leader>ai` in Normal and Visual mode, or `<Plug>(lsp-agent-inline)`, opens a "
    .. "small window below the line. All your keys work there: <CR> sends, <C-j> breaks the line, "
    .. "<Esc> in Normal mode leaves; what you wrote is there the next time. The changes stay within "
    .. "the lines, as with |:Agent-change|, and beside these stands what the agent does. On the "
    .. "answer |:Agent-keep| and |:Agent-undo| are for all of it, and on a selection for that alone; "
    .. "|:Agent-again| undoes it and asks the same once more; `:Agent inline` asks for something else "
    .. "to be done with its lines. The conversation is in the chat, which does not open by itself.",
  0
)
section("REVIEW", "lsp_agent-review")
wrapped(
  "What the agent changes is in your text at once, and marked: its lines by colour and sign, "
    .. "what they replaced above them in the colours of the file, the words that differ in both. "
    .. "Of more than 200 lines the first are shown, |:Agent-diff| shows all. Keep it, or undo it: what you typed meanwhile stays. |u| "
    .. "takes back your words and the agent's edits one after the other, also those that came "
    .. "while you were in Insert mode. With the setting `edits.review` at `before` the marks are "
    .. "proposals, which are applied or rejected. The server's code actions (|gra|) do the same, "
    .. "and apply what did not get in.",
  0
)
add("")
wrapped(
  "`.` repeats the decision on the change under the cursor. `ih` is the text object of its lines. "
    .. "`<Plug>(lsp-agent-keep-operator)` and `<Plug>(lsp-agent-undo-operator)`, which no keys are "
    .. "mapped to, decide on the changes of a motion. All keys of |lsp_agent-options-keymaps| are "
    .. "mapped to a `<Plug>(lsp-agent-…)` of the same name, also for keys of your own.",
  0
)
add("")
wrapped(
  "An edit waits while you select, an operator is pending, you type in several lines at once "
    .. "(|blockwise-operators|), or a command that you type has numbers of lines in its range, at "
    .. "most three seconds. So does reading a file again that a command of the agent's has changed.",
  0
)
add("")
wrapped(
  "`:Agent review` opens a tab page with the files of the project that have open changes, how many "
    .. "are left of each and their lines, which follow each decision, and beside the list the file "
    .. "itself, where you review and type as anywhere. In the list <CR> opens the file, `d` compares "
    .. "it with its text without the changes, `K` keeps and `U` undoes all of it, `]v` and `[v` go "
    .. "from change to change, `S` sends the comments, `q` closes the tab page, `g?` shows all keys.",
  0
)
section("COMMENTS", "lsp_agent-comments")
wrapped(
  "`:Agent comment`, `<leader>ac` in Normal and Visual mode, or `<Plug>(lsp-agent-comment)`, opens a "
    .. "small window below the change under the cursor, or below the lines that are selected or have "
    .. "no change; what you write there stands beside them and moves with them. On a comment the same "
    .. "opens it again. When you have been through the changes, `:Agent comment send` sends all "
    .. "comments on the project's files as one prompt, each with its file, lines and change. They go "
    .. "when the agent has done with them, and stay where it was stopped or failed.",
  0
)
add("")
wrapped(
  "`:Agent comment list` lists them in the quickfix window, `:Agent comment remove` takes away the "
    .. "one under the cursor, `:Agent comment clear` all of the project.",
  0
)
section("STATUS LINE", "lsp_agent-statusline")
example([[vim.o.statusline = "%f %m%= %{v:lua.require'lsp_agent'.statusline()}"]])

section("FUNCTIONS", "lsp_agent-functions")
for _, each in ipairs(functions_of("init")) do
  entry(each.name .. each.parameters, ("lsp_agent.%s()"):format(each.name))
  wrapped(each.text, 4)
  add("")
end

section("EVENTS", "lsp_agent-events")
wrapped(
  "|User| autocommands, for notifications of your own. `data` has `session_id` and `title`.",
  0
)
add("")
entry("LspAgentTurnEnded", "LspAgentTurnEnded")
wrapped("A turn has ended. Also in `data`: `stop_reason`, and `error` where it failed.", 4)
entry("LspAgentAsked", "LspAgentAsked")
wrapped("The agent asks. Also in `data`: `question`, its title.", 4)

section("HIGHLIGHTS", "lsp_agent-highlights")
for name, to in vim.spairs(require("lsp_agent.highlights")) do
  entry(name, "hl-" .. name)
  local default = ("|hl-%s|"):format(to[1])
  if to[3] then
    default = "the background of " .. default
  end
  wrapped(("%s. Default: %s"):format(to[2]:gsub("^%l", string.upper), default), 4)
end

add("")
add(" vim:tw=78:ts=8:noet:ft=help:norl:")

local text = table.concat(lines, "\n") .. "\n"
if arg[1] == "--print" then
  io.write(text)
else
  vim.fn.mkdir(folder .. "/doc", "p")
  local file = assert(io.open(folder .. "/doc/lsp_agent.txt", "w"))
  file:write(text)
  file:close()
end
