--- Where an extmark that spans text is.

---@param bufnr integer
---@param namespace integer
---@param id integer
---@return [integer, integer]? first row and column in bytes, from 0; nil where the mark is no more
---@return [integer, integer]? last exclusive
return function(bufnr, namespace, id)
  local at = vim.api.nvim_buf_get_extmark_by_id(bufnr, namespace, id, { details = true })
  local row, column, details = at[1], at[2], at[3]
  if row and details then
    return { row, column }, { details.end_row or row, details.end_col or column }
  end
end
