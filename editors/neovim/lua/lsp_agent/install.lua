--- `:Agent install`: brings the server by what is here for that, else into a venv of its own.

local config = require("lsp_agent.config")
local tell = require("lsp_agent.tell")

local M = {}

local PACKAGE = "lsp-agent"

-- Each way: its title, and the command lines that it is.
---@return string, string[][]
local function way()
  if vim.fn.executable("uv") == 1 then
    return "uv", { { "uv", "tool", "install", "--upgrade", PACKAGE } }
  elseif vim.fn.executable("pipx") == 1 then
    return "pipx", { { "pipx", "install", "--force", PACKAGE } }
  end
  local venv = config.own_venv()
  return "a venv of its own",
    {
      { "python3", "-m", "venv", venv },
      { venv .. "/bin/python", "-m", "pip", "install", "--quiet", "--upgrade", PACKAGE },
    }
end

---@param commands string[][]
---@param done fun(why?: string) what went wrong, if anything
local function run(commands, done)
  local first = table.remove(commands, 1)
  if not first then
    done()
    return
  end
  local ok, why = pcall(
    vim.system,
    first,
    { text = true },
    vim.schedule_wrap(function(ended)
      if ended.code == 0 then
        run(commands, done)
      else
        local lines = vim.split(vim.trim(ended.stderr), "\n")
        done(("%s: %s"):format(table.concat(first, " "), lines[#lines]))
      end
    end)
  )
  if not ok then
    done(tostring(why))
  end
end

--- Installs the server, or brings it up to date, and starts it.
function M.run()
  local title, commands = way()
  tell(("installing the server by %s …"):format(title))
  run(commands, function(why)
    if why then
      tell(why, vim.log.levels.ERROR)
    elseif vim.fn.executable(config.cmd()[1]) ~= 1 then
      tell("installed, but not found: add ~/.local/bin to your PATH", vim.log.levels.ERROR)
    else
      tell("the server is installed; :Agent connect chooses an agent")
      local client = require("lsp_agent.client")
      local is_update = client.all()[1] ~= nil
      require("lsp_agent").setup(config.given)
      if is_update then
        client.restart()
      else -- what has just been started is not to be ended again
        client.attach_all()
      end
    end
  end)
end

return M
