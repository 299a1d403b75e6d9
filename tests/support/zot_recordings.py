"""What the recordings of zot say of its tools."""

import json
from functools import cache
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).parent.parent / "recordings" / "zot"


@cache
def frames(name: str, direction: str = "out") -> list[dict[str, Any]]:
    rows = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    entries = [json.loads(row) for row in rows if row]
    return [entry["line"] for entry in entries if entry["dir"] == direction and "line" in entry]


def tool_calls(name: str) -> list[tuple[str, Any]]:
    return [
        (frame["name"], frame["args"]) for frame in frames(name) if frame["type"] == "tool_call"
    ]


def tool_results(name: str) -> list[str]:
    return [
        frame["content"][0].get("text", "")
        for frame in frames(name)
        if frame["type"] == "tool_result"
    ]


def disk_texts(name: str) -> list[str]:
    rows = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    entries = [json.loads(row) for row in rows if row]
    return [entry["text"] for entry in entries if entry.get("event") == "disk" and "text" in entry]
