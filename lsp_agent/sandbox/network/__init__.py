"""The way from a sandbox to the hosts that the person named, and to none beside them.

A held command has no network. Whatever starts it makes a listening socket where the command can
reach it and hands that over at the ``door``; the ``proxy`` then serves it in the server's process.
``hosts`` says who may be reached, ``requests`` reads what is asked; both are pure.
"""
