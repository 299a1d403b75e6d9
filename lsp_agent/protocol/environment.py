"""What the server and an agent say to each other by the environment."""

#: The names, apart by blanks, of the variables that hold secrets; commands are not to see them.
SECRETS_VARIABLE = "LSP_AGENT_SECRETS"

#: To the embedded agent: the key that secrets are covered with in what a command says, and the
#: folders whose secrets are known, as in ``PATH``. Without it none are covered.
COVER_VARIABLE = "LSP_AGENT_COVER"

#: To the gate before a command: the pipe by which the agent's shell hears of its question.
GATE_VARIABLE = "LSP_AGENT_GATE"

#: To a background command of the embedded agent's: whose it is, so that what it leaves behind is
#: known for its own.
BACKGROUND_VARIABLE = "LSP_AGENT_BACKGROUND"
