"""The Agent Client Protocol, for all agents that speak it. ``wire`` is the door."""
