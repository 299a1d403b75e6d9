"""``agent/event``: the canonical events on their way to a client that takes them.

Deltas that follow each other closely are joined: of the same turn, kind and tool call, and
adjacent in their session. A delta goes out at once when the stream was quiet for a millisecond;
those that come faster are joined until the next quiet millisecond, for up to 16 ms, and further
while the client leaves much unread. Any other event goes out at once, behind what waits. What was
joined to a long text goes out in pieces, so that an answer never waits behind all of it.

**What is left out.** The middle of a long output (``output_limit.py``). And pieces that a client
has kept waiting are given up once what has the whole of them waits behind them: a tool's output
for its result, a call's arguments for the call. Nothing else is dropped, or reordered.

**seq.** Sessions number every event before it comes here. The client's are counted here, as they
go out, from the session's own first: what was joined, cut, added or left out leaves no gap.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from lsp_agent.protocol.events import (
    StampedEvent,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolCall,
    ToolProgress,
    ToolResult,
    to_json,
)
from lsp_agent.server.rpc.outbox import Outbox, Waiting
from lsp_agent.server.turns.output_limit import OutputLimit

#: The longest text of one delta, in characters.
_PIECE = 8192
_EVENT_COST = 256

_Delta = TextDelta | ThinkingDelta | ToolArgsDelta | ToolProgress
_Key = tuple[type[_Delta], str | None, str | None]
#: The message ``agent/event`` of an event, as bytes.
Encode = Callable[[dict[str, object]], bytes]


@dataclass(slots=True)
class _Waiting:
    """An event that waits; ``texts`` are those of a delta. It is joined to only as long as
    ``messages`` is the outbox's."""

    stream: "EventStream"
    stamped: StampedEvent
    key: _Key | None
    texts: list[str]
    messages: int
    size: int

    @property
    def bounded(self) -> bool:
        """What a tool prints: a client that reads nothing does not hold up a command."""
        return isinstance(self.stamped.event, ToolProgress)

    def next(self) -> bytes:
        stamped, event = self.stamped, self.stamped.event
        self.size = 0
        if isinstance(event, _Delta):
            text = "".join(self.texts)
            if rest := text[_PIECE:]:
                self.texts = [rest]
                self.size = _EVENT_COST + len(rest)
            stamped = replace(stamped, event=replace(event, text=text[:_PIECE]))
        return self.stream.encoded(stamped)


class EventStream:
    """The events of all sessions for one client. ``publish`` is a session's subscriber."""

    def __init__(self, outbox: Outbox, encode: Encode) -> None:
        self._outbox = outbox
        self._encode = encode
        self._limit = OutputLimit()
        self._last: dict[str, _Waiting] = {}  # each session's newest, if it is a delta
        self._told: dict[str, int] = {}  # each session's newest seq that the client knows

    def publish(self, stamped: StampedEvent) -> None:
        """Takes the next event of a session. Does not block."""
        self._told.setdefault(stamped.session_id, stamped.seq - 1)
        shown = self._limit.shown(stamped)
        if self._gave_way(stamped):
            shown = shown[-1:]  # nor is the end of an output needed before its result
        for each in shown:
            self._add(each)

    def _add(self, stamped: StampedEvent) -> None:
        event = stamped.event
        if isinstance(event, _Delta):
            self._add_delta(stamped, event)
        else:
            self._last.pop(stamped.session_id, None)
            entry = self._entry(stamped, None, "")
            self._outbox.put(entry)
            if entry.size:
                self._outbox.grow(entry, len(self._encode(to_json(stamped))))

    def encoded(self, stamped: StampedEvent) -> bytes:
        """As it goes out now, numbered for the client."""
        seq = self._told[stamped.session_id] = self._told[stamped.session_id] + 1
        return self._encode(to_json(replace(stamped, seq=seq)))

    def _add_delta(self, stamped: StampedEvent, event: _Delta) -> None:
        key = _key(stamped, event)
        last = self._last.get(stamped.session_id)
        if (
            last is not None
            and last.size
            and last.key == key
            and last.messages == self._outbox.messages
        ):
            last.texts.append(event.text)
            self._outbox.joined(last, len(event.text))
        else:
            entry = self._last[stamped.session_id] = self._entry(stamped, key, event.text)
            self._outbox.put_soon(entry)

    def _entry(self, stamped: StampedEvent, key: _Key | None, text: str) -> _Waiting:
        size = _EVENT_COST + len(text)
        return _Waiting(self, stamped, key, [text], self._outbox.messages, size)

    def _gave_way(self, whole: StampedEvent) -> bool:
        """Gives up what the client has kept waiting and is in this event; whether there was any."""
        match whole.event:
            case ToolResult(tool_call_id):
                key = ToolProgress, whole.turn_id, tool_call_id
            case ToolCall(tool_call_id, args=args) if args is not None:
                key = ToolArgsDelta, whole.turn_id, tool_call_id
            case _:
                return False
        self._outbox.flush()  # what it takes now does not wait
        kept = [entry for entry in self._outbox if _is_of(entry, whole.session_id, key)]
        for entry in kept:
            self._outbox.drop(entry)
        return bool(kept)


def _key(stamped: StampedEvent, event: _Delta) -> _Key:
    """What two deltas must share to be joined."""
    call = event.tool_call_id if isinstance(event, ToolArgsDelta | ToolProgress) else None
    return type(event), stamped.turn_id, call


def _is_of(entry: Waiting, session_id: str, key: _Key) -> bool:
    return (
        isinstance(entry, _Waiting)
        and entry.size > 0
        and entry.key == key
        and entry.stamped.session_id == session_id
    )
