"""Whatever an ACP agent sends, the wire stands it, and its turns end once."""

from typing import Any

from acp_replay import new_wire
from hypothesis import given
from hypothesis import strategies as st
from support.zot_replay import check_sequence

from lsp_agent.wires.wire import Hello, Prompt, Reply, Send, Withdrawn

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
KINDS = ["tool_call", "tool_call_update", "agent_message_chunk", "plan", "usage_update", "odd"]
UPDATE = st.fixed_dictionaries(
    {"sessionUpdate": st.sampled_from(KINDS)},
    optional={
        "toolCallId": st.sampled_from(["c1", "c2"]) | JUNK,
        "status": st.sampled_from(["pending", "in_progress", "completed", "failed"]) | JUNK,
        "kind": st.sampled_from(["read", "edit", "execute"]) | JUNK,
        "rawInput": JUNK,
        "content": JUNK,
        "locations": st.lists(st.fixed_dictionaries({"path": st.text(max_size=3)})) | JUNK,
        "configOptions": JUNK,
        "entries": st.lists(st.fixed_dictionaries({"content": JUNK, "status": JUNK}) | JUNK),
        "cost": JUNK,
        "_meta": JUNK,
    },
)
UPDATES = UPDATE.map(
    lambda update: {"method": "session/update", "params": {"sessionId": "s", "update": update}}
)
METHODS = ["session/request_permission", "fs/read_text_file", "fs/write_text_file", "other"]
REQUESTS = st.fixed_dictionaries(
    {"id": JUNK, "method": st.sampled_from(METHODS)},
    optional={"params": JUNK | st.fixed_dictionaries({"toolCall": UPDATE, "options": JUNK})},
)
RESPONSES = st.fixed_dictionaries(
    {"id": st.integers(1, 4) | JUNK}, optional={"result": JUNK, "error": JUNK}
)


@given(st.lists(st.lists(UPDATES | REQUESTS | RESPONSES | JUNK, max_size=6), max_size=6))
def test_garbage_is_stood_and_each_turn_ends_once(batches: list[list[Any]]) -> None:
    wire = new_wire()
    wire.encode("r1", Hello())
    decoded = wire.decode([{"id": 1, "result": {"protocolVersion": 1}}])
    decoded += wire.decode([{"id": 2, "result": {"sessionId": "s"}}])
    for number, batch in enumerate(batches):
        wire.encode(f"p{number}", Prompt("Go."))
        decoded += wire.decode(())
        decoded += wire.decode(batch)
    decoded += wire.lost("error", "gone")
    spoken = [item for item in decoded if not isinstance(item, (Reply, Send, Withdrawn))]
    check_sequence(spoken)  # type: ignore[arg-type]
