"""Taking turns back: out of the files, and of the conversation.

``reverts.Reverts`` is the door, one a server; ``parts`` is its pure core. ``rewind`` takes a
session back to an earlier prompt with it.
"""
