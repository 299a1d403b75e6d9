--- Buffers of the chat's, each with a name of its own.

local api = vim.api

-- A session of Neovim's that was saved with the chat open brings back an empty buffer of that name.
---@param name string
local function make_way(name)
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_get_name(bufnr) == name then
      api.nvim_buf_delete(bufnr, { force = true })
    end
  end
end

--- Makes one; what else has the name goes, and its windows.
---@param name string
---@param filetype string
---@return integer
return function(name, filetype)
  make_way(name)
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(bufnr, name)
  vim.bo[bufnr].bufhidden = "hide"
  vim.bo[bufnr].filetype = filetype
  return bufnr
end
