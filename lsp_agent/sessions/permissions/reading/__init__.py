"""Which commands only read, and only what the agent may read in any case.

``catalogue`` has the programs with their options, ``options`` takes words apart by it, ``git``,
``find`` and ``builtins`` are what has a grammar of its own; ``reads`` is the door. What is not in
the tables is not known to only read.
"""
