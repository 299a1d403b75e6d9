"""What read, write, edit and bash are, for every agent; pure, but for ``known_secrets``.

Owned by nobody: values and functions. ``calls`` is the door, what an agent may ask of us and what
it is answered; the rest reads arguments and words results. Nothing here knows a wire or a session,
and ``known_secrets`` alone reads files, a workspace's ``.env``.
"""
