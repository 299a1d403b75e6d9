-- What a test needs to know of a Neovim: what came of each prompt, every send of an edit, every
-- step by which the agent's side or an undo changed the text, and what a person would have seen.
_G.sends, _G.steps, _G.answers, _G.progress, _G.questions, _G.messages = {}, {}, {}, {}, {}, {}

-- The lines in which two texts differ: those of the old one, those of the new one.
local function differing(old, new)
  local first, last_old, last_new = 1, #old, #new
  while first <= last_old and first <= last_new and old[first] == new[first] do
    first = first + 1
  end
  while last_old >= first and last_new >= first and old[last_old] == new[last_new] do
    last_old, last_new = last_old - 1, last_new - 1
  end
  return vim.list_slice(old, first, last_old), vim.list_slice(new, first, last_new)
end

-- Runs `change`, and notes what it made of the buffer's text; whether it changed it.
local function noted(by, buffer, change)
  local before = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  local result = change()
  local changed = vim.api.nvim_buf_get_changedtick(buffer) ~= tick
  if changed then
    local removed, added =
      differing(before, vim.api.nvim_buf_get_lines(buffer, 0, -1, true))
    table.insert(_G.steps, { by = by, removed = removed, added = added })
  end
  return result, changed
end

-- The edit by which the server finds out whether it hears of changes; not counted as one.
local start = { line = 0, character = 0 }
local NOTHING = { { range = { start = start, ['end'] = start }, newText = '' } }

local apply = vim.lsp.handlers['workspace/applyEdit']
vim.lsp.handlers['workspace/applyEdit'] = function(err, params, context)
  local change = params.edit.documentChanges[1]
  if vim.deep_equal(change.edits, NOTHING) then
    return apply(err, params, context)
  end
  local buffer = vim.uri_to_bufnr(change.textDocument.uri)
  local answer, taken = noted('agent', buffer, function()
    return apply(err, params, context)
  end)
  table.insert(_G.sends, {
    version = change.textDocument.version,
    edits = change.edits,
    taken = taken,
  })
  return answer
end

_G.undo = function()
  noted('person', 0, function()
    vim.cmd('silent! undo')
  end)
end

local show = vim.lsp.handlers['window/showMessage']
vim.lsp.handlers['window/showMessage'] = function(err, params, context)
  table.insert(_G.messages, params.message)
  return show(err, params, context)
end

vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event)
    table.insert(_G.progress, { token = event.data.params.token, value = event.data.params.value })
  end,
})

-- The one client; nil before it has started and after it has ended.
_G.client = function()
  local find = vim.lsp.get_clients
  return find({ name = 'lsp_agent' })[1]
end

-- A method of the client's object, which 0.10 calls without the object.
local function method_of(name)
  local client = _G.client()
  if vim.fn.has('nvim-0.11') == 0 then
    return client[name]
  end
  return function(...)
    return client[name](client, ...)
  end
end

-- Sends a request. `_G.answers[number]` is then `{ result =, err = }`, and `lines`, the text
-- shown, if nothing has changed it since the request went out.
_G.ask = function(number, method, params)
  if next(params) == nil then
    params = vim.empty_dict()
  end
  local buffer = vim.api.nvim_get_current_buf()
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  local function answered(err, result)
    local lines
    if vim.api.nvim_buf_get_changedtick(buffer) == tick then
      lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
    end
    _G.answers[number] = { err = err, result = result, lines = lines }
  end
  method_of('request')(method, params, answered, buffer)
end

_G.notify = function(method, params)
  method_of('notify')(method, params)
end

vim.opt.hidden = true
