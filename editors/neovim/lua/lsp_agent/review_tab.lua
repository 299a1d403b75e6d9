--- A tab page for the review: the files with what is left of each, and the file itself.

local chat = require("lsp_agent.chat")
local client = require("lsp_agent.client")
local config = require("lsp_agent.config")
local review_files = require("lsp_agent.review_files")
local review_list = require("lsp_agent.review_list")
local tell = require("lsp_agent.tell")
local windows = require("lsp_agent.windows")

local M = {}

local api = vim.api

-- Changes of many files come at once.
local SETTLE_MS = 30

---@class lsp_agent.ReviewTab
---@field root string
---@field list integer the window of the files
---@field file integer the window of the file
---@field bufnr integer that of the list
---@field files lsp_agent.FileReview[] as the lines have them
---@field asks? boolean
---@field diff? { window: integer, bufnr: integer, uri: string } the text that is compared with

---@type lsp_agent.ReviewTab?
local tab

local OPTIONS = {
  number = false,
  relativenumber = false,
  signcolumn = "no",
  foldcolumn = "0",
  wrap = false,
  list = false,
  spell = false,
  cursorline = true,
  winfixwidth = true,
  winfixbuf = true,
}

---@return lsp_agent.ReviewTab?
local function open_tab()
  if tab and api.nvim_win_is_valid(tab.list) then
    return tab
  end
end

-- The file of the cursor's line, which is the list's own cursor wherever the person is.
---@param of lsp_agent.ReviewTab
---@return lsp_agent.FileReview?
local function chosen(of)
  return of.files[api.nvim_win_get_cursor(of.list)[1] - 1]
end

-- Has the list's cursor stay on its file.
---@param of lsp_agent.ReviewTab
---@param file? lsp_agent.FileReview
local function follow(of, file)
  for index, each in ipairs(of.files) do
    local moved = chosen(of) ~= each -- else nothing has, for those who listen to the cursor
    if file and each.uri == file.uri and moved then
      api.nvim_win_set_cursor(of.list, { index + 1, 0 })
    end
  end
end

-- The text that a file would have had the decision gone the other way.
---@param of lsp_agent.ReviewTab
---@param edits table[]
local function fill_diff(of, edits)
  local diff = of.diff
  if not diff or not api.nvim_buf_is_valid(diff.bufnr) then
    return
  end
  local lines = api.nvim_buf_get_lines(vim.uri_to_bufnr(diff.uri), 0, -1, true)
  edits = vim.tbl_filter(function(edit)
    return edit.uri == diff.uri
  end, edits)
  vim.bo[diff.bufnr].modifiable = true
  api.nvim_buf_set_lines(diff.bufnr, 0, -1, true, review_files.otherwise(lines, edits))
  vim.bo[diff.bufnr].modifiable = false
end

-- Asks what is left, and shows it.
---@param on_shown? fun()
local function refresh(on_shown)
  local of = open_tab()
  local to = of and client.of_root(of.root)
  if not of or not to then
    return
  end
  client.request(to, "agent/edits", { open = true }, function(result)
    if open_tab() == of then
      local before = chosen(of)
      of.files = review_list.render(of.bufnr, of.files, review_files.of(result.edits, of.root))
      follow(of, before)
      fill_diff(of, result.edits)
      if on_shown then
        on_shown()
      end
    end
  end, function() end) -- asked again at the next change
end

--- Something of an edit, or of a text that is reviewed, is not as it was.
function M.on_change()
  local of = open_tab()
  if of and not of.asks then
    of.asks = true
    vim.defer_fn(function()
      of.asks = false
      refresh()
    end, SETTLE_MS)
  end
end

-- The window of the file: a new one if the person has closed it.
---@param of lsp_agent.ReviewTab
---@return integer
local function file_window(of)
  if not api.nvim_win_is_valid(of.file) then
    local empty = api.nvim_create_buf(false, true)
    of.file = api.nvim_open_win(empty, false, { split = "right", win = of.list })
    windows.reset(of.file, OPTIONS)
  end
  return of.file
end

---@param of lsp_agent.ReviewTab
local function end_diff(of)
  if of.diff and api.nvim_win_is_valid(of.diff.window) then
    api.nvim_win_close(of.diff.window, true)
  end
  of.diff = nil
  if api.nvim_win_is_valid(of.file) then
    api.nvim_win_call(of.file, vim.cmd.diffoff)
  end
end

-- Shows a file at a row.
---@param of lsp_agent.ReviewTab
---@param uri string
---@param row integer from 0
---@param focus boolean
local function show(of, uri, row, focus)
  end_diff(of)
  local bufnr = vim.uri_to_bufnr(uri)
  local window = file_window(of)
  vim.bo[bufnr].buflisted = true
  api.nvim_win_call(window, function()
    vim.cmd.normal({ "m'", bang = true })
  end)
  api.nvim_win_set_buf(window, bufnr)
  local last = api.nvim_buf_line_count(bufnr)
  api.nvim_win_set_cursor(window, { math.min(row + 1, last), 0 })
  if focus then
    api.nvim_set_current_win(window)
  end
end

--- `window/showDocument`: a change that is gone to from the review's tab page is shown there, also
--- where another one has its file.
function M.show_document(err, params, context)
  local of = open_tab()
  local here = of and api.nvim_win_get_tabpage(of.list) == api.nvim_get_current_tabpage()
  if not of or not here or params.external or not params.selection then
    return vim.lsp.handlers["window/showDocument"](err, params, context)
  end
  show(of, params.uri, params.selection.start.line, params.takeFocus ~= false)
  return { success = true }
end

---@param of lsp_agent.ReviewTab
---@param action fun(file: lsp_agent.FileReview)
---@return fun()
local function on_file(of, action)
  return function()
    local file = chosen(of)
    if file then
      action(file)
    end
  end
end

---@param of lsp_agent.ReviewTab
---@param method "agent/keepAll"|"agent/undoAll"|"agent/applyAll"
---@param file lsp_agent.FileReview
---@param and_then? fun()
local function decide(of, method, file, and_then)
  local to = client.of_root(of.root)
  if to then
    client.request(to, method, { uri = file.uri }, function(result)
      require("lsp_agent.review").tell_failures(result)
      for bufnr in pairs(to.attached_buffers) do
        require("lsp_agent.marks").refresh(bufnr)
      end
      local next_step = and_then or refresh
      next_step()
    end)
  end
end

-- Compares a file with the text without its changes; again: no more.
---@param of lsp_agent.ReviewTab
---@param file lsp_agent.FileReview
local function compare(of, file)
  local same = of.diff and of.diff.uri == file.uri
  end_diff(of)
  if same then
    return
  end
  show(of, file.uri, file.first, false)
  local other = api.nvim_create_buf(false, true)
  vim.bo[other].bufhidden = "wipe"
  vim.bo[other].filetype = vim.bo[vim.uri_to_bufnr(file.uri)].filetype
  local window = api.nvim_open_win(other, false, { split = "left", win = of.file })
  windows.reset(window, OPTIONS)
  of.diff = { window = window, bufnr = other, uri = file.uri }
  refresh(function()
    for _, each in ipairs({ window, of.file }) do
      if api.nvim_win_is_valid(each) then
        api.nvim_win_call(each, vim.cmd.diffthis)
      end
    end
  end)
end

---@param of lsp_agent.ReviewTab
local function close(of)
  if #api.nvim_list_tabpages() > 1 then
    vim.cmd.tabclose(api.nvim_tabpage_get_number(api.nvim_win_get_tabpage(of.list)))
  elseif #api.nvim_tabpage_list_wins(0) > 1 then
    api.nvim_win_close(of.list, true)
  end
end

-- The keys of the list, as its help shows them.
---@param of lsp_agent.ReviewTab
---@return [string, string, fun()][]
local function keys_of(of)
  local keymaps = config.options.keymaps or {}
  local function go(previous)
    return function()
      api.nvim_set_current_win(file_window(of))
      require("lsp_agent.review").go({ previous = previous })
    end
  end
  local keys = {
    {
      "<CR>",
      "open the file at its first change",
      on_file(of, function(file)
        show(of, file.uri, file.first, true)
      end),
    },
    {
      "o",
      "the same, and stay in the list",
      on_file(of, function(file)
        show(of, file.uri, file.first, false)
      end),
    },
    {
      "d",
      "compare with the text without the changes; again: no more",
      on_file(of, function(file)
        compare(of, file)
      end),
    },
    {
      "K",
      "keep the file's changes, apply its proposals",
      on_file(of, function(file)
        decide(of, "agent/applyAll", file, function()
          decide(of, "agent/keepAll", file)
        end)
      end),
    },
    {
      "U",
      "undo the file's changes, drop its proposals",
      on_file(of, function(file)
        decide(of, "agent/undoAll", file)
      end),
    },
    { keymaps.next or "]v", "the next change", go(false) },
    { keymaps.prev or "[v", "the one before", go(true) },
    {
      "S",
      "send the comments",
      function()
        require("lsp_agent.comments").send()
      end,
    },
    {
      "q",
      "close the review",
      function()
        close(of)
      end,
    },
  }
  table.insert(keys, {
    "g?",
    "this help",
    function()
      local lines = vim.tbl_map(function(key)
        return ("%-5s %s"):format(key[1], key[2])
      end, keys)
      local options = { focus_id = "lsp_agent_review" }
      local _, window = vim.lsp.util.open_floating_preview(lines, "", options)
      vim.wo[window].linebreak = true -- as narrow as the list, in Neovim 0.10
    end,
  })
  return keys
end

---@return integer bufnr
local function list_buffer()
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].modifiable = false
  api.nvim_buf_set_name(bufnr, ("lsp-agent://review/%d"):format(bufnr))
  return bufnr
end

--- Opens the tab page, or goes to it, for the project that is worked in here.
function M.open()
  local root = chat.root()
  local to = root and client.of_root(root)
  if not root or not to then
    tell("no server runs for this buffer (:Agent restart)", vim.log.levels.WARN)
    return
  end
  local there = open_tab()
  if there and there.root == root then
    api.nvim_set_current_win(there.list)
    refresh()
    return
  elseif there then
    close(there)
  end
  local beside = windows.of_files()[1]
  if beside then
    api.nvim_set_current_win(beside)
  end
  vim.cmd("tab split")
  local file, bufnr = api.nvim_get_current_win(), list_buffer()
  local width = math.min(math.max(math.floor(vim.o.columns * 0.3), 16), 40)
  local list = api.nvim_open_win(bufnr, true, { split = "left", win = file, width = width })
  windows.set(list, OPTIONS)
  local of = { root = root, list = list, file = file, bufnr = bufnr, files = {} }
  tab = of
  for _, key in ipairs(keys_of(of)) do
    vim.keymap.set(
      "n",
      key[1],
      key[3],
      { buffer = bufnr, nowait = true, desc = "agent: " .. key[2] }
    )
  end
  refresh(function()
    local first = of.files[1]
    if first then
      api.nvim_win_set_cursor(list, { 2, 0 })
      show(of, first.uri, first.first, false)
    end
  end)
end

return M
