"""Which lines only read and have git keep what is there: in its own store, and nothing else.

``catalogue`` has git's commands that keep, ``settings`` what git's configuration may run besides,
``store`` looks at the repository; ``keeps`` is the door. Such a line runs in a sandbox that lets it
write the store alone.
"""
