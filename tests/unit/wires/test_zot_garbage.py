"""Whatever an agent prints, the wire neither raises nor ends a turn twice."""

import json

from hypothesis import given
from hypothesis import strategies as st
from support.zot_replay import check_sequence

from lsp_agent.protocol.events import StampedEvent, TurnEnded, TurnStarted, to_json
from lsp_agent.wires.wire import (
    Abort,
    Command,
    Compact,
    CompactEnded,
    Decoded,
    GetMessages,
    GetModels,
    GetState,
    Hello,
    Prompt,
    Reply,
    SetModel,
)
from lsp_agent.wires.zot.wire import ZotWire

TYPES = [
    *("response", "user_message", "turn_start", "assistant_start", "text_delta"),
    *("tool_use_start", "tool_use_args", "tool_use_end", "usage", "assistant_message"),
    *("tool_call", "turn_end", "tool_progress", "tool_result", "error", "done"),
    *("ext_notify", "compact_done", "hologram"),
]

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
ids = st.sampled_from(["0", "1", "2", "3"])
block = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "tool_call", "tool_result", "x"])},
    optional={"text": st.text(max_size=3), "args": anything, "content": anything, "id": ids},
)
content = st.lists(block | anything, max_size=3)
data = st.fixed_dictionaries(
    {},
    optional={
        "busy": st.booleans(),
        "messages": st.lists(st.fixed_dictionaries({"content": content}) | anything, max_size=2),
        "models": anything,
        "usage": anything,
    },
)
shaped = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES)},
    optional={
        "id": ids | anything,
        "success": st.booleans() | anything,
        "data": data | anything,
        "delta": st.text(max_size=3) | anything,
        "text": st.text(max_size=3) | anything,
        "name": st.sampled_from(["read", "bash", "odd"]) | anything,
        "args": anything,
        "content": content | anything,
        "stop": st.sampled_from(["end", "tool_use", "error", "aborted", "length"]) | anything,
        "error": st.text(max_size=3) | anything,
        "message": st.just("max steps (3) exceeded") | anything,
        "is_error": anything,
        "summary": anything,
        "cumulative": anything,
        "input": anything,
    },
)
#: Frames as zot makes them, in any order.
plausible = st.builds(
    lambda kind, id_, stop, value: {
        "type": kind,
        "id": id_,
        "name": "read",
        "delta": "d",
        "text": "t",
        "args": {"path": value},
        "content": [{"type": "text", "text": value}],
        "stop": stop,
        "message": value,
    },
    st.sampled_from(TYPES),
    ids,
    st.sampled_from(["end", "tool_use", "error", "aborted"]),
    st.sampled_from(["x", "y"]),
)
commands = st.sampled_from(
    [
        Prompt("p"),
        Abort(),
        Compact(),
        Hello(),
        GetState(),
        GetMessages(),
        GetModels(),
        SetModel("m"),
    ]
)
#: A batch of frames, or a command and whether it is answered at once.
acts = st.lists(
    st.lists(plausible | plausible | shaped | anything, min_size=1, max_size=8)
    | st.tuples(commands, st.booleans()),
    max_size=20,
)


@given(acts)
def test_garbage_never_raises_and_every_turn_and_compaction_ends_once(
    acts: list[list[object] | tuple[Command, bool]],
) -> None:
    wire = ZotWire()
    sent: dict[str, Command] = {}
    decoded: list[Decoded] = []
    for act in [(Prompt("first"), True), *acts]:
        if isinstance(act, list):
            decoded += wire.decode(act)
            continue
        command, answered = act
        request_id = str(len(sent))
        sent[request_id] = command
        wire.encode(request_id, command)
        if answered:
            decoded += wire.decode([{"type": "response", "id": request_id, "success": True}])
    compactions = sum(
        isinstance(item, Reply) and isinstance(sent[item.request_id], Compact) for item in decoded
    )
    decoded += wire.lost("error", "gone")
    assert wire.lost("error", "gone") == []

    events = [item for item in decoded if not isinstance(item, Reply | CompactEnded)]
    check_sequence(events)
    assert sum(isinstance(item, TurnEnded) for item in events) == sum(
        isinstance(item, TurnStarted) for item in events
    )
    assert sum(isinstance(item, CompactEnded) for item in decoded) == compactions
    for event in events:
        json.dumps(to_json(StampedEvent("s", None, 1, 0.0, event)))
