--- The backgrounds of changes, from the colours that the colour scheme has for them.

local M = {}

-- Where the scheme has only a foreground: Neovim's own, by 'background'.
---@type table<string, table<string, string>>
local OWN = {
  dark = { DiffAdd = "NvimDarkGreen", DiffDelete = "NvimDarkRed" },
  light = { DiffAdd = "NvimLightGreen", DiffDelete = "NvimLightRed" },
}

-- In terminals without true colour, which cannot mix: by 'background', the line's and the word's.
---@type table<string, table<string, integer[]>>
local TERMINAL = {
  dark = { DiffAdd = { 22, 28 }, DiffDelete = { 52, 88 } },
  light = { DiffAdd = { 194, 157 }, DiffDelete = { 224, 217 } },
}

--- So much of one colour in another.
---@param colour integer 0xRRGGBB
---@param share number
---@param other integer
---@return integer
function M.mixed(colour, share, other)
  local sum = 0
  for _, place in ipairs({ 0x10000, 0x100, 1 }) do
    local one, two = math.floor(colour / place) % 256, math.floor(other / place) % 256
    sum = sum + place * math.floor(one * share + two * (1 - share) + 0.5)
  end
  return sum
end

---@param name string
local function colours_of(name)
  local found = vim.api.nvim_get_hl(0, { name = name, link = false })
  if found.reverse then
    found.fg, found.bg = found.bg, found.fg
  end
  return found
end

--- A group's definition: the background of another group, with a share of a foreground in it.
---@param ground string
---@param accent string
---@param share number
---@return vim.api.keyset.highlight
function M.background(ground, accent, share)
  local kind = vim.o.background
  local of = colours_of(ground)
  local base = of.bg or vim.api.nvim_get_color_by_name(OWN[kind][ground])
  local strong = colours_of(accent).fg or of.fg or base
  return {
    bg = M.mixed(strong, share, base),
    ctermbg = TERMINAL[kind][ground][share > 0 and 2 or 1],
  }
end

return M
