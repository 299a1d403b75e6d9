"""What a pi recording says, from its raw lines alone (nothing of lsp_agent's is used).

A turn is what lies between a prompt that pi took up and ``agent_settled``, or the end of all.
"""

import re

COUNTS = ("input", "output", "cacheRead", "cacheWrite")
STOPS = {"stop": "endTurn", "length": "maxTokens", "error": "error", "aborted": "aborted"}


def turns(lines):
    """One dict a turn: ``text`` of its last answer, ``thinking``, ``calls`` [id, name, args] as
    they ran, ``results`` [id, is_error, text], ``usage`` [a step's, the session's so far],
    ``stop``, ``errors`` (a service's words). A step in which nothing was counted has none; no
    model of these had a price."""
    found, turn, prompts = [], None, {}
    for entry in lines:
        line = entry["line"]
        if not isinstance(line, dict):
            continue
        if entry["dir"] == "in":
            if line.get("type") == "prompt":
                prompts[line.get("id")] = line
            if line.get("type") == "abort" and turn:
                turn["asked_to_stop"] = True
        if entry["dir"] != "out":
            continue
        if is_accepted(line, prompts) and turn is None:
            turn = new_turn(turn_before=found[-1:])
            found.append(turn)
            if line.get("data", {}).get("disposition") == "handled":
                turn["settled"], turn = True, None
        elif turn:
            follow(turn, line["type"], line)
            turn = None if turn["settled"] else turn
    return [finish(turn) for turn in found]


def is_accepted(line, prompts):
    accepted = line["type"] == "response" and line["success"] and line["command"] == "prompt"
    return accepted and "streamingBehavior" not in prompts.get(line.get("id"), {})


def new_turn(turn_before):
    return {
        "total": turn_before[0]["total"] if turn_before else dict.fromkeys(COUNTS, 0),
        "usage": [],
        "text": "",
        "thinking": "",
        "calls": {},
        "results": {},
        "stop": "stop",
        "error": None,
        "settled": False,
        "aborted": False,
    }


def follow(turn, kind, line):
    if kind == "message_update":
        event = line["assistantMessageEvent"]
        if event["type"] == "thinking_delta":
            turn["thinking"] += event["delta"]
        if event["type"] == "text_delta":
            turn["streamed"] = turn.get("streamed", "") + event["delta"]
    elif kind == "turn_start":
        turn["text"], turn["streamed"] = "", ""
    elif kind == "message_end" and line["message"]["role"] == "assistant":
        message = line["message"]
        turn["text"] = flat(message["content"])
        turn["streamed"] = ""
        turn["stop"] = message["stopReason"]
        turn["error"] = message.get("errorMessage") if turn["stop"] == "error" else None
        count(turn, message["usage"])
    elif kind == "tool_execution_start":
        turn["calls"][line["toolCallId"]] = [line["toolCallId"], line["toolName"], line["args"]]
    elif kind == "tool_execution_end":
        text = flat(line["result"]["content"])
        turn["results"][line["toolCallId"]] = [line["toolCallId"], line["isError"], text]
    elif kind == "agent_settled":
        turn["settled"], turn["aborted"] = True, line["aborted"]


def count(turn, usage):
    step = {name: usage[name] for name in COUNTS}
    assert usage["cost"]["total"] == 0
    if any(step.values()):
        turn["total"] = {name: turn["total"][name] + step[name] for name in COUNTS}
        turn["usage"].append([step, turn["total"]])


def finish(turn):
    stopped = turn["aborted"] or turn.get("asked_to_stop", False) or turn["stop"] == "aborted"
    stop = "aborted" if stopped else STOPS[turn["stop"]] if turn["settled"] else "error"
    errors = [] if stop != "error" else [words(turn["error"] or "gone")]
    made = "aborted" if stop == "aborted" else "no result"
    return {
        "text": turn["text"] or turn.get("streamed", ""),
        "thinking": turn["thinking"],
        "calls": list(turn["calls"].values()),
        "results": [
            turn["results"].get(call_id, [call_id, True, made]) for call_id in turn["calls"]
        ],
        "usage": turn["usage"],
        "stop": [stop],
        "errors": errors,
    }


def flat(content):
    return "".join(block["text"] for block in content if block["type"] == "text")


def words(error: str) -> str:
    found = re.search(r'"message":"(.*?)"', error)
    return found[1].rstrip(".") if found else error
