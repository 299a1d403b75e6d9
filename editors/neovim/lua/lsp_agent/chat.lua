--- The chat: what is shown in its windows, and what is written in them.

local client = require("lsp_agent.client")
local config = require("lsp_agent.config")
local context = require("lsp_agent.context")
local sessions = require("lsp_agent.sessions")
local tell = require("lsp_agent.tell")
local windows = require("lsp_agent.windows")

local M = {}

local api = vim.api

-- The session that the chat's windows show, seen from them.
---@return lsp_agent.Session?
local function shown()
  local window = vim.w.lsp_agent and windows.of("chat")
  return window and sessions.by_buffer(api.nvim_win_get_buf(window))
end

--- The folder of the project that what is done here is for: in the chat's windows that of the
--- session that they show, else the current buffer's.
---@return string?
function M.root()
  local session = shown()
  return session and session.project.root or client.root_here()
end

--- The client of that folder, if its server runs.
---@return vim.lsp.Client?
function M.client()
  local root = M.root()
  return root and client.of_root(root)
end

--- The session that the chat's windows show, seen from them; else that of the current buffer's
--- project.
---@return lsp_agent.Session?
function M.session()
  local root = M.root()
  return shown() or root and sessions.project(root).current
end

--- That session and the client of its server; says so where there is none.
---@return lsp_agent.Session?
---@return vim.lsp.Client?
function M.target()
  local session = M.session()
  local to = session and sessions.client_of(session)
  if not to then
    tell("no server runs for this buffer (:Agent restart)", vim.log.levels.WARN)
    return
  end
  return session, to
end

--- Calls back with that session, once it can be asked.
---@param callback fun(session: lsp_agent.Session, to: vim.lsp.Client)
---@param on_none? fun() where there is none
function M.when_open(callback, on_none)
  local session, to = M.target()
  if session and to then
    sessions.when_open(session, to, function()
      callback(session, to)
    end)
  elseif on_none then
    on_none()
  end
end

--- Makes a request for that session, once it can be asked.
---@param method string
---@param params table without the session's id
---@param on_result fun(result: any, session: lsp_agent.Session, to: vim.lsp.Client)
---@param on_refused? fun() it came to nothing, which is said
function M.request(method, params, on_result, on_refused)
  M.when_open(function(session, to)
    params.sessionId = session.id
    client.request(to, method, params, function(result)
      on_result(result, session, to)
    end, on_refused and function(err)
      on_refused()
      tell(err.message, vim.log.levels.ERROR)
    end)
  end, on_refused)
end

-- For 'winbar' and 'statusline'.
---@param text string
---@return string
local function escaped(text)
  return (text:gsub("%%", "%%%%"))
end

---@param count integer
---@return string
local function short(count)
  return count < 1000 and tostring(count) or ("%.1fk"):format(count / 1000)
end

-- Tokens to the model and from it, and cost, as far as they are known.
---@param used { input?: integer, output?: integer, cacheRead?: integer, cost?: number }
---@return string?
local function usage(used)
  local taken, parts = (used.input or 0) + (used.cacheRead or 0), {}
  if taken > 0 then
    table.insert(parts, "↑" .. short(taken))
  end
  if used.output and used.output > 0 then
    table.insert(parts, "↓" .. short(used.output))
  end
  if (used.cost or 0) > 0 then
    table.insert(parts, ("$%.2f"):format(used.cost))
  end
  return #parts > 0 and table.concat(parts, " ") or nil
end

-- How full the model's window is.
---@param window? { used: integer, size?: integer }
---@return string?
local function fullness(window)
  if not window then
    return nil
  end
  if not window.size then
    return ("window %s"):format(short(window.used))
  end
  local share = math.floor(100 * window.used / window.size + 0.5)
  return ("window %d %% of %s"):format(share, short(window.size))
end

---@param session lsp_agent.Session
---@return string
local function title(session)
  local parts = {}
  if session.questions[1] then
    table.insert(parts, "asks")
  elseif session.busy then
    table.insert(parts, "working")
  end
  if #session.queued > 0 then
    table.insert(parts, ("%d waiting"):format(#session.queued))
  end
  table.insert(parts, session.agent or "agent")
  for _, part in ipairs({
    session.model or "",
    fullness(session.window) or "",
    usage(session.usage or {}) or "",
    session.title or "",
  }) do
    if part ~= "" then
      table.insert(parts, part)
    end
  end
  return escaped(table.concat(parts, " · ")) .. "%<"
end

--- Shows the chat; with `focus` to write a prompt.
---@param options? { focus?: boolean }
function M.open(options)
  local session = M.session()
  if not session then
    tell("open a file first: its folder is the one that an agent works in", vim.log.levels.WARN)
    return
  end
  local here = vim.w.lsp_agent
  local chat, prompt = windows.open(session.transcript)
  M.show(session)
  if options and options.focus then
    api.nvim_set_current_win(prompt)
    vim.cmd.startinsert()
  elseif not here and vim.list_contains({ "float", "tab" }, config.options.chat.layout) then
    api.nvim_set_current_win(chat) -- it covers the file
  end
end

M.close = windows.close

function M.toggle()
  if windows.of("chat") then
    M.close()
  else
    M.open({ focus = true })
  end
end

--- Shows the chat elsewhere, from now on.
---@param layout string
function M.lay_out(layout)
  local can, problem = pcall(config.lay_out, layout)
  if not can then
    tell(tostring(problem):gsub("^lsp_agent: ", ""), vim.log.levels.WARN)
    return
  end
  M.close()
  windows.close_tab()
  M.open({ focus = true })
end

--- The session is the one that the chat shows, if the chat is open, and that prompts go to.
---@param session lsp_agent.Session
function M.show(session)
  session.project.current = session
  windows.show(session.transcript)
  M.refresh()
end

--- Brings what the windows say of the session up to date.
function M.refresh()
  local with = context.describe()
  local prompt = with and "prompt, with " .. with
    or "prompt: Enter sends, Ctrl-J breaks the line, g? tells all keys"
  for _, window in ipairs(api.nvim_list_wins()) do
    if vim.w[window].lsp_agent == "prompt" then
      windows.set(window, { winbar = "%#LspAgentState#" .. escaped(prompt) .. "%<" })
    elseif vim.w[window].lsp_agent == "chat" then
      local session = sessions.by_buffer(api.nvim_win_get_buf(window))
      if session then
        windows.set(window, { winbar = title(session) })
      end
    end
  end
end

--- Sends what is written in the prompt's window, or runs the slash command that it names.
---@param options? { steer?: boolean }
function M.send(options)
  local bufnr = windows.prompt_bufnr()
  local text = table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
  if vim.trim(text) == "" then
    return
  end
  api.nvim_buf_set_lines(bufnr, 0, -1, true, {})
  local command = vim.trim(text):match("^/([%w_.:-]+)$")
    or vim.trim(text):match("^/([%w_.:-]+%s.*)$")
  if command then
    require("lsp_agent.history").add(text)
    require("lsp_agent.slash_commands").run(command, function()
      M.give_back(text)
    end)
    return
  end
  require("lsp_agent.prompts").write({
    text = text,
    held = context.take(),
    context = {},
    steer = options and options.steer,
  })
  M.refresh()
end

--- Puts the text of a prompt that came to nothing below what is being written.
---@param text string
function M.give_back(text)
  local bufnr = windows.prompt_bufnr()
  local lines = vim.split(text, "\n")
  local empty = api.nvim_buf_line_count(bufnr) == 1
    and api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] == ""
  if not empty then
    table.insert(lines, 1, "")
  end
  api.nvim_buf_set_lines(bufnr, empty and 0 or -1, -1, true, lines)
  M.refresh()
end

--- Hands it to the agent while that works.
function M.steer()
  M.send({ steer = true })
end

--- To the prompt's window, from the chat's.
function M.write()
  M.open({ focus = true })
end

--- On the line of an open question's option: chooses it, unless the number of another one was typed
--- before. Elsewhere the same as `write`.
function M.enter()
  local ask = require("lsp_agent.ask")
  local session = M.session()
  local row = api.nvim_win_get_cursor(0)[1] - 1
  for _, question in ipairs(session and session.questions or {}) do
    local number = session and ask.option_at(session, question, row)
    if number and vim.v.count > 0 and vim.v.count ~= number then
      tell(("not answered: this is not %d"):format(vim.v.count), vim.log.levels.WARN)
      return
    elseif number then
      ask.answer(question, number)
      return
    end
  end
  M.write()
end

function M.stop()
  require("lsp_agent").stop()
end

---@param session lsp_agent.Session
---@return boolean
function M.is_shown(session)
  return vim.fn.bufwinid(session.transcript.bufnr) ~= -1
end

return M
