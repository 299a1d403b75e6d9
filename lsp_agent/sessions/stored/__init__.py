"""What outlives a server of its sessions: their folders, transcripts, and both in words.

``store.SessionStore`` is the door, one a workspace, locked by who has a session open. It is fed
by ``sessions/recorder.py`` and decides nothing itself.
"""
