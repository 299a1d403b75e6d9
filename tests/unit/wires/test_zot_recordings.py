"""Every recording of real zot, through the wire, says what an oracle reads in the raw lines."""

import itertools
import json
import random
from pathlib import Path

import oracle
import pytest
from support.zot_replay import (
    NAMES,
    RECORDINGS,
    check_sequence,
    command,
    joined,
    lines,
    replay,
    sent,
)

from lsp_agent.protocol.events import to_json
from lsp_agent.wires.zot.wire import ZotWire


def test_all_recordings_are_there() -> None:
    assert len(NAMES) == 79


def test_each_agent_that_was_recorded_has_such_tests() -> None:
    folders = {path.name for path in RECORDINGS.parent.iterdir() if path.is_dir()}
    tests = Path(__file__).parent.glob("test_*_recordings.py")
    assert folders == {path.name.split("_")[1] for path in tests}


def test_the_readme_describes_each_recording_once() -> None:
    text = (RECORDINGS.parent / "README.md").read_text(encoding="utf-8")
    described = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    assert sorted(described) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_means_what_its_raw_lines_say(name: str) -> None:
    entries = lines(name)
    seen = [
        {
            "text": turn.text,
            "calls": sorted(turn.calls, key=json.dumps),
            "results": turn.results,
            "usage": turn.usage,
            "stop": [end.stop_reason for end in turn.ends],
            "errors": turn.errors,
        }
        for turn in replay(entries).turns
    ]
    said = oracle.turns(entries)
    for turn in said:
        del turn["done"]
        turn["stop"] = [turn["stop"]]  # one end a turn
    assert seen == said


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_a_well_formed_sequence(name: str) -> None:
    stamped = replay(lines(name)).stamped
    assert [event.seq for event in stamped] == list(range(1, len(stamped) + 1))
    check_sequence([event.event for event in stamped])
    json.dumps([to_json(event) for event in stamped])


@pytest.mark.parametrize("name", NAMES)
def test_the_events_do_not_depend_on_how_frames_are_batched(name: str) -> None:
    entries = lines(name)
    whole = replay(entries)
    chance = random.Random(name)
    for share in (0.2, 0.5, 1.0):
        cut = (chance.random() < share for _ in itertools.count())
        split = replay(entries, cut)
        assert joined(split.events) == joined(whole.events)
        assert split.replies == whole.replies
        assert split.compactions == whole.compactions


@pytest.mark.parametrize("name", NAMES)
def test_commands_are_encoded_as_they_were_recorded(name: str) -> None:
    wire = ZotWire()
    for entry in lines(name):
        if entry["dir"] != "in" or "line" not in entry:
            continue
        frame = sent(entry)
        wanted = command(frame)
        recorded = {key: value for key, value in frame.items() if key != "token"}
        odd = not isinstance(recorded.get("message", ""), str) or recorded.get("images") == "no"
        if wanted is not None and not odd:
            encoded = dict(wire.encode(frame["id"], wanted))
            encoded.pop("session", None)  # of hello, for the embedded agent alone
            assert {"model": "", **encoded} == {"model": "", **recorded}
