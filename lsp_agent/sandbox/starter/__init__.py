"""What starts a command under Landlock and seccomp, and stays to see it end.

``main`` is started with ``python -I -S`` for each command, so that each import is waited for:
nothing but C modules, ``os`` and ``ctypes``. ``reach`` says which folders may be read and written,
``kernel`` tells that to the kernel, ``syscalls`` is the filter of system calls that Landlock has no
word for, ``attributes`` decides on the calls among them that depend on a path, and ``temporary``
has the command's own folder.
"""
