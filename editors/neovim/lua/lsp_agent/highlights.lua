--- Highlight groups, by what they are linked to unless you or your colours say otherwise; or by
--- whose background they have, with so much of another group's foreground in it: the syntax's
--- colours are to be read on them.

return {
  LspAgentNew = { "DiffAdd", "a line that the agent has written, or proposes", { "Added", 0 } },
  LspAgentNewWord = { "DiffAdd", "what differs in such a line", { "Added", 0.3 } },
  LspAgentOld = { "DiffDelete", "a line that the agent has replaced, or would", { "Removed", 0 } },
  LspAgentOldWord = { "DiffDelete", "what differs in such a line", { "Removed", 0.3 } },
  LspAgentChange = { "Added", "the sign of a change" },
  LspAgentProposal = { "Changed", "the sign of a proposal" },
  LspAgentYou = { "Title", "your part of the conversation" },
  LspAgentAgent = { "Title", "the agent's part" },
  LspAgentTool = { "Function", "a tool call" },
  LspAgentState = { "Comment", "what stands beside something: states, hints" },
  LspAgentDone = { "Added", "a tool call that went well" },
  LspAgentFailed = { "ErrorMsg", "what failed" },
  LspAgentContext = { "Visual", "lines that go along with the next prompt" },
  LspAgentComment = { "DiagnosticInfo", "what you say of a change" },
  LspAgentQuestion = { "WarningMsg", "a question" },
}
