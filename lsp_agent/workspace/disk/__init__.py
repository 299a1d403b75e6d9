"""What is on disk: confined paths, files read and written whole, and what changed since a look.

``paths.confine`` is the door: only it makes a ``SafePath``. Blocking; called in threads. Knows no
document.
"""
