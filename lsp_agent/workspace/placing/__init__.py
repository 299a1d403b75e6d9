"""The edit rule: one edit into one open document, proved by the document's own states.

``placement`` is the door, ``flight`` its pure part; ``not_made`` says why an edit was not made.
Knows no agent, ledger or review.
"""
