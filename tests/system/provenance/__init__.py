"""Storms whose oracle knows of every word who put it there. Imports nothing of lsp_agent."""
