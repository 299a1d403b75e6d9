"""Extensions for tests, written to a folder each."""

import json
import sys
from pathlib import Path
from typing import Any

#: Logs every frame that it gets to frames.jsonl; ``react(frame)`` yields what it answers.
EXTENSION = """
import json, os, sys, time
def say(**frame):
    print(json.dumps(frame), flush=True)
log = open("frames.jsonl", "a")
say(type="hello", name="helper", version="1", {hello})
{greeting}
say(type="ready")
for line in sys.stdin:
    log.write(line); log.flush()
    frame = json.loads(line)
    kind, number = frame["type"], frame.get("id")
    if kind == "shutdown":
        say(type="shutdown_ack")
        break
{reaction}
"""
FILE_TOOLS = (
    'for tool in ("read", "write", "edit"):\n'
    '    say(type="register_tool", name=tool, description="d", schema={"type": "object"})'
)
ECHO = (
    'if kind == "tool_call":\n'
    "    text = f\"[editor] {frame['name']} {json.dumps(frame['args'])}\"\n"
    '    say(type="tool_result", id=number, content=[{"type": "text", "text": text}])'
)
ALLOW = 'if kind == "event_intercept":\n    say(type="event_intercept_response", id=number)'


def make_extension(
    folder: Path, greeting: str = "", reaction: str = "pass", *, hello: str = "", **manifest: object
) -> str:
    folder.mkdir()
    indented = "\n".join("    " + line for line in reaction.split("\n"))
    source = EXTENSION.replace("{greeting}", greeting).replace("{reaction}", indented)
    source = source.replace("{hello}", hello)
    (folder / "helper.py").write_text(source)
    fields = {"name": "helper", "version": "1", "exec": sys.executable, "args": ["helper.py"]}
    (folder / "extension.json").write_text(json.dumps(fields | manifest))
    return str(folder)


def heard(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "frames.jsonl").read_text().splitlines()]


def lines_heard(folder: Path) -> list[str]:
    return (folder / "frames.jsonl").read_text().splitlines()
