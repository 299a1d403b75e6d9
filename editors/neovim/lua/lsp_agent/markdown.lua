--- Colours a buffer as Markdown.

-- So many lines are coloured by tree-sitter in a Neovim that parses as it draws, which is before
-- 0.11: with more of them each word that comes would keep it waiting for longer.
local PARSED = 2000

---@param bufnr integer
return function(bufnr)
  if not pcall(vim.treesitter.start, bufnr, "markdown") then
    vim.bo[bufnr].syntax = "markdown"
  elseif vim.fn.has("nvim-0.11") == 0 then
    vim.api.nvim_buf_attach(bufnr, false, {
      on_lines = function()
        if vim.api.nvim_buf_line_count(bufnr) <= PARSED then
          return false
        end
        vim.schedule(function()
          if vim.api.nvim_buf_is_loaded(bufnr) then
            vim.treesitter.stop(bufnr)
            vim.bo[bufnr].syntax = "markdown"
          end
        end)
        return true -- No more of these.
      end,
    })
  end
end
