"""An agent's plan for a turn, among messages and in words."""

from collections.abc import Iterable, Sequence

from lsp_agent.protocol.messages import Message, PlanBlock, PlanEntry


def plan_message(entries: Iterable[PlanEntry]) -> Message:
    return {"role": "assistant", "content": [PlanBlock(type="plan", entries=list(entries))]}


def put_plan(messages: list[Message], entries: Iterable[PlanEntry]) -> None:
    """The plan of the last turn is now this one: in its place where the turn has one, else it is
    told at the end."""
    for message in reversed(messages):
        if message["role"] == "user":
            break
        for block in message["content"]:
            if block["type"] == "plan":
                block["entries"] = list(entries)
                return
    messages.append(plan_message(entries))


def headline(entries: Sequence[PlanEntry]) -> str:
    """``Plan 3/5 · Run the tests``: how many are done, and the one at work, or else the next."""
    done = sum(entry["status"] == "completed" for entry in entries)
    at_work = [entry for entry in entries if entry["status"] == "in_progress"]
    to_come = [entry for entry in entries if entry["status"] == "pending"]
    current = [entry["content"] for entry in at_work + to_come][:1]
    return " · ".join([f"Plan {done}/{len(entries)}", *current])


def checklist(entries: Iterable[PlanEntry]) -> str:
    """A list in Markdown."""
    marks = {"completed": "[x] ", "in_progress": "[ ] (in progress) ", "pending": "[ ] "}
    return "\n".join(f"- {marks[entry['status']]}{entry['content']}" for entry in entries)
