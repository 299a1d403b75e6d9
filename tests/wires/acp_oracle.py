"""What a recording of an ACP agent says, read from its raw frames alone."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

RECORDINGS = Path(__file__).parents[1] / "recordings" / "acp"
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))
STOPS = {"end_turn": "endTurn", "cancelled": "aborted"}


def entries(name: str) -> list[Json]:
    text = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def turns(name: str) -> list[Json]:
    """Each prompt with its text, the ids of its calls in the order of their first sight, the
    results and the stop reason. Of a call without a result only that it failed is known."""
    found: list[Json] = []
    by_request: dict[int, Json] = {}
    for entry in entries(name):
        line = entry["line"]
        params = line.get("params") or {}
        if entry["dir"] == "in" and line.get("method") == "session/prompt":
            prompt = "".join(part.get("text", "") for part in params["prompt"])
            turn = {"prompt": prompt, "text": "", "calls": [], "results": {}, "stop": None}
            found.append(turn)
            by_request[line["id"]] = turn
        elif entry["dir"] == "in" and line.get("method") == "session/load":
            break
        elif entry["dir"] == "out" and "method" not in line and line["id"] in by_request:
            turn = by_request.pop(line["id"])
            turn["stop"] = STOPS[line["result"]["stopReason"]]
        elif entry["dir"] == "out" and by_request:
            _take(next(iter(by_request.values())), line.get("method"), params)
    return found


def _take(turn: Json, method: str | None, params: Json) -> None:
    update: Json = params.get("update") or {}
    kind = update.get("sessionUpdate")
    if method == "session/request_permission":
        update, kind = params["toolCall"], "permission"
    if kind == "agent_message_chunk":
        turn["text"] += update["content"]["text"]
    elif kind in ("tool_call", "tool_call_update", "permission"):
        call = update["toolCallId"]
        if call not in turn["calls"]:
            turn["calls"].append(call)
        if update.get("status") in ("completed", "failed"):
            turn["results"][call] = [update["status"] == "failed", _printed(update)]


def _printed(update: Json) -> str:
    return "".join(
        item["content"]["text"] if item["type"] == "content" else f"[changed {item['path']}]"
        for item in update.get("content", [])
    )


def answers(name: str) -> list[Json]:
    """What the recorder answered to the agent's requests, in order."""
    return [
        {key: line[key] for key in ("id", "result", "error") if key in line}
        for line in (entry["line"] for entry in entries(name) if entry["dir"] == "in")
        if "method" not in line
    ]
