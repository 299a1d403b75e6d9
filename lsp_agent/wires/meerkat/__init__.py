"""Meerkat's JSON-RPC wire. ``wire`` is the door."""
