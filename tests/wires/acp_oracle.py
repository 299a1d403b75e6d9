"""What a recording of an ACP agent says, read from its raw frames alone."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

RECORDINGS = Path(__file__).parents[1] / "recordings" / "acp"
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))
COUNTS = {
    "inputTokens": "input",
    "outputTokens": "output",
    "cachedReadTokens": "cacheRead",
    "cachedWriteTokens": "cacheWrite",
}
STOPS = {"end_turn": "endTurn", "cancelled": "aborted"}


def entries(name: str) -> list[Json]:
    text = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def turns(name: str) -> list[Json]:
    """Each prompt with its text, its calls and their arguments in the order of their first sight,
    the results, the plans that differ, the usage and the stop reason. Of a call without a result
    only that it failed is known. A prompt that was sent while one ran is a turn of its own after
    that one. (No prompt here was answered with an error.)"""
    found: list[Json] = []
    by_request: dict[int, Json] = {}
    for entry in entries(name):
        line = entry["line"]
        params = line.get("params") or {}
        if entry["dir"] == "in" and line.get("method") == "session/prompt":
            prompt = "".join(part.get("text", "") for part in params["prompt"])
            turn = {"prompt": prompt, "text": "", "calls": {}, "results": {}, "usage": []}
            turn |= {"plans": [], "cost": None, "stop": None}
            found.append(turn)
            by_request[line["id"]] = turn
        elif entry["dir"] == "in" and line.get("method") == "session/load":
            break
        elif entry["dir"] == "out" and "method" not in line and line["id"] in by_request:
            turn = by_request.pop(line["id"])
            turn["stop"] = STOPS[line["result"]["stopReason"]]
            if "usage" in line["result"]:
                turn["usage"].append(_spent(line["result"]["usage"], turn["cost"]))
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
        if "usage" in update.get("_meta", {}):
            turn["usage"].append(_spent(update["_meta"]["usage"], None))
    elif kind == "plan":
        keys = ("content", "status", "priority")
        steps = [{key: entry[key] for key in keys} for entry in update["entries"]]
        turn["plans"] += [steps] * (turn["plans"][-1:] != [steps])
    elif kind == "usage_update":
        turn["cost"] = update["cost"]["amount"]
    elif kind in ("tool_call", "tool_call_update", "permission"):
        call = update["toolCallId"]
        given = update.get("rawInput") or None
        if kind != "permission" or not turn["calls"].get(call):
            turn["calls"][call] = given or turn["calls"].get(call)
        if update.get("status") in ("completed", "failed"):
            turn["results"][call] = [update["status"] == "failed", _printed(update)]


def _spent(counts: Json, cost: float | None) -> Json:
    usage = {COUNTS[name]: count for name, count in counts.items() if name in COUNTS}
    return usage if cost is None else usage | {"cost": cost}


def _printed(update: Json) -> str:
    return "".join(
        item["content"]["text"] if item["type"] == "content" else f"[changed {item['path']}]"
        for item in update.get("content", [])
    )


def loaded(name: str) -> list[Json]:
    """The messages of the session that is loaded: each with its text and its calls' ids; a
    result's text is not kept."""
    lines = [entry["line"] for entry in entries(name)]
    loading = next(n for n, line in enumerate(lines) if line.get("method") == "session/load")
    found: list[Json] = []

    def last(role: str) -> Json:
        if not found or found[-1]["role"] != role:
            found.append({"role": role, "text": "", "calls": []})
        return found[-1]

    for line in lines[loading + 1 :]:
        update = line.get("params", {}).get("update", {})
        match update.get("sessionUpdate"):
            case "user_message_chunk":
                last("user")["text"] += update["content"]["text"]
            case "agent_message_chunk":
                last("assistant")["text"] += update["content"]["text"]
            case "tool_call":
                last("assistant")["calls"].append(update["toolCallId"])
            case "tool_call_update" if update["status"] == "completed":
                last("tool")["calls"].append(update["toolCallId"])
            case _:
                pass
    return found


def answers(name: str) -> list[Json]:
    """What the recorder answered to the agent's requests, in order."""
    return [
        {key: line[key] for key in ("id", "result", "error") if key in line}
        for line in (entry["line"] for entry in entries(name) if entry["dir"] == "in")
        if "method" not in line
    ]
