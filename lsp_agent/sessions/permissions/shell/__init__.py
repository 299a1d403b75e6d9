"""Command lines as a shell reads them; pure, and nothing is run.

``reader`` makes of a line what is ``written``, ``word_reader`` its words, ``parse`` the ``line`` of
commands that a shell then runs, and ``flow`` knows the folders that these may run in. What a
variable, an alias or a folder's content decides is not known here, and what is not known is said.
"""
