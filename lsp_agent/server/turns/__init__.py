"""What a client sees of a turn: events, progress, notices, the last answer.

``events`` and ``turn_display`` are the doors. Nothing is kept here but what waits for the client.
"""
