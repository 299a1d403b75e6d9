"""What starts a command under Landlock and seccomp, and stays to see it end.

``main`` is started with ``python -I -S`` for each command, so that each import is waited for:
nothing but C modules, ``posix`` in place of ``os`` and ``_ctypes`` of ``ctypes`` (together 3 ms of
the 15 that a hold may add), and what few commands need only once they do. ``reach`` says which
folders may be read and written, ``kernel`` tells that to the kernel, ``syscalls`` is the filter of
system calls that Landlock has no word for, ``attributes`` decides on the calls among them that
depend on a path, and ``temporary`` has the command's own folder.
"""
