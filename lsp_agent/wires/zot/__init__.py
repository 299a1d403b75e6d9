"""zot's rpc wire, spoken by the embedded agent as well. ``wire`` is the door."""
