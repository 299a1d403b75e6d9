local M = {}

-- The line of the person's own configuration that calls us.
---@return string?
local function place()
  local folder = vim.fn.stdpath("config") .. "/"
  local level = 2
  local frame = debug.getinfo(level, "Sl")
  while frame do
    if vim.startswith(frame.source, "@" .. folder) then
      return ("%s:%d"):format(frame.source:sub(#folder + 2), frame.currentline)
    end
    level = level + 1
    frame = debug.getinfo(level, "Sl")
  end
end

-- In one line: what a person starts with is no place for more.
---@param problems string[]
local function complain(problems)
  local text = ("%s: %s"):format(place() or "setup()", problems[1])
  if problems[2] then
    text = ("%s, and %d more (:checkhealth lsp_agent)"):format(text, #problems - 1)
  end
  vim.schedule(function() -- behind what Neovim says of the files that it opens
    require("lsp_agent.tell")(text, vim.log.levels.ERROR)
  end)
end

--- Sets the options and turns the plugin on for all files. On Neovim 0.11 and newer
--- `vim.lsp.enable("lsp_agent")` does the same with the default options. What is wrong with an option
--- is said, and it has its default.
---@param options? lsp_agent.Options
function M.setup(options)
  local client, config = require("lsp_agent.client"), require("lsp_agent.config")
  config.set(options)
  if config.problems[1] then
    complain(config.problems)
  end
  if vim.lsp.config then
    vim.lsp.config(client.NAME, client.config())
    vim.lsp.enable(client.NAME)
  end
  client.chosen = true
  client.attach_all()
end

--- Sends a prompt: in the chat's windows to the session that they show, elsewhere to that of the
--- current buffer's project. A file that the text names as `@path`, from the project's folder,
--- goes along. While the server starts the prompt waits for it. While the agent works it waits for
--- the turn's end, or with `steer` in the options is handed to the agent at once, if that can take
--- it. A prompt that is refused or dropped is put where prompts are written.
---@param text string
---@param context? lsp_agent.Context[] documents, or parts of them, that go along
---@param options? { steer?: boolean }
function M.prompt(text, context, options)
  require("lsp_agent.prompts").write({
    text = text,
    held = {},
    context = context or {},
    steer = options and options.steer,
  })
end

--- Stops what that session does, and drops what waits.
function M.stop()
  require("lsp_agent.chat").request("agent/abort", {}, function(result)
    if not result.aborted then
      require("lsp_agent.tell")("nothing runs")
    end
  end)
  local session = require("lsp_agent.chat").session()
  if session then
    require("lsp_agent.prompts").stopped(session)
  end
end

---@class lsp_agent.Status
---@field state "asks"|"working"|"idle"
---@field queued integer prompts that wait
---@field agent? string
---@field model? string
---@field title? string
---@field window? { used: integer, size?: integer }
---@field usage? { input?: integer, output?: integer, cacheRead?: integer, cost?: number }
---@field to_review integer

--- What there is to say of the current buffer in a status line of your own, or nil where no server
--- is: `state` ("asks", "working" or "idle"), `queued` (how many prompts wait), `agent`, `model` and
--- `title` of the session, `window` (how full the model's is: `used` and `size`, in tokens), `usage`
--- (what the session took: `input`, `output`, `cost`), and `to_review` (the open changes of this
--- buffer). What is not known is nil.
---@return lsp_agent.Status?
function M.status()
  -- Asked for all the time, and the folder of a file without a server is looked for on disk.
  local found = #require("lsp_agent.client").all() > 0 and require("lsp_agent.chat").client()
  if not found then
    return nil
  end
  local session = require("lsp_agent.sessions").project_of(found).current
  return {
    state = session.questions[1] and "asks" or session.busy and "working" or "idle",
    queued = #session.queued,
    agent = session.agent,
    model = session.model,
    title = session.title,
    window = session.window,
    usage = session.usage,
    to_review = require("lsp_agent.marks").count(vim.api.nvim_get_current_buf()),
  }
end

--- For 'statusline': what the agent of the current buffer's project does, and what there is to
--- review in this buffer; empty where no server is.
---@return string
function M.statusline()
  local status = M.status()
  if not status then
    return ""
  end
  local parts = { "agent" }
  if status.state ~= "idle" then
    table.insert(parts, status.state)
  end
  if status.to_review > 0 then
    table.insert(parts, ("%d to review"):format(status.to_review))
  end
  return table.concat(parts, " · ")
end

return M
