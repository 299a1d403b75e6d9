--- `:checkhealth lsp_agent`

local client = require("lsp_agent.client")
local config = require("lsp_agent.config")

local M = {}

local health = vim.health

-- `lsp-agent doctor` tries the agent out.
local DOCTOR_MS = 60000

-- The program of `cmd` with other arguments.
---@param ... string
---@return vim.SystemCompleted?
local function run(...)
  local cmd = config.cmd()
  local command = vim.list_slice(cmd, 1, math.max(vim.fn.index(cmd, "serve"), 1))
  local running = client.all()[1]
  local options = { text = true, timeout = DOCTOR_MS, cwd = running and client.root_of(running) }
  local ok, process = pcall(vim.system, vim.list_extend(command, { ... }), options)
  return ok and process:wait() or nil
end

local function check_neovim()
  health.start("lsp_agent: Neovim")
  if vim.fn.has("nvim-0.10") == 1 then
    ---@diagnostic disable-next-line: call-non-callable
    health.ok(tostring(vim.version())) -- which can be called, say Neovim's annotations or not
  else
    health.error("Neovim 0.10 or newer is needed")
  end
  if not pcall(require, "vim.lsp._changetracking") then
    health.error("This Neovim's LSP client cannot be made to send pending changes", {
      "Please report it, with the version.",
    })
  end
end

local function check_options()
  if config.problems[1] then
    health.start("lsp_agent: options")
  end
  for _, problem in ipairs(config.problems) do
    health.error(problem, { "It has its default; see `:help lsp_agent-options`." })
  end
end

---@return boolean
local function check_server()
  health.start("lsp_agent: the server")
  local cmd = config.cmd()
  local done = run("--version")
  if not done or done.code ~= 0 then
    health.error(("%s cannot be run"):format(cmd[1]), {
      "`:Agent install` brings it, by uv, pipx or a venv of its own;",
      'or say where it is: require("lsp_agent").setup({ cmd = { "/path/to/lsp-agent", "serve" } })',
    })
    return false
  end
  health.ok(("%s: %s"):format(vim.fn.exepath(cmd[1]), vim.trim(done.stdout or "")))
  return true
end

-- How the findings of `lsp-agent doctor` are told.
---@type table<string, fun(message: string, remedy?: string[])>
local tell = { ok = health.ok, note = health.info, warning = health.warn, failure = health.error }

-- What it says of the agent that its files choose.
local OF_CHOSEN = { agent = true, hosting = true, credentials = true, package = true, start = true }

local function check_agent()
  health.start("lsp_agent: the agent (`lsp-agent doctor`)")
  local done = run("doctor", "--json")
  local ok, report = pcall(vim.json.decode, done and done.stdout or "")
  if not ok then
    health.error(
      "`lsp-agent doctor` ended without a report",
      { vim.trim(done and done.stderr or "") }
    )
    return
  end
  local settings = config.options.settings
  local chosen_here = settings.agent ~= nil or settings.agents ~= nil
  for _, finding in ipairs(report.checks) do
    if not (chosen_here and OF_CHOSEN[finding.check]) then
      local remedy = finding.remedy ~= vim.NIL and { finding.remedy } or nil
      if remedy and OF_CHOSEN[finding.check] then
        table.insert(
          remedy,
          1,
          "`:Agent connect` offers the agents that are here, and takes a key;"
        )
      end
      tell[finding.status](finding.message, remedy)
    end
  end
  if chosen_here then
    health.info(
      "Your setup({ settings = … }) chooses the agent, which `lsp-agent doctor` does not see: "
        .. "put it into its config.toml to have it tried here, or ask it something."
    )
  end
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
  check_options()
  if check_server() then
    check_clients()
    check_agent()
  end
  check_keymaps()
end

return M
