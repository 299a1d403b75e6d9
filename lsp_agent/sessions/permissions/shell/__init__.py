"""Command lines as a shell reads them; pure, and nothing is run.

``line`` is what a line consists of, ``parse`` makes it by tree-sitter's grammar of bash, and
``flow`` knows the folders that its parts may run in. A grammar is no shell: what a variable, an
alias or a folder's content decides is not known here, and what is not known is said.
"""
