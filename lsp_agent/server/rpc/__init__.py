"""JSON-RPC over stdio or a port: bytes, frames, dispatch, errors, what waits to be written.

``dispatcher`` is the door. Knows no method of ours and no editor.
"""
