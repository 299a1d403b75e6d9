--- How the agent's changes get into buffers, and buffers to disk and back.

local hold = require("lsp_agent.hold")

local M = {}

-- What the server was told last of each buffer, for Neovim 0.10.
---@type table<integer, integer>
local versions = {}

-- Buffers that were given another name, and are not written yet.
---@type table<integer, true>
local renamed = {}

-- The file of each buffer as it was when it was last read or written.
---@type table<integer, string>
local stamps = {}

---@param bufnr integer
local function stamp(bufnr)
  local stat = vim.uv.fs_stat(vim.api.nvim_buf_get_name(bufnr))
  return stat and ("%d.%09d %d"):format(stat.mtime.sec, stat.mtime.nsec, stat.size) or ""
end

-- From 0.11 on Neovim says it itself: it goes on where an earlier client was, and through a reload.
-- Up to 0.10 it begins anew there, and says 0 when another client attaches as well.
---@param bufnr integer
---@return integer
local function version_told(bufnr)
  if vim.fn.has("nvim-0.11") == 1 then
    return vim.lsp.util.buf_versions[bufnr]
  end
  return versions[bufnr] or 0
end

---@param bufnr integer
function M.on_attach(bufnr)
  local known = versions[bufnr] ~= nil
  versions[bufnr] = 0
  stamps[bufnr] = stamps[bufnr] or stamp(bufnr)
  if known then
    return
  end
  vim.api.nvim_buf_attach(bufnr, false, {
    on_lines = function(_, _, tick)
      versions[bufnr] = tick
    end,
    on_reload = function()
      versions[bufnr] = 0
    end,
    on_detach = function()
      versions[bufnr], stamps[bufnr], renamed[bufnr] = nil, nil, nil
    end,
  })
end

---@param uri string
---@param client_id integer
---@return integer? bufnr
---@return vim.lsp.Client? client
local function open(uri, client_id)
  local bufnr = vim.uri_to_bufnr(uri)
  local client = vim.lsp.get_client_by_id(client_id)
  if client and client.attached_buffers[bufnr] and vim.api.nvim_buf_is_loaded(bufnr) then
    return bufnr, client
  end
end

-- Ends the undo step: what follows is one of its own.
---@param bufnr integer
local function break_undo(bufnr)
  vim.bo[bufnr].undolevels = vim.bo[bufnr].undolevels
end

-- Has Insert mode begin anew at the cursor, as by hand. It saves for undo only what lies before
-- where it began: after a step was ended behind its back, <BS> at the start of a line would join
-- lines that `u` then does not take apart. A completion, which the key would end, is waited for; it
-- may end with Insert mode, and there `u` is another key.
---@param bufnr integer
local function begin_insert_anew(bufnr)
  local mode = vim.api.nvim_get_mode().mode
  if vim.api.nvim_get_current_buf() ~= bufnr or not mode:find("^[iR]") then
    return
  elseif not mode:find("^.[cx]") then
    vim.api.nvim_feedkeys(vim.keycode("<C-g>u"), "ni", false)
    return
  end
  vim.api.nvim_create_autocmd("CompleteDone", {
    once = true,
    callback = vim.schedule_wrap(function()
      begin_insert_anew(bufnr)
    end),
  })
end

-- Runs `change` as an undo step of its own. In Insert mode `u` would else take it back together
-- with what is typed before and after it, and now and then put lines in the wrong place.
---@param bufnr integer
---@param change fun()
---@return boolean ok
---@return any problem
local function as_own_step(bufnr, change)
  break_undo(bufnr)
  local ok, problem = pcall(change)
  break_undo(bufnr)
  begin_insert_anew(bufnr)
  return ok, problem
end

---@param reason string
local function refused(reason)
  return { applied = false, failureReason = reason }
end

---@param version integer|lsp.null
---@param client vim.lsp.Client
---@param bufnr integer
local function is_at(version, client, bufnr)
  require("lsp_agent.client").flush(client, bufnr)
  -- The server says 1 for 0, which Neovim's own handler would not check.
  return math.max(version_told(bufnr), 1) == version
end

--- `workspace/applyEdit`, for what lsp-agent sends: one document, at its version.
---@async
---@param params lsp.ApplyWorkspaceEditParams
---@param context lsp.HandlerContext
---@return lsp.ApplyWorkspaceEditResult
function M.apply(_, params, context)
  local changes = params.edit.documentChanges or {}
  local change = changes[1]
  if not change or #changes > 1 or not change.textDocument then
    return refused("only edits of one open document are taken")
  end
  local bufnr, client = open(change.textDocument.uri, context.client_id)
  if not bufnr or not client then
    return refused("the document is not open")
  end
  if not hold.until_free(bufnr) then
    return refused("a selection, an operator or a command is pending")
  end
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return refused("the document is not open")
  end
  if not is_at(change.textDocument.version, client, bufnr) then
    return refused("the document has changed")
  end
  local edits = change.edits --[[@as lsp.TextEdit[] ]]
  local ok, problem = as_own_step(bufnr, function()
    vim.lsp.util.apply_text_edits(edits, bufnr, client.offset_encoding)
  end)
  require("lsp_agent.client").flush(client, bufnr)
  return ok and { applied = true } or refused(tostring(problem))
end

--- `agent/sync`
function M.sync(_, params, context)
  local bufnr, client = open(params.uri, context.client_id)
  if bufnr and client then
    require("lsp_agent.client").flush(client, bufnr)
  end
  return vim.empty_dict()
end

-- Deletes the file of a buffer without text, unless it has some meanwhile: what is shown is then a
-- file that is still to be made.
---@param bufnr integer
local function remove(bufnr)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, 2, false)
  if lines[2] or lines[1] ~= "" then
    return
  end
  vim.fn.delete(vim.api.nvim_buf_get_name(bufnr))
  local silence = vim.api.nvim_create_autocmd("FileChangedShell", {
    buffer = bufnr,
    callback = function() end, -- Neovim would complain that it is gone
  })
  pcall(vim.api.nvim_command, ("silent! checktime %d"):format(bufnr))
  vim.api.nvim_del_autocmd(silence)
  stamps[bufnr] = stamp(bufnr)
end

--- `agent/saveDocument`
function M.save(_, params, context)
  local bufnr, client = open(params.uri, context.client_id)
  if not bufnr or not client or vim.bo[bufnr].readonly or stamps[bufnr] ~= stamp(bufnr) then
    return { saved = false } -- :write would ask
  end
  if params.version and not is_at(params.version, client, bufnr) then
    return { saved = false } -- what was typed since is not to be written unasked
  end
  if vim.bo[bufnr].modified then
    vim.api.nvim_buf_call(bufnr, function()
      pcall(vim.api.nvim_command, "silent! lockmarks write")
    end)
  end
  local saved = not vim.bo[bufnr].modified
  if saved and params.removes then
    remove(bufnr)
  end
  return { saved = saved }
end

--- `agent/reloadDocument`
---@async
function M.reload(_, params, context)
  local bufnr = open(params.uri, context.client_id)
  if not bufnr or not hold.until_free(bufnr) then
    return { reloaded = false }
  elseif not vim.api.nvim_buf_is_loaded(bufnr) or vim.bo[bufnr].modified then
    return { reloaded = false }
  end
  local own = vim.bo[bufnr].autoread -- nil where the global value counts
  vim.bo[bufnr].autoread = true -- else it would ask
  pcall(vim.api.nvim_command, ("silent! checktime %d"):format(bufnr))
  vim.bo[bufnr].autoread = own
  return { reloaded = stamps[bufnr] == stamp(bufnr) }
end

local function listen()
  local group = vim.api.nvim_create_augroup("lsp_agent.edits", {})
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufWritePost", "FileChangedShellPost" }, {
    group = group,
    callback = function(event)
      stamps[event.buf] = versions[event.buf] and stamp(event.buf) or nil
    end,
  })
  vim.api.nvim_create_autocmd("BufFilePost", {
    group = group,
    callback = function(event)
      renamed[event.buf] = versions[event.buf] and true
    end,
  })
  -- Under its new name a buffer is opened when it is written.
  vim.api.nvim_create_autocmd("BufWritePost", {
    group = group,
    callback = function(event)
      if renamed[event.buf] then
        versions[event.buf], renamed[event.buf] = 0, nil
      end
    end,
  })
end

listen()

return M
