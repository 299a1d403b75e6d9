"""The embedded agent: a process of its own that speaks zot's rpc protocol on stdio.

    rpc          commands, the queue, authentication    turn         one prompt to its ``done``
    pipes        stdin and stdout                       transcript   messages and usage
    extensions   other processes with tools and vetoes  processes    commands and all they start
    tools/       read, write, edit, bash                providers/   where answers come from

The server reaches it only as a subprocess, as it reaches any other agent.
"""
