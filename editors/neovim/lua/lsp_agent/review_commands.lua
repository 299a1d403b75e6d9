--- The sub-commands that are about the agent's changes, and about lines in place.

---@return string[]
local function everywhere()
  return { "all" }
end

---@param method "agent/keepAll"|"agent/undoAll"|"agent/applyAll"
local function decide_all(method)
  return function(argument)
    require("lsp_agent.review").decide_all(method, argument == "all")
  end
end

---@param verb "keep"|"undo"
---@param wanted? "proposed"|"applied"
local function decide(verb, wanted)
  return function(_, options)
    local range = options.range > 0 and { options.line1, options.line2 } or nil
    require("lsp_agent.review").decide(verb, range, wanted)
  end
end

-- What `:Agent comment` does where its argument is one of these and no more.
local comment_actions = { "send", "list", "remove", "clear" }

---@param argument string
---@param options vim.api.keyset.create_user_command.command_args
local function comment(argument, options)
  local comments = require("lsp_agent.comments")
  local act = vim.list_contains(comment_actions, argument) and comments[argument]
  if act then
    act()
  else
    comments.write(argument, options)
  end
end

---@type lsp_agent.Command[]
return {
  {
    name = "inline",
    argument = "[prompt]",
    summary = "Asks for a change of the lines of the range, or the cursor's, in place; see "
      .. "|lsp_agent-inline|.",
    run = function(argument, options)
      require("lsp_agent.inline").open(argument, options)
    end,
    alone = true,
  },
  {
    name = "again",
    summary = "Undoes what is left of the answer under the cursor and asks the same again.",
    run = function()
      require("lsp_agent.inline").again()
    end,
  },
  {
    name = "next",
    summary = "Goes to the next open change, in this file and then in others.",
    run = function()
      require("lsp_agent.review").go()
    end,
  },
  {
    name = "prev",
    summary = "Goes to the open change before.",
    run = function()
      require("lsp_agent.review").go({ previous = true })
    end,
  },
  {
    name = "keep",
    summary = "Keeps the change under the cursor, or those in a range of lines.",
    run = decide("keep", "applied"),
  },
  {
    name = "undo",
    summary = "Undoes the change under the cursor, or those in a range of lines. What you typed "
      .. "around it stays.",
    run = decide("undo", "applied"),
  },
  {
    name = "apply",
    summary = "Applies the proposal under the cursor, or those in a range of lines.",
    run = decide("keep", "proposed"),
  },
  {
    name = "reject",
    summary = "Drops the proposal under the cursor, or those in a range of lines.",
    run = decide("undo", "proposed"),
  },
  {
    name = "keep_all",
    argument = "[all]",
    summary = "Keeps the changes of this file; with `all` of every file.",
    run = decide_all("agent/keepAll"),
    complete = everywhere,
  },
  {
    name = "undo_all",
    argument = "[all]",
    summary = "Undoes the changes of this file and drops its proposals; with `all` of every file.",
    run = decide_all("agent/undoAll"),
    complete = everywhere,
  },
  {
    name = "apply_all",
    argument = "[all]",
    summary = "Applies the proposals of this file; with `all` of every file.",
    run = decide_all("agent/applyAll"),
    complete = everywhere,
  },
  {
    name = "preview",
    summary = "Shows the edit under the cursor as a unified diff, in a floating window.",
    run = function()
      require("lsp_agent.review").preview()
    end,
  },
  {
    name = "diff",
    summary = "Shows the edit under the cursor as two texts in 'diff' mode, in a tab page.",
    run = function()
      require("lsp_agent.review").diff()
    end,
  },
  {
    name = "comment",
    argument = "[text]",
    summary = "Comments on the change under the cursor, or on the lines of the range or the "
      .. "cursor's; without a text you write it below them. See |lsp_agent-comments|.",
    run = comment,
    complete = function()
      return comment_actions
    end,
  },
  {
    name = "review",
    summary = "Opens a tab page for the review: the files with what is left of each, and the file. "
      .. "`g?` in the list shows its keys.",
    run = function()
      require("lsp_agent.review_tab").open()
    end,
  },
  {
    name = "fix",
    summary = "Asks the agent to fix what the language servers report in the lines of the range, or "
      .. "the cursor's; which problem, where they are several.",
    run = function(_, options)
      require("lsp_agent.fix")(options.line1, options.line2)
    end,
  },
}
