"""Processes and local sockets, as far as systems differ in them.

``system.this_system()`` is the door, a module a system behind it. Owned by nobody, without state.
What runs beside an agent (``agents/guard``) stands alone: it is started without our packages.
"""
