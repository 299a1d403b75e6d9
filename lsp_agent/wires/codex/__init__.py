"""Codex's own protocol, ``codex app-server``. ``wire`` is the door."""
