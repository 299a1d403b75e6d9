"""Whatever pi prints, the wire neither raises nor ends a turn twice."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.zot_replay import check_sequence

from lsp_agent.protocol.events import StampedEvent, TextDelta, TurnEnded, TurnStarted, to_json
from lsp_agent.wires.pi.wire import PiWire
from lsp_agent.wires.wire import (
    Abort,
    AgentRequest,
    Answered,
    Clear,
    Command,
    Compact,
    CompactEnded,
    Decoded,
    GetCommands,
    GetMessages,
    GetModels,
    GetState,
    Granted,
    Hello,
    Prompt,
    Refused,
    Reply,
    Send,
    SetModel,
    Steer,
    Withdrawn,
)

Json = dict[str, Any]

TYPES = [
    *("response", "agent_start", "agent_end", "agent_settled", "turn_start", "turn_end"),
    *("message_start", "message_update", "message_end", "tool_execution_start"),
    *("tool_execution_update", "tool_execution_end", "queue_update", "compaction_end"),
    *("auto_retry_start", "extension_ui_request", "extension_error", "error", "compaction"),
    "hologram",
]
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
ids = st.sampled_from(["0", "1", "2", "get_commands:0", "clear_queue:1", "set_model:2"])
block = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "thinking", "image", "toolCall", "x"])},
    optional={"text": st.text(max_size=3) | anything, "arguments": anything, "id": ids},
)
content = st.lists(block | anything, max_size=3) | anything
message = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "toolResult", "system", "x"])},
    optional={
        "content": content,
        "stopReason": st.sampled_from(["stop", "toolUse", "error", "aborted"]) | anything,
        "usage": anything | st.just({"input": 1, "cost": {"total": 0.5}}),
        "errorMessage": anything,
        "timestamp": anything | st.just(10**18),
    },
)
update = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["text_delta", "thinking_delta", "toolcall_start", "toolcall_delta", "toolcall_end"]
        )
    },
    optional={
        "delta": st.text(max_size=3) | anything,
        "contentIndex": st.integers(0, 2) | anything,
        "id": ids | anything,
        "toolName": anything,
        "toolCall": block,
    },
)
shaped = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES)},
    optional={
        "id": ids | anything,
        "success": st.booleans() | anything,
        "data": st.fixed_dictionaries(
            {},
            optional={
                "commands": st.just(
                    [{"name": "lsp-agent", "source": "extension", "description": "1.5.2"}]
                ),
                "models": st.just([{"id": "m", "provider": "p"}]) | anything,
                "messages": st.lists(message | anything, max_size=2),
                "disposition": st.sampled_from(["started", "handled", "queued"]),
                "cancelled": st.booleans(),
                "summary": anything,
            },
        )
        | anything,
        "error": st.text(max_size=3) | anything,
        "message": message | anything,
        "assistantMessageEvent": update | anything,
        "toolCallId": ids | anything,
        "toolName": st.sampled_from(["read", "bash", "odd"]) | anything,
        "args": anything,
        "partialResult": st.fixed_dictionaries({"content": content}) | anything,
        "result": st.fixed_dictionaries({"content": content}) | anything,
        "isError": anything,
        "willRetry": st.booleans(),
        "aborted": st.booleans(),
        "method": st.sampled_from(["select", "confirm", "input", "editor", "notify"]) | anything,
        "title": st.just("lsp-agent") | anything,
        "placeholder": st.sampled_from(
            [
                '{"ask": "approve", "call": "1", "tool": "bash", "args": {}}',
                '{"ask": "read", "call": "1", "path": "a"}',
            ]
        )
        | anything,
        "options": anything | st.just(["a", "b"]),
    },
)
commands = st.sampled_from(
    [
        *(Prompt("p"), Steer("s"), Abort(), Compact(), Clear(), Hello(), Hello("/s"), GetState()),
        *(GetMessages(), GetModels(), SetModel("m"), GetCommands()),
    ]
)
#: A batch of frames, or a command and whether it is answered at once.
acts = st.lists(
    st.lists(shaped | shaped | shaped | anything, min_size=1, max_size=8)
    | st.tuples(commands, st.booleans()),
    max_size=20,
)


@given(acts)
def test_garbage_from_pi_never_raises_and_every_turn_and_compaction_ends_once(
    acts: list[list[object] | tuple[Command, bool]],
) -> None:
    wire = PiWire()
    compactions = 0
    decoded: list[Decoded] = []
    for number, act in enumerate([(Prompt("first"), True), *acts]):
        if isinstance(act, list):
            decoded += wire.decode(act)
            continue
        command, answered = act
        compactions += isinstance(command, Compact)
        frame = wire.encode(str(number), command)
        if answered:
            decoded += wire.decode([{"type": "response", "id": frame["id"], "success": True}])
    decoded += wire.lost("error", "gone")
    assert wire.lost("error", "gone") == []

    others = Reply | CompactEnded | Send | Withdrawn | AgentRequest
    events = [item for item in decoded if not isinstance(item, others)]
    check_sequence(events)
    assert sum(isinstance(item, TurnEnded) for item in events) == sum(
        isinstance(item, TurnStarted) for item in events
    )
    assert sum(isinstance(item, CompactEnded) for item in decoded) == compactions
    for event in events:
        json.dumps(to_json(StampedEvent("s", None, 1, 0.0, event)))


@given(st.lists(shaped, max_size=12), st.sampled_from([Granted(), Refused("no"), Answered("0")]))
def test_whatever_pi_asks_gets_at_most_one_answer_which_is_an_object(
    frames: list[Json], answer: Granted | Refused | Answered
) -> None:
    wire = PiWire()
    for item in wire.decode(frames):
        if isinstance(item, AgentRequest):
            response = wire.answer(item.key, answer)
            assert response is None or response["type"] == "extension_ui_response"
            assert wire.answer(item.key, answer) is None


@given(st.text(max_size=40), st.data())
def test_deltas_cut_anywhere_are_the_same_text(said: str, data: st.DataObject) -> None:
    wire = PiWire()
    wire.encode("0", Prompt("p"))
    wire.decode([{"type": "response", "id": "0", "success": True}])
    places = data.draw(st.lists(st.integers(0, len(said)), max_size=5).map(sorted))
    pieces = [said[a:b] for a, b in zip([0, *places], [*places, len(said)], strict=True)]
    frames = [
        {
            "type": "message_update",
            "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": piece},
        }
        for piece in pieces
    ]
    cut = data.draw(st.integers(0, len(frames)))
    decoded = [*wire.decode(frames[:cut]), *wire.decode(frames[cut:])]
    assert "".join(item.text for item in decoded if isinstance(item, TextDelta)) == said
    assert len(decoded) <= 2
