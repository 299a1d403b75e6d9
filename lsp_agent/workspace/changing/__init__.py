"""Changing files for agents and their review, wherever their text is: in the editor or on disk.

``file_host.FileHost`` is the door, one a connection: it writes each change to the ledger and has
it made. Whether a change may be is not asked here.
"""
