"""What read, write, edit and bash are, for every agent; pure.

Owned by nobody: values and functions. ``calls`` is the door, what an agent may ask of us and what
it is answered; the rest reads arguments and words results. Nothing here knows a wire, a session
or a file on disk.
"""
