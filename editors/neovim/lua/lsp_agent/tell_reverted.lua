--- Says what became of the files that a revert is about.

local tell = require("lsp_agent.tell")

---@param result table
return function(result)
  local counts, conflicts = {}, {}
  for _, file in ipairs(result.files) do
    counts[file.outcome] = (counts[file.outcome] or 0) + 1
    if file.outcome == "conflict" then
      table.insert(conflicts, vim.fs.basename(vim.uri_to_fname(file.uri)))
    end
  end
  local parts = {}
  for outcome, count in vim.spairs(counts) do
    table.insert(parts, ("%d %s"):format(count, outcome))
  end
  local text = #parts > 0 and "taken back: " .. table.concat(parts, ", ") or "nothing to take back"
  if #conflicts > 0 then
    tell(text .. ": " .. table.concat(conflicts, ", "), vim.log.levels.WARN)
  else
    tell(text)
  end
end
