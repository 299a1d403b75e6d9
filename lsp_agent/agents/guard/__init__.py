"""Stand-alone scripts that run beside an agent, started with ``python -I -S``.

They use the standard library alone, and little of it, since each start is waited for.
"""
