--- The lines of a text that the server sent.

---@param text string
---@return string[] lines without their ends
return function(text)
  local lines = vim.split(text, "\r?\n")
  if lines[#lines] == "" then
    table.remove(lines)
  end
  return lines
end
