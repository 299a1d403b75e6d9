--- The language client: which buffers it is on, how requests are made, what happens at its end.

local config = require("lsp_agent.config")
local stand_in = require("lsp_agent.stand_in")
local tell = require("lsp_agent.tell")

local M = {}

M.NAME = "lsp_agent"

-- Whether `setup()` was called: before 0.11 nothing else tells that the plugin is on.
M.chosen = false

-- A server that is told to end is looked at so often, ended by force after so many looks, and not
-- waited for any longer after so many.
local LOOK_MS = 50
local FORCE_AFTER_LOOKS = 100
local LEAVE_AFTER_LOOKS = 120

local LEVELS = { vim.log.levels.ERROR, vim.log.levels.WARN, vim.log.levels.INFO } -- by type

---@class lsp_agent.Error
---@field code integer
---@field message string
---@field data? { kind?: string }

-- Calls a method of a client's; those of 0.10 are called without the client.
---@param client vim.lsp.Client
---@param name string
---@return any
local function call(client, name, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return client[name](client, ...)
  end
  return client[name](...)
end

---@param bufnr integer
---@return boolean
function M.is_file(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  -- Names such as oil://… are other plugins' buffers.
  return vim.bo[bufnr].buftype == "" and name ~= "" and not name:find("^%a[%w+.-]+://")
end

--- The folder that an agent may work in for a file: the one with a marker, else the working
--- directory if the file is in it. Files elsewhere (a library's, say) join a client that runs.
---@param bufnr integer
---@return string
function M.root(bufnr)
  local marked = vim.fs.root(bufnr, config.options.root_markers)
  if marked then
    return marked
  end
  local folder = vim.fs.dirname(vim.api.nvim_buf_get_name(bufnr))
  local cwd = vim.uv.cwd()
  if cwd and vim.startswith(folder .. "/", cwd == "/" and cwd or cwd .. "/") then
    return cwd
  end
  local running = M.all()[1]
  return running and M.root_of(running) or folder
end

---@param client vim.lsp.Client
---@return string
function M.root_of(client)
  return client.config.root_dir or ""
end

-- The folders of clients that were told to end, by id.
---@type table<integer, string>
local ending = {}
-- Those whose servers do not end, by id.
---@type table<integer, true>
local left = {}

--- Whether nothing is to be asked of a client any more.
---@param client vim.lsp.Client
---@return boolean
function M.is_over(client)
  return ending[client.id] ~= nil or left[client.id] == true or call(client, "is_stopped")
end

--- The clients whose servers run, of all buffers or of one.
---@param bufnr? integer
---@return vim.lsp.Client[]
function M.all(bufnr)
  return vim.tbl_filter(function(client)
    return not M.is_over(client)
  end, vim.lsp.get_clients({ name = M.NAME, bufnr = bufnr }))
end

--- The client of a folder whose server runs.
---@param root string
---@return vim.lsp.Client?
function M.of_root(root)
  for _, client in ipairs(M.all()) do
    if M.root_of(client) == root then
      return client
    end
  end
end

-- The folder of a buffer's project: of several clients on it, the nearest one's.
---@param bufnr integer
---@return string?
local function root_of_buffer(bufnr)
  local attached = M.all(bufnr)
  if M.is_file(bufnr) and #attached ~= 1 then
    return M.root(bufnr)
  end
  return attached[1] and M.root_of(attached[1])
end

---@type { root?: string, callback: fun(client?: vim.lsp.Client) }[]
local waiters = {}
local tell_waiters ---@type fun()
local told = false

---@return boolean
local function executable()
  local program = config.cmd()[1]
  if vim.fn.executable(program) == 1 then
    return true
  end
  if not told then
    told = true
    local ours = program == config.defaults.cmd[1]
    local text = ours and "no %s here; try :Agent install" or "%s cannot be run"
    tell(text:format(program), vim.log.levels.ERROR)
  end
  return false
end

-- A function of a module that is loaded when it is first called.
---@param module string
---@param name string
---@return lsp.Handler
local function handler(module, name)
  return function(...)
    return require("lsp_agent." .. module)[name](...)
  end
end

--- What `vim.lsp.config()` takes; `lsp/lsp_agent.lua` returns it.
---@return vim.lsp.Config
function M.config()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = {
    agent = {
      events = true,
      sync = true,
      save = true,
      reload = true,
      ask = true,
      diagnostics = true,
    },
  }
  return {
    name = M.NAME,
    cmd = config.cmd(),
    capabilities = capabilities,
    init_options = config.options.settings,
    root_dir = function(bufnr, on_dir)
      if M.is_file(bufnr) and executable() then
        on_dir(M.root(bufnr))
      end
    end,
    handlers = {
      ["workspace/applyEdit"] = handler("edits", "apply"),
      ["agent/sync"] = handler("edits", "sync"),
      ["agent/saveDocument"] = handler("edits", "save"),
      ["agent/reloadDocument"] = handler("edits", "reload"),
      ["agent/ask"] = handler("ask", "ask"),
      ["agent/diagnostics"] = handler("diagnostics", "answer"),
      ["window/showDocument"] = handler("review_tab", "show_document"),
      ["window/showMessage"] = function(_, params)
        tell(params.message, LEVELS[params.type])
      end,
      ["agent/event"] = function(_, event, context)
        require("lsp_agent.events").on_event(context.client_id, event)
      end,
    },
    commands = {
      -- A code action's prompt goes on with the conversation, as one that is written does.
      ["lspAgent.prompt"] = function(command)
        local asked = command.arguments[1]
        local prompt = { text = asked.text, held = {}, context = asked.context or {} }
        require("lsp_agent.prompts").write(prompt)
      end,
    },
    on_init = function(client)
      require("lsp_agent.sessions").on_start(client)
    end,
    on_exit = function(_, _, client_id)
      vim.schedule(function()
        require("lsp_agent.sessions").on_exit(client_id)
        tell_waiters()
      end)
    end,
  }
end

--- Whether buffers of files are to have a client.
---@return boolean
function M.enabled()
  if vim.lsp.is_enabled then
    return vim.lsp.is_enabled(M.NAME)
  end
  return M.chosen
end

--- Attaches a client to a buffer of a file; starts one where there is none for its folder.
---@param bufnr integer
function M.attach(bufnr)
  if not (vim.api.nvim_buf_is_loaded(bufnr) and M.is_file(bufnr) and executable()) then
    return
  end
  ---@diagnostic disable-next-line: undefined-field -- any name is one, by its metatable
  local resolved = vim.lsp.config and vim.deepcopy(vim.lsp.config[M.NAME]) or M.config()
  resolved.root_dir = M.root(bufnr)
  local function reuse(client, wanted) -- 0.10 would take one that has ended, too
    return not M.is_over(client) and client.name == M.NAME and M.root_of(client) == wanted.root_dir
  end
  vim.lsp.start(resolved, { bufnr = bufnr, reuse_client = resolved.reuse_client or reuse })
end

function M.attach_all()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    M.attach(bufnr)
  end
end

---@param client vim.lsp.Client
---@param root? string
---@return boolean
local function is_for(client, root)
  return root == nil or M.root_of(client) == root
end

-- A client of a folder, or of any, whether or not its server has answered yet.
---@param root? string
---@return vim.lsp.Client?
local function started(root)
  for _, client in ipairs(vim.lsp.get_clients({ name = M.NAME, _uninitialized = true })) do
    if not M.is_over(client) and is_for(client, root) then
      return client
    end
  end
end

-- The client of a folder, or of any; without one, whether one is on its way.
---@param root? string
---@return vim.lsp.Client?
---@return boolean coming
local function ready(root)
  for _, client in ipairs(M.all()) do
    if is_for(client, root) then
      return client, false
    end
  end
  for _, ending_root in pairs(ending) do
    if root == nil or ending_root == root then
      return nil, true -- by `restart()`
    end
  end
  return nil, started(root) ~= nil
end

-- Tells those who wait for a client what has come of it.
function tell_waiters()
  for _, waiter in ipairs(vim.list_slice(waiters)) do
    local client, coming = ready(waiter.root)
    if vim.list_contains(waiters, waiter) and (client or not coming) then
      waiters = vim.tbl_filter(function(each)
        return each ~= waiter
      end, waiters)
      waiter.callback(client)
    end
  end
end

--- Calls back when there is a client, of that folder if one is given: at once, or when the one that
--- is started for it is on a buffer; without one where none can be started.
---@param callback fun(client?: vim.lsp.Client)
---@param root? string
function M.when_ready(callback, root)
  local client, coming = ready(root)
  if not client and not coming then
    M.attach_all()
  end
  table.insert(waiters, { root = root, callback = callback })
  tell_waiters()
end

--- The folder of the project that is worked in here, whether or not a server runs for it: the
--- current buffer's. For a buffer that is no file's (a help page) that of a server that runs: for
--- the alternate buffer, for the working directory, any; else that of a file that is loaded.
---@return string?
function M.root_here()
  local current, alternate = vim.api.nvim_get_current_buf(), vim.fn.bufnr("#")
  local own = root_of_buffer(current)
  if own then
    return own
  end
  local running = alternate > 0 and M.all(alternate)[1] or M.of_root(vim.uv.cwd()) or M.all()[1]
  if running then
    return M.root_of(running)
  end
  for _, bufnr in ipairs(vim.list_extend({ alternate }, vim.api.nvim_list_bufs())) do
    if bufnr > 0 and vim.api.nvim_buf_is_loaded(bufnr) and M.is_file(bufnr) then
      return M.root(bufnr)
    end
  end
end

--- Makes a request, after all that was typed. Failures are shown unless `on_error` takes them.
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param on_result? fun(result: any)
---@param on_error? fun(err: lsp_agent.Error)
function M.request(client, method, params, on_result, on_error)
  local function answered(err, result)
    if err and on_error then
      on_error(err)
    elseif err then
      tell(err.message, vim.log.levels.ERROR)
    elseif on_result then
      on_result(result)
    end
  end
  for bufnr in pairs(client.attached_buffers) do
    M.flush(client, bufnr)
  end
  call(client, "request", method, next(params) and params or vim.empty_dict(), answered)
end

--- A request whose answer does not wait for the turn: the command form.
---@param client vim.lsp.Client
---@param command string
---@param argument table
---@param on_result? fun(result: any)
---@param on_error? fun(err: lsp_agent.Error)
function M.execute(client, command, argument, on_result, on_error)
  local params = { command = command, arguments = { argument } }
  M.request(client, "workspace/executeCommand", params, on_result, on_error)
end

--- Sends the changes of a buffer that Neovim holds back (150 ms by default).
---@param client vim.lsp.Client
---@param bufnr integer
function M.flush(client, bufnr)
  require("vim.lsp._changetracking").flush(client, bufnr)
end

--- Ends the server of a folder, or any, also one that still starts; starts one for each buffer that
--- has none.
---@param root? string
function M.restart(root)
  local client = started(root)
  if not client then
    local _, coming = ready(root)
    if not coming then
      M.attach_all()
    end
    return
  end
  ending[client.id] = M.root_of(client)
  call(client, "stop")
  local looks = 0
  local function start_when_gone()
    looks = looks + 1
    local gone = vim.lsp.get_client_by_id(client.id) == nil
    if gone or looks == LEAVE_AFTER_LOOKS then
      ending[client.id], left[client.id] = nil, not gone or nil
      M.attach_all()
      tell_waiters()
      return
    end
    if looks == FORCE_AFTER_LOOKS then
      client.rpc.terminate() -- 0.11 does not stop a client twice
    end
    vim.defer_fn(start_when_gone, LOOK_MS)
  end
  start_when_gone()
end

---@param bufnr integer
---@param client_id integer
local function detached(bufnr, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if client and client.name == M.NAME and call(client, "is_stopped") then
    if vim.api.nvim_buf_is_loaded(bufnr) then
      vim.lsp.start(stand_in.config(), { bufnr = bufnr })
    end
  end
end

---@param bufnr integer
---@param client_id integer
local function attached(bufnr, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client or client.name ~= M.NAME then
    return
  end
  for _, other in ipairs(vim.lsp.get_clients({ name = stand_in.NAME, bufnr = bufnr })) do
    vim.lsp.buf_detach_client(bufnr, other.id)
  end
  require("lsp_agent.edits").on_attach(bufnr)
  require("lsp_agent.marks").on_attach(bufnr)
  require("lsp_agent.keymaps")(bufnr)
  vim.schedule(tell_waiters)
end

--- Called once, by `plugin/lsp_agent.lua`.
function M.listen()
  local group = vim.api.nvim_create_augroup("lsp_agent.client", {})
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  on("LspAttach", function(event)
    attached(event.buf, event.data.client_id)
  end)
  on("LspDetach", function(event)
    detached(event.buf, event.data.client_id)
  end)
  -- `vim.lsp.enable()` goes by file type; this is for files that have none.
  on({ "BufReadPost", "BufNewFile", "BufFilePost" }, function(event)
    vim.schedule(function()
      if vim.api.nvim_buf_is_valid(event.buf) and M.enabled() then
        M.attach(event.buf)
      end
    end)
  end)
end

return M
