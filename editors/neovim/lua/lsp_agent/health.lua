--- `:checkhealth lsp_agent`

local client = require("lsp_agent.client")
local config = require("lsp_agent.config")

local M = {}

local health = vim.health

---@param command string[]
---@return vim.SystemCompleted?
local function run(command)
  local ok, process = pcall(vim.system, command, { text = true, timeout = 20000 })
  return ok and process:wait() or nil
end

local function check_neovim()
  health.start("lsp_agent: Neovim")
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok(tostring(vim.version()))
  else
    health.error("Neovim 0.10 or newer is needed")
  end
  if not pcall(require, "vim.lsp._changetracking") then
    health.error("This Neovim's LSP client cannot be made to send pending changes", {
      "Please report it, with the version.",
    })
  end
end

---@return boolean
local function check_server()
  health.start("lsp_agent: the server")
  local cmd = config.options.cmd
  local done = run({ cmd[1], "--version" })
  if not done or done.code ~= 0 then
    health.error(("%s cannot be run"):format(cmd[1]), {
      "Install it with `pip install lsp-agent`, where your PATH leads to,",
      'or say where it is: require("lsp_agent").setup({ cmd = { "/path/to/lsp-agent", "serve" } })',
    })
    return false
  end
  health.ok(("%s: %s"):format(vim.fn.exepath(cmd[1]), vim.trim(done.stdout)))
  health.info(("Whether your agent can run: `%s doctor`"):format(cmd[1]))
  return true
end

local function check_clients()
  health.start("lsp_agent: buffers")
  local clients = client.all()
  if not client.enabled() then
    health.warn("The plugin is not turned on", {
      'Call require("lsp_agent").setup(), or vim.lsp.enable("lsp_agent") on Neovim 0.11 or newer.',
    })
  elseif #clients == 0 then
    health.info("No server runs: none is started before a file is opened.")
  end
  for _, each in ipairs(clients) do
    local served = vim.tbl_get(each.server_capabilities, "experimental", "agent", "version")
    local count = #vim.tbl_keys(each.attached_buffers)
    local text = ("%s: %d %s"):format(
      client.root_of(each),
      count,
      count == 1 and "buffer" or "buffers"
    )
    if served == 1 then
      health.ok(text)
    else
      health.error(text .. ", but this plugin does not fit the server's version")
    end
  end
end

local function check_keymaps()
  local keymaps = config.options.keymaps
  if not keymaps then
    return
  end
  health.start("lsp_agent: keys")
  for name, keys in vim.spairs(keymaps) do
    local global = keys and vim.fn.maparg(keys, "n", false, true) or {}
    if keys and next(global) and global.buffer == 0 and not global.desc then
      health.warn(("%s (%s) hides a mapping of yours in buffers of files"):format(keys, name))
    elseif keys then
      health.ok(("%s %s"):format(keys, name))
    end
  end
end

function M.check()
  check_neovim()
  if check_server() then
    check_clients()
  end
  check_keymaps()
end

return M
