"""The LSP face: the only place that imports pygls or lsprotocol."""
