"""What agents and commands change on disk by themselves, brought together with what is open.

``mirror.Mirror`` is the door, one a connection. It never writes a file.
"""
