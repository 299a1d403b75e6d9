-- A person's hands at files in Neovim, and every text that each was, for the oracle of provenance.
local api = vim.api
local person = { shown = {}, buffers = {} }

local function text_of(buffer)
  local lines = api.nvim_buf_get_lines(buffer, 0, -1, true)
  return table.concat(lines, "\n") .. (vim.bo[buffer].eol and "\n" or "")
end

-- What changes of one turn of the main loop have come to.
local function note(path)
  local buffer = person.buffers[path]
  if buffer and person.pending == path then
    person.pending = nil
    table.insert(person.shown[path], { text_of(buffer), vim.bo[buffer].modified })
  end
end

function person.open(path)
  vim.cmd("silent edit " .. vim.fn.fnameescape(path))
  local buffer = api.nvim_get_current_buf()
  person.buffers[path] = buffer
  person.shown[path] = { { text_of(buffer), false } }
  local function changed()
    if person.pending and person.pending ~= path then
      note(person.pending)
    end
    person.pending = path
    vim.schedule(function()
      note(path)
    end)
  end
  api.nvim_buf_attach(buffer, false, {
    on_lines = changed,
    on_reload = changed,
    on_detach = function()
      if person.buffers[path] == buffer then
        person.buffers[path] = nil
      end
    end,
  })
end

function person.is_attached(path)
  local client = _G.client()
  return client ~= nil and vim.lsp.buf_is_attached(person.buffers[path], client.id)
end

function person.close(path)
  vim.cmd("silent bdelete! " .. person.buffers[path])
end

-- Goes to a file, which may read it again. Whether its text is what the person has seen.
local function goes_to(path, before)
  local buffer = person.buffers[path]
  api.nvim_win_set_buf(0, buffer)
  return text_of(buffer) == before
end

-- Keys in Normal mode. Typed ones end the step of undo that was before them, `:normal` alone does
-- not.
local function press(keys)
  vim.bo.undolevels = vim.bo.undolevels
  vim.cmd("silent! normal! " .. keys)
end

-- Takes out so many characters behind the place, row and column in bytes from 0, and types there.
function person.change(path, before, row, column, gone, typed)
  if not goes_to(path, before) then
    return false
  end
  local line = api.nvim_buf_get_lines(0, row, row + 1, true)[1]
  api.nvim_win_set_cursor(0, { row + 1, column })
  if gone > 0 then
    press(gone .. (typed == "" and "dl" or "s") .. typed)
  else
    press((column >= #line and "A" or "i") .. typed)
  end
  return true
end

function person.undo(path, before, keys)
  if not goes_to(path, before) then
    return false
  end
  press(vim.keycode(keys))
  return true
end

function person.save(path)
  api.nvim_buf_call(person.buffers[path], function()
    vim.cmd("silent write!")
  end)
  return not vim.bo[person.buffers[path]].modified
end

function person.reload(path)
  vim.cmd("silent checktime " .. person.buffers[path])
end

function person.take(path)
  note(path)
  local shown = person.shown[path]
  person.shown[path] = {}
  return shown
end

function person.is_dirty(path)
  return vim.bo[person.buffers[path]].modified
end

function person.flush()
  local client = _G.client()
  for buffer in pairs(client and client.attached_buffers or {}) do
    require("lsp_agent.client").flush(client, buffer)
  end
end

-- A person who types lines as they are to be, and who goes on with the own text where a file was
-- written by others meanwhile: what Neovim asks is answered with "OK".
vim.o.autoindent = false
api.nvim_create_autocmd("FileChangedShell", {
  callback = function()
    vim.v.fcs_choice = ""
  end,
})
_G.person = person
