--- One of several things, chosen with |vim.ui.select()|.

---@class lsp_agent.Pick
---@field prompt string
---@field kind string
---@field title? fun(item: any): string
---@field none? string what is said where there is nothing to choose

---@generic T
---@param items T[]
---@param options lsp_agent.Pick
---@param on_choice fun(item: T) not called where nothing is chosen
return function(items, options, on_choice)
  if #items == 0 and options.none then
    require("lsp_agent.tell")(options.none)
    return
  end
  vim.ui.select(items, {
    prompt = options.prompt,
    kind = options.kind,
    format_item = options.title,
  }, function(item)
    if item then
      on_choice(item)
    end
  end)
end
