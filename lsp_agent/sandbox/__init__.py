"""What a command may reach when nobody was asked about it, and who holds it there.

``hold`` is what is let through, a value; ``places`` finds it on this machine; ``bubblewrap``,
``landlock`` and ``seatbelt`` make a command line of it, ``holders`` says which of them works here.
Nothing here decides whether a command is to be held: that is ``sessions/permissions/``.
"""
