"""pi's session files, as far as a list of them goes (their versions 1 to 3)."""

import json
from collections.abc import Iterable

from lsp_agent.toolset.loose_json import Frame, frame, frames, string

SUFFIX = ".jsonl"


def summary(lines: Iterable[bytes]) -> dict[str, object]:
    """``{cwd, title?}`` by the first lines of a file, empty if it is none of pi's. The title is
    the session's name, else the first line of what was asked first."""
    cwd = asked = name = ""
    for line in lines:
        try:
            entry = frame(json.loads(line))
        except (ValueError, RecursionError):  # cut off, or none of ours
            continue
        match string(entry, "type"):
            case "session":
                cwd = string(entry, "cwd")
            case "session_info":
                name = string(entry, "name")
            case "message" if not asked:
                asked = _asked(frame(entry.get("message")))
            case _:
                pass
    if not cwd:
        return {}
    title = name or asked
    return {"cwd": cwd, "title": title} if title else {"cwd": cwd}


def _asked(message: Frame) -> str:
    """The first line that has words, of a user's message."""
    if string(message, "role") != "user":
        return ""
    content = message.get("content")
    texts = [content] if isinstance(content, str) else [string(b, "text") for b in frames(content)]
    lines = (line.strip() for text in texts for line in text.splitlines())
    return next(filter(None, lines), "")
