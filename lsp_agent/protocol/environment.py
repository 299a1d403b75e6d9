"""What the server says to an agent by its environment."""

#: The names, apart by blanks, of the variables that hold secrets; commands are not to see them.
SECRETS_VARIABLE = "LSP_AGENT_SECRETS"
