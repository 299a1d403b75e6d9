--- Highlight groups, by what they are linked to unless you or your colours say otherwise.

return {
  LspAgentNew = { "DiffAdd", "a line that the agent has written, or proposes" },
  LspAgentOld = { "DiffDelete", "a line that the agent has replaced, or would" },
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
