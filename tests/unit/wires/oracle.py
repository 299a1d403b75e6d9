"""What a zot recording says, from its raw lines alone (nothing of lsp_agent's is used)."""

import json

COUNTS = {
    "input": "input",
    "output": "output",
    "cache_read": "cacheRead",
    "cache_write": "cacheWrite",
    "cost_usd": "cost",
}
STOPS = {"end": "endTurn", "length": "maxTokens", "error": "error", "aborted": "aborted"}


def turns(lines):
    """One dict a started turn: ``text`` of its last step, ``calls`` [id, name, args],
    ``results`` [id, is_error, content], ``usage`` [a step's, the session's so far], ``stop``,
    ``errors`` (texts), ``done``."""
    found, turn = [], None
    for entry in lines:
        frame = entry.get("line")
        kind = frame.get("type") if isinstance(frame, dict) else None
        if entry["dir"] == "in" and kind == "abort" and turn:
            turn["asked_to_stop"] = True
        if entry["dir"] != "out":
            continue
        if kind == "response" and frame["command"] == "prompt" and frame["success"]:
            turn = {"text": "", "calls": {}, "results": [], "usage": [], "stop": None}
            turn |= {"errors": [], "done": 0}
            found.append(turn)
        elif turn:
            follow(turn, kind, frame)
            turn = None if turn["done"] else turn
    return [finish(turn) for turn in found]


def follow(turn, kind, frame):
    if kind == "turn_start":
        turn["text"], turn["stop"] = "", None
    elif kind == "text_delta":
        turn["text"] += frame["delta"]
    elif kind == "assistant_message":
        turn["text"] = flat(frame["content"])
    elif kind == "tool_use_start":
        turn["calls"][frame["id"]] = [frame["id"], frame["name"], None]
    elif kind == "tool_call":
        turn["calls"][frame["id"]] = [frame["id"], frame["name"], frame["args"]]
    elif kind == "tool_result":
        turn["results"].append([frame["id"], frame["is_error"], flat(frame["content"])])
    elif kind == "usage":
        turn["usage"].append([spent(frame), spent(frame["cumulative"])])
    elif kind in ("turn_end", "error"):
        turn["stop"] = STOPS.get(frame.get("stop"), turn["stop"])
        turn["errors"] += [text for text in (frame.get("error"), frame.get("message")) if text]
    turn["done"] = kind == "done"


def finish(turn):
    asked = turn.pop("asked_to_stop", False)
    turn["stop"] = "aborted" if asked else turn["stop"] if turn["done"] else "error"
    turn["errors"] = [] if asked else sorted(set(turn["errors"]))
    turn["calls"] = sorted(turn["calls"].values(), key=json.dumps)
    answered = {result[0] for result in turn["results"]}
    made = "aborted" if asked else "no result"
    turn["results"] += [[call[0], True, made] for call in turn["calls"] if call[0] not in answered]
    return turn


def spent(counts):
    return {COUNTS[name]: count for name, count in counts.items() if name in COUNTS}


def flat(content):
    shown = (block for block in content if block["type"] != "tool_call")
    return "".join(b.get("text", f"<{b.get('mime_type')} {b.get('bytes')}>") for b in shown)
