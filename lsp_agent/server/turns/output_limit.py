"""How much of what tools print goes to a client: the beginning and the end of it.

Counted is what is sent: an escape character is one byte of output and six of JSON. Beyond a
call's part, and a turn's, the newest output is kept back; its end is sent when the call ends.
"""

import json
from dataclasses import dataclass, replace

import orjson

from lsp_agent.protocol.events import StampedEvent, ToolProgress, ToolResult, TurnEnded
from lsp_agent.protocol.messages import Block

#: Of one call's output, in bytes of JSON: while it runs, the beginning of it.
CALL_BYTES = 128 * 1024
#: Of all such beginnings of a turn.
TURN_BYTES = 1024 * 1024
#: Of the end of each output that was cut.
TAIL_BYTES = 16 * 1024
#: Of each text of a call's result, half of them its end.
RESULT_BYTES = 512 * 1024

_CallKey = tuple[str, str]


@dataclass(slots=True)
class _Call:
    sent: int = 0
    held: int = 0  # characters that came since nothing more of it is sent
    tail: str = ""  # the last of them


class OutputLimit:
    """For the events of all sessions of one client, in their order."""

    def __init__(self) -> None:
        self._calls: dict[_CallKey, _Call] = {}
        self._spent: dict[str, int] = {}

    def shown(self, stamped: StampedEvent) -> list[StampedEvent]:
        """What is sent in its place: perhaps nothing, perhaps the end of an output before it. All
        have its ``seq``."""
        match stamped.event:
            case ToolProgress() as event:
                text = self._beginning(stamped.session_id, event)
                return [replace(stamped, event=replace(event, text=text))] if text else []
            case ToolResult() as event:
                end = self._end(stamped.session_id, event.tool_call_id)
                content = [_shortened(block) for block in event.content]
                result = replace(stamped, event=replace(event, content=content))
                return [*(replace(stamped, event=each) for each in end), result]
            case TurnEnded():
                self._forget(stamped.session_id)
            case _:
                pass
        return [stamped]

    def _beginning(self, session: str, event: ToolProgress) -> str:
        call = self._calls.setdefault((session, event.tool_call_id), _Call())
        spent = self._spent.get(session, 0)
        text = ""
        if call.held == 0:
            text = head(event.text, min(CALL_BYTES - call.sent, TURN_BYTES - spent))
            cost = cost_of(text)
            call.sent += cost
            self._spent[session] = spent + cost
        held = event.text[len(text) :]
        call.held += len(held)
        call.tail = (call.tail + held)[-TAIL_BYTES:]
        return text

    def _end(self, session: str, call_id: str) -> list[ToolProgress]:
        call = self._calls.pop((session, call_id), None)
        if call is None or call.held == 0:
            return []
        return [ToolProgress(call_id, _gap(call.held, tail(call.tail, TAIL_BYTES)))]

    def _forget(self, session: str) -> None:
        self._spent.pop(session, None)
        for key in [key for key in self._calls if key[0] == session]:
            del self._calls[key]


def _shortened(block: Block) -> Block:
    """A block of a result; only texts can be cut."""
    if block["type"] != "text" or cost_of(text := block["text"]) <= RESULT_BYTES:
        return block
    first, last = head(text, RESULT_BYTES // 2), tail(text, RESULT_BYTES // 2)
    return {"type": "text", "text": first + _gap(len(text) - len(first), last)}


def _gap(held: int, end: str) -> str:
    """``end`` is that of the ``held`` last characters of an output."""
    left_out = held - len(end)
    return f"\n... [{left_out} characters left out; the end:]\n{end}" if left_out else end


def cost_of(text: str) -> int:
    """The bytes of a text in JSON."""
    try:
        return len(orjson.dumps(text)) - 2
    except TypeError:  # half of a surrogate pair
        return len(json.dumps(text)) - 2


def head(text: str, most: int) -> str:
    """As much of its beginning as costs at most that."""
    low, high = 0, min(len(text), max(most, 0))  # a character costs at least one byte
    if cost_of(text[:high]) <= most:
        return text[:high]
    while low < high:
        middle = (low + high + 1) // 2
        if cost_of(text[:middle]) <= most:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def tail(text: str, most: int) -> str:
    """As much of its end as costs at most that."""
    return head(text[-most:][::-1], most)[::-1]
