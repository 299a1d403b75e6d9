--- Messages of one line: a longer one would ask for Enter, and take a key that is being typed.

---@param text string
---@param level? integer of |vim.log.levels|
return function(text, level)
  text = ("agent: " .. text):gsub("%s+", " ")
  local room = math.max(vim.v.echospace, 10)
  if vim.fn.strdisplaywidth(text) > room then
    text = vim.fn.strcharpart(text, 0, room - 1) .. "…"
  end
  vim.notify(text, level or vim.log.levels.INFO)
end
