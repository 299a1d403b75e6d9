"""The conversation as a document: Markdown whose last section is the prompt.

``conversations`` is the door and owns which document goes on with which session; ``grammar`` (what
the text is) and ``words`` (what a turn reads like) are pure. What a document claims is text: only
a person's Send, in ``methods/chat.py``, makes a prompt of it.
"""
