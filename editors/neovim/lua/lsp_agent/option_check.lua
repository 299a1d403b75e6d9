--- What is wrong with options, and what is left without it: a slip in one option is to cost neither
--- the others nor what follows in an init.lua.

---@param value any
---@return string
local function shown(value)
  return type(value) == "table" and "a table" or vim.inspect(value)
end

---@param name string with those of the tables that it is in: "chat.width"
---@param value any
---@param default any
---@param choices? string[]
---@return string? problem
local function problem_with(name, value, default, choices)
  if default == nil then
    return ("no option %q"):format(name)
  elseif value == false and vim.startswith(name, "keymaps") then
    return nil
  elseif type(value) ~= type(default) then
    return ("%s is a %s, not %s"):format(name, type(default), shown(value))
  elseif choices and not vim.list_contains(choices, value) then
    return ("%s is %s, not %s"):format(name, table.concat(choices, " or "), shown(value))
  end
  local is_list = type(default) == "table" and default[1] ~= nil
  for _, each in ipairs(is_list and value or {}) do
    if type(each) ~= "string" then
      return ("%s is a list of strings, not of %s"):format(name, shown(each))
    end
  end
end

---@param options any
---@param defaults table
---@param choices table<string, string[]> by name
---@return table sound
---@return string[] problems
return function(options, defaults, choices)
  local problems = {}
  local function sound(given, default, prefix)
    local kept = {}
    for key, value in pairs(given) do
      local name = prefix .. tostring(key)
      local problem = problem_with(name, value, default[key], choices[name])
      if problem then
        table.insert(problems, problem)
      elseif type(value) == "table" and name ~= "settings" and not default[key][1] then
        kept[key] = sound(value, default[key], name .. ".")
      else
        kept[key] = value
      end
    end
    return kept
  end
  if type(options) ~= "table" then
    return {}, { ("the options are a table, not %s"):format(shown(options)) }
  end
  local kept = sound(options, defaults, "")
  table.sort(problems)
  return kept, problems
end
