"""What a recording of an ACP agent says, read from its raw frames alone."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

RECORDINGS = Path(__file__).parents[2] / "recordings" / "acp"
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
    """Each prompt with its text, the agent's own words, its calls and their arguments in the order
    of their first sight, the results, the plans that differ, the usage and the stop reason, which
    is "error" for a prompt without an answer. Of a call without a result only that it failed is
    known. A prompt that was sent while one ran is a turn of its own after that one."""
    found: list[Json] = []
    by_request: dict[int, Json] = {}
    spent = _Spent(name)
    for entry in entries(name):
        line = entry["line"]
        params = line.get("params") or {}
        if entry["dir"] == "in" and line.get("method") == "session/prompt":
            prompt = "".join(part.get("text", "") for part in params["prompt"])
            turn = {"prompt": prompt, "text": "", "calls": {}, "results": {}, "usage": []}
            turn |= {"plans": [], "notes": [], "printed": {}, "failed": False, "stop": "error"}
            found.append(turn)
            by_request[line["id"]] = turn
        elif entry["dir"] == "in" and line.get("method") == "session/load":
            break
        elif entry["dir"] == "out" and "method" not in line and line["id"] in by_request:
            turn = by_request.pop(line["id"])
            turn["stop"] = _stop(turn, line)
            if counts := _told_counts(line.get("result", {})):
                turn["usage"].append(spent.by_turn(counts))
        elif entry["dir"] == "out" and by_request:
            spent.take(params.get("update") or {})
            _take(name, next(iter(by_request.values())), line.get("method"), params)
    return found


def _stop(turn: Json, line: Json) -> str:
    """Copilot and Codex end a turn well that failed: in its last words, or by its status."""
    failed = turn["failed"] or (turn["notes"] and turn["notes"][-1].startswith("Error: "))
    return "error" if "error" in line or failed else STOPS[line["result"]["stopReason"]]


def _told_counts(result: Json) -> Json | None:
    """Gemini has them beside the protocol's own."""
    beside = result.get("_meta", {}).get("quota", {}).get("token_count") or {}
    named = {"inputTokens": "input_tokens", "outputTokens": "output_tokens"}
    found = {name: beside[key] for name, key in named.items() if key in beside}
    return result.get("usage") or found


class _Spent:
    """Copilot tells the session's usage so far, and all who know the cost do so of it."""

    def __init__(self, name: str) -> None:
        self._so_far: dict[str, int] | None = {} if name.startswith("copilot") else None
        self._cost: float | None = None
        self._paid = 0.0

    def take(self, update: Json) -> None:
        if update.get("sessionUpdate") == "usage_update" and "cost" in update:
            self._cost = update["cost"]["amount"]

    def by_turn(self, counts: Json) -> Json:
        usage = _counted(counts)
        if self._so_far is not None:
            before, self._so_far = self._so_far, usage
            usage = {name: count - before.get(name, 0) for name, count in usage.items()}
        if self._cost is None:
            return usage
        paid, self._paid = self._paid, self._cost
        return usage | {"cost": self._cost - paid}


def _is_note(name: str, update: Json) -> bool:
    """Whether a message's piece is the agent's own, not its model's."""
    if name.startswith("codex"):
        return "messageId" not in update
    own = ("Info: ", "Error: ")
    return name.startswith("copilot") and update["content"]["text"].startswith(own)


def _take(name: str, turn: Json, method: str | None, params: Json) -> None:
    update: Json = params.get("update") or {}
    kind = update.get("sessionUpdate")
    if method == "session/request_permission":
        update, kind = params["toolCall"], "permission"
    if kind == "agent_message_chunk" and _is_note(name, update):
        turn["notes"].append(update["content"]["text"])
    elif kind == "agent_message_chunk":
        turn["text"] += update["content"]["text"]
        if "usage" in update.get("_meta", {}):
            turn["usage"].append(_counted(update["_meta"]["usage"]))
    elif kind == "session_info_update":
        codex = update.get("_meta", {}).get("codex", {})
        turn["failed"] |= codex.get("threadStatus", {}).get("type") == "systemError"
    elif kind == "plan":
        keys = ("content", "status", "priority")
        steps = [{key: entry[key] for key in keys} for entry in update["entries"]]
        turn["plans"] += [steps] * (turn["plans"][-1:] != [steps])
    elif kind in ("tool_call", "tool_call_update", "permission"):
        call = update["toolCallId"]
        given = update.get("rawInput") or None
        if name.startswith("gemini") and update.get("kind") == "execute":
            given = {"command": update["title"]}
        delta = update.get("_meta", {}).get("terminal_output_delta", {}).get("data", "")
        turn["printed"][call] = turn["printed"].get(call, "") + delta
        if kind != "permission" or not turn["calls"].get(call):
            turn["calls"][call] = given or turn["calls"].get(call)
        if update.get("status") in ("completed", "failed"):
            raw = update.get("rawOutput")
            shown = _printed(update) or (raw if isinstance(raw, str) else turn["printed"][call])
            turn["results"][call] = [update["status"] == "failed", shown]


def _counted(counts: Json) -> Json:
    return {COUNTS[name]: count for name, count in counts.items() if name in COUNTS}


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
