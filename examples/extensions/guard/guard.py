"""Refuses commands that are hard to take back, before a person is asked about them.

A second look, not a wall: a command can do the same in many other ways.
"""

import re

from lsp_agent.ext import Block, Extension, ToolCall

extension = Extension("guard", "1.0.0")

REFUSED = {
    "it removes folders with all that is in them": r"\brm\s+(-\w*[rR]\w*|--recursive)\b",
    "it rewrites what others have already": r"\bgit\s+push\b.*\s(--force|-f)\b",
    "it throws away work that is in no commit": r"\bgit\s+(reset\s+--hard|clean\s+-\w*f)",
    "it writes onto a device": r"\bdd\b.*\bof=/dev/",
}


@extension.on_call
def judge(call: ToolCall) -> Block | None:
    command = str((call.args or {}).get("command", ""))
    for reason, pattern in REFUSED.items():
        if call.tool == "bash" and re.search(pattern, command):
            print(f"refused: {command}")  # goes to the extension's log
            extension.notify(f"refused a command: {reason}", "warn")
            return Block(f"refused by guard: {reason}; ask the person to run it")
    return None


extension.run()
