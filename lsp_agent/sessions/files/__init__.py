"""How a session's agent reaches files and commands: through us (hosted) or by itself (mirror).

A ``Session`` owns one ``hosting.Hosting``, the door. It joins the bridge (``bridged``), what the
agent asks over it or on its wire (``asked``), and whose file tools it turned out to use
(``hosting_state``). ``hosted_tools`` answers file calls, ``mirroring`` looks at what was written
without us, ``shown_to_agent`` holds what the agent knows. How a text is changed is ``workspace/``;
whether it may be is ``permissions/``.
"""
