"""Taking turns back: out of the files, and of the conversation.

``reverts.Reverts`` is the door, one a server: it knows which turns are meant (``turns``), takes
them out of one file after another (``file``, by the pure ``parts``), and keeps in the ledger what
is out (``taken_out``). ``rewind`` takes a session back to an earlier prompt with it.
"""
