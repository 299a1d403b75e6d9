"""The agent of one session: chosen, started, set, kept and ended.

A ``Session`` owns one ``keeper.AgentKeeper``, the door; ``launcher`` starts what it keeps,
``link`` is the running process with its wire and bridge. What the agent may touch is decided in
``files/`` and ``permissions/``.
"""
