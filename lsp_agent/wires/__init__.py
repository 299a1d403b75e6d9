"""One translation an agent wire: frames to canonical events, commands to frames; pure."""
