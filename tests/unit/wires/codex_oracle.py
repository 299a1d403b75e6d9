"""What a recording of Codex says, from its raw lines alone (nothing of lsp_agent's is used)."""

import json
import re
from pathlib import Path

RECORDINGS = Path(__file__).parents[2] / "recordings" / "codex"
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))

_STOPS = {"completed": "endTurn", "interrupted": "aborted", "failed": "error"}
_CALLS = ("dynamicToolCall", "commandExecution", "fileChange")
_TOOLS = {"commandExecution": "shell", "fileChange": "apply_patch"}


def entries(name):
    text = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def turns(name):
    """One dict a turn that a prompt began, in order; compactions are none."""
    found, prompts, known = {}, {}, None
    for entry in entries(name):
        line = entry["line"]
        params = line.get("params", {})
        method = line.get("method")
        if entry["dir"] == "in":
            if method == "turn/start":
                prompts[line["id"]] = params["input"][0]["text"]
        elif method is None and line.get("id") in prompts and "turn" in line.get("result", {}):
            turn = {"prompt": prompts.pop(line["id"]), "text": "", "thinking": "", "said": []}
            turn |= {"calls": {}, "results": {}, "usage": [], "stop": None, "errors": []}
            found[line["result"]["turn"]["id"]] = turn
        elif method == "turn/completed":
            if params["turn"]["id"] in found:
                end(found[params["turn"]["id"]], params["turn"])
        elif method == "thread/tokenUsage/updated":  # which is told again of what was
            total = counts(params["tokenUsage"]["total"])
            if total != known and params["turnId"] in found:
                found[params["turnId"]]["usage"].append(total)
            known = total
        elif params.get("turnId") in found:
            follow(found[params["turnId"]], method, params)
    return list(found.values())


def follow(turn, method, params):
    item = params.get("item", {})
    if method == "item/agentMessage/delta":
        turn["text"] += params["delta"]
    elif method == "item/reasoning/summaryTextDelta":
        turn["thinking"] += params["delta"]
    elif method == "item/started" and item["type"] in _CALLS:
        turn["calls"][item["id"]] = _TOOLS.get(item["type"]) or item["tool"]
    elif method == "item/completed" and item["type"] in _CALLS:
        bad = item["status"] != "completed" or bool(item.get("exitCode"))
        turn["results"][item["id"]] = bad
    elif method == "item/completed" and item["type"] == "userMessage":
        turn["said"].append(item["content"][0]["text"])


def counts(total):
    return [total[f"{kind}Tokens"] for kind in ("input", "cachedInput", "output")]


def end(turn, ended):
    turn["stop"] = _STOPS[ended["status"]]
    if ended["error"] is None:
        return
    message = ended["error"]["message"]
    if "max_output_tokens" in message:
        turn["stop"] = "maxTokens"
        return
    status = re.search(r"unexpected status (\d+)", message)
    turn["errors"] = [status[1] if status else message]


def compactions(name):
    """The summary of each, None for one that failed."""
    found, is_one, summary, of_prompts = [], False, None, set()
    for line in (entry["line"] for entry in entries(name) if entry["dir"] == "out"):
        method, params = line.get("method"), line.get("params", {})
        item = params.get("item", {})
        if "turn" in line.get("result", {}):
            of_prompts.add(line["result"]["turn"]["id"])
        elif method == "item/started" and item["type"] == "contextCompaction":
            is_one, summary = params["turnId"] not in of_prompts, None
        elif is_one and method == "rawResponseItem/completed":
            summary = item["content"][0]["text"]
        elif is_one and method == "turn/completed":
            is_one = False
            found.append(summary if params["turn"]["status"] == "completed" else None)
    return found


def answers(name):
    """What the recorder answered to Codex's requests, in order."""
    return [
        entry["line"]
        for entry in entries(name)
        if entry["dir"] == "in" and "method" not in entry["line"]
    ]
