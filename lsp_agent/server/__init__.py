"""The LSP face: the only place that imports pygls or lsprotocol.

``app`` joins one client to the sessions. The rooms, each above those before it: ``rpc/`` (bytes,
frames, dispatch), ``client/`` (what the client is and is asked), ``review/`` and ``turns/`` (what
it is shown), ``questions/`` (what a person is asked), ``methods/`` (what it may ask of us).

This package imports nothing by itself, so that ``rpc.startup`` and ``client.welcome`` can come
before the rest.
"""
