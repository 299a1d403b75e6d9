"""What the editor shows: open documents and their texts, as the client told them.

``documents.Documents`` is the door, one a connection. ``editor.Editor`` is what we ask of the
client. Nothing is changed here.
"""
