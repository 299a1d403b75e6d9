"""What a person decides on the agents' edits, and the edits as clients see them.

``edits.Edits`` is the door. The hunks themselves are found in ``text/review.py`` and held by
``ledger/reviews.py``.
"""
