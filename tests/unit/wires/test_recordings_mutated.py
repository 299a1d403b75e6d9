"""A recording with damaged frames: the wire raises nothing, and each turn, step and call ends once.

``make fuzz`` runs these with fresh seeds; what it finds becomes an ``@example`` here.
"""

from collections.abc import Sequence
from typing import Any

import acp_oracle
import acp_replay
import pi_replay
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation import mutated
from support import zot_replay
from support.zot_replay import check_sequence

from lsp_agent.protocol.events import Event, TextDelta

Json = dict[str, Any]

SEEDS = st.integers(0, 2**32 - 1)
TIMES = st.integers(1, 8)


@settings(max_examples=150)
@given(st.sampled_from(zot_replay.NAMES), SEEDS, TIMES)
def test_zot(name: str, seed: int, times: int) -> None:
    entries = [each for each in zot_replay.lines(name) if each.get("event") != "exit"]
    ended = {"dir": "meta", "event": "exit"}
    played = zot_replay.replay([*mutated(entries, seed, times), ended])
    check_sequence([stamped.event for stamped in played.stamped])


@settings(max_examples=150)
@given(st.sampled_from(pi_replay.NAMES), SEEDS, TIMES)
def test_pi(name: str, seed: int, times: int) -> None:
    played = pi_replay.replay(mutated(pi_replay.lines(name), seed, times))
    check_sequence(played.events)


@settings(max_examples=150)
@given(st.sampled_from(acp_oracle.NAMES), SEEDS, TIMES)
def test_acp(name: str, seed: int, times: int) -> None:
    check_sequence(_acp_events(mutated(acp_oracle.entries(name), seed, times)))


def test_an_acp_recording_that_is_whole_has_its_turns() -> None:
    for name in acp_oracle.NAMES:
        texts = "".join(
            event.text
            for event in _acp_events(acp_oracle.entries(name))
            if isinstance(event, TextDelta)
        )
        assert texts == "".join(turn["text"] for turn in acp_oracle.turns(name)), name


def _acp_events(entries: Sequence[Json]) -> list[Event]:
    """Ends before a session is loaded, which another process did."""
    player = acp_replay.Player(acp_replay.Replay(acp_replay.new_wire()))
    for entry in entries:
        line = entry["line"]
        if entry["dir"] == "in" and line.get("method") == "session/load":
            break
        if entry["dir"] == "out" and isinstance(line, dict) and ("method" in line or "id" in line):
            player.hear(line)
        elif entry["dir"] == "out":
            player.waiting.append(line)
        elif "method" in line:  # nobody answers what the agent asks
            player.flush()
            player.send(line)
    player.flush()
    player.result.take(player.result.wire.lost("error", "gone"))
    return player.result.events
