"""Every change of every agent, on disk before it is made, and the open review of each file.

``ledger.Ledger`` is the door and the one list; ``reviews.Reviews`` is fed by it. Changes no text.
"""
