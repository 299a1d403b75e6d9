"""Commands that print without end, and what JSON makes six bytes of: a client is sent a bounded
part of it, the beginning and the end."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.project import EVENTS, Editor, Project, bash, new_project, step

from lsp_agent.protocol.events import StampedEvent, ToolProgress, ToolResult, TurnEnded
from lsp_agent.server.turns.output_limit import (
    CALL_BYTES,
    TAIL_BYTES,
    TURN_BYTES,
    OutputLimit,
    cost_of,
)

pytestmark = pytest.mark.slow

MEGABYTES = 20
FLOOD = f"printf BEGIN; head -c {MEGABYTES}000000 /dev/zero | tr '\\0' '\\033'; printf END"
ROOM = 64 * 1024  # for all that is not output


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made


def flooded(project: Project, *commands: str) -> Editor:
    editor = project.editor(
        step("", *(bash(command) for command in commands)),
        step("Done."),
        client=EVENTS,
        options={"permissions": {"command": "allow"}},
    )
    editor.prompt("Go.")
    editor.event("turnEnded", timeout=120)
    return editor


def sent(events: list[Any]) -> int:
    """In bytes, as they came; the results apart, which have a limit of their own."""
    return sum(len(json.dumps(event)) for event in events if event["type"] != "toolResult")


def test_a_client_gets_both_ends_of_a_flood(project: Project) -> None:
    editor = flooded(project, FLOOD)
    assert sent(editor.events()) < CALL_BYTES + TAIL_BYTES + ROOM
    output = "".join(event["text"] for event in editor.events("toolProgress"))
    assert output.startswith("BEGIN\x1b")
    assert output.endswith("\x1bEND")
    assert "characters left out; the end:]" in output
    (result,) = editor.events("toolResult")
    assert len(json.dumps(result)) < 600_000
    numbers = [event["seq"] for event in editor.events()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_turn_has_a_limit_as_well(project: Project) -> None:
    count = 12
    assert count * CALL_BYTES > TURN_BYTES
    editor = flooded(project, *["printf BEGIN; yes | head -c 300000; printf END"] * count)
    assert sent(editor.events()) < TURN_BYTES + count * TAIL_BYTES + count * 4096 + ROOM
    last = editor.events("toolResult")[-1]["toolCallId"]
    shown = "".join(event["text"] for event in editor.events("toolProgress", toolCallId=last))
    assert shown.endswith("END")


pieces = st.lists(
    st.text(st.sampled_from('a\x1b"é\n\U0001f600\ud800'), max_size=50_000), max_size=30
)


@given(pieces, st.integers(0, 3))
def test_what_is_shown_costs_no_more_and_short_outputs_are_whole(
    texts: list[str], repeated: int
) -> None:
    limit, out = OutputLimit(), list[StampedEvent]()
    everything = "".join(texts * 4**repeated)
    events: list[Any] = [ToolProgress("c", text) for text in texts * 4**repeated]
    for number, event in enumerate([*events, ToolResult("c", False, [])]):
        out += limit.shown(StampedEvent("s", "t", number, 0.0, event))
    assert isinstance(out[-1].event, ToolResult)
    shown = "".join(one.event.text for one in out[:-1] if isinstance(one.event, ToolProgress))
    if cost_of(everything) <= CALL_BYTES:
        assert shown == everything
    else:
        assert cost_of(shown) <= CALL_BYTES + TAIL_BYTES + 100
        assert everything.startswith(shown.partition("\n... [")[0])
        assert everything.endswith(shown[-100:])


def test_a_new_turn_begins_anew() -> None:
    limit = OutputLimit()

    def shown(call: str) -> int:
        event = ToolProgress(call, "x" * 2 * CALL_BYTES)
        found = limit.shown(StampedEvent("s", "t", 1, 0.0, event))
        return sum(len(one.event.text) for one in found if isinstance(one.event, ToolProgress))

    whole = TURN_BYTES // CALL_BYTES
    assert [shown(str(number)) for number in range(whole + 1)] == [CALL_BYTES] * whole + [0]
    limit.shown(StampedEvent("s", "t", 1, 0.0, TurnEnded("endTurn", None)))
    assert shown("another") == CALL_BYTES
