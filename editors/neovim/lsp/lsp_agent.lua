return require("lsp_agent.client").config()
