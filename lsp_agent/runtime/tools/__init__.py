"""The agent's own tools, and what all tools answer with."""
