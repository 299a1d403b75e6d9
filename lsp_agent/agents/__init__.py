"""An agent's subprocess: launch, guard, framing, limits, the bridge's socket and gate."""
