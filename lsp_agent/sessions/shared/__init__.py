"""What all sessions of a server share, and the values that pass between them.

``services.Services`` is the door, one a server. Of a session nothing here knows
more than its ``session_view``.
"""
