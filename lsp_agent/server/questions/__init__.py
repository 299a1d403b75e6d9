"""How a question reaches the person, and which answers count as meant.

``ask_person`` is the door. What is asked, and what an answer does, is ``sessions/``.
"""
