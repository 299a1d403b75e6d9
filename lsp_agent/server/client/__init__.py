"""The one client: what it is and can do, its habits, its settings, and what we ask of it.

``client_connection`` is the door, ``info`` what the client said of itself. What is shown of
reviews, turns and questions has rooms of its own.
"""
