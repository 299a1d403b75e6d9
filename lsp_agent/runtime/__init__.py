"""The embedded agent; reached only as a subprocess, like any other agent."""
