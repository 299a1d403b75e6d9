--- A place in a buffer as the protocol has it.

---@param bufnr integer
---@param row integer from 0
---@param column integer bytes
---@param encoding string
---@return lsp.Position
return function(bufnr, row, column, encoding)
  local character = column
  if encoding ~= "utf-8" then
    local line = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
    -- Without an encoding, as 0.10 has it.
    ---@diagnostic disable-next-line: param-type-mismatch
    local utf32, utf16 = vim.str_utfindex(line, math.min(column, #line))
    character = encoding == "utf-16" and utf16 or utf32 --[[@as integer]]
  end
  return { line = row, character = character }
end
