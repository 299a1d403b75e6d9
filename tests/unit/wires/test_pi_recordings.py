"""Every recording of real pi, through the wire, says what an oracle reads in the raw lines."""

import itertools
import json
import random

import pi_oracle
import pytest
from pi_replay import NAMES, RECORDINGS, command, joined, lines, replay
from support.zot_replay import check_sequence

from lsp_agent.protocol.events import StampedEvent, to_json
from lsp_agent.wires.pi.wire import PiWire


def test_all_recordings_of_pi_are_there() -> None:
    assert len(NAMES) == 50


def test_the_readme_describes_each_recording_of_pi_once() -> None:
    text = (RECORDINGS / "README.md").read_text(encoding="utf-8")
    described = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    assert sorted(described) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_of_pi_means_what_its_raw_lines_say(name: str) -> None:
    entries = lines(name)
    seen = replay(entries).turns
    for turn in seen:  # calls of one step may end in any order
        order = [call[0] for call in turn["calls"]]
        turn["results"].sort(key=lambda result: order.index(result[0]))
    read = pi_oracle.turns(entries)
    for turn, raw in zip(seen, read, strict=True):  # which is told in words, with a remedy
        for error, words in zip(turn.pop("errors"), raw.pop("errors"), strict=True):
            assert words in error
            assert '{"' not in error
    assert seen == read


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_of_pi_is_a_well_formed_sequence(name: str) -> None:
    events = replay(lines(name)).events
    check_sequence(events)
    json.dumps([to_json(StampedEvent("s", None, 1, 0.0, event)) for event in events])


@pytest.mark.parametrize("name", NAMES)
def test_the_events_of_pi_do_not_depend_on_how_frames_are_batched(name: str) -> None:
    entries = lines(name)
    whole = replay(entries)
    chance = random.Random(name)
    for share in (0.2, 0.5, 1.0):
        split = replay(entries, (chance.random() < share for _ in itertools.count()))
        assert joined(split.events) == joined(whole.events)
        assert split.replies == whole.replies
        assert split.compactions == whole.compactions
        assert split.requests == whole.requests


@pytest.mark.parametrize("name", NAMES)
def test_commands_to_pi_are_encoded_as_they_were_recorded(name: str) -> None:
    wire = PiWire()
    for entry in lines(name):
        sent = entry["line"]
        wanted = command(sent) if entry["dir"] == "in" else None
        if wanted is not None and not {"customInstructions", "parentSession"} & sent.keys():
            frame = dict(wire.encode(sent["id"], wanted))
            if frame["type"] != "clear_queue":  # what was steered comes first
                assert frame == sent
