"""Every recording of a real Codex through its wire, against what its raw frames say."""

import itertools
import random
from pathlib import Path

import pytest
from codex_oracle import NAMES, answers, compactions, turns
from codex_replay import REQUESTS, replay, shapes
from support.zot_replay import check_sequence

from lsp_agent.wires.wire import CompactEnded


def test_the_recordings_are_all_known() -> None:
    assert len(NAMES) == 14
    readme = Path(__file__).parents[2] / "recordings" / "codex" / "README.md"
    missing = [name for name in NAMES if f"`{name}`" not in readme.read_text(encoding="utf-8")]
    assert missing == []


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_told_as_its_frames_say(name: str) -> None:
    seen = replay(name)
    check_sequence(seen.events)
    wanted = turns(name)
    assert len(wanted) > 0
    for was, told in zip(wanted, seen.turns(), strict=True):
        for errors in zip(was.pop("errors"), told.pop("errors"), strict=True):
            assert errors[0] in errors[1]
        unended = was["calls"].keys() - was["results"].keys()
        assert told.pop("results") == was.pop("results") | dict.fromkeys(unended, True)
        assert told == was
    assert [ended.summary for ended in seen.of(CompactEnded)] == compactions(name)


@pytest.mark.parametrize("name", NAMES)
def test_its_requests_are_answered_as_the_recorder_did(name: str) -> None:
    assert replay(name).answered == answers(name)


@pytest.mark.parametrize("name", NAMES)
def test_it_does_not_matter_where_the_stream_is_cut(name: str) -> None:
    whole = shapes(replay(name).decoded)
    assert shapes(replay(name, itertools.cycle([True])).decoded) == whole
    for seed in range(5):
        chance = random.Random(seed)
        cuts = (chance.random() < 0.4 for _ in itertools.count())
        assert shapes(replay(name, cuts).decoded) == whole


@pytest.mark.parametrize("name", NAMES)
def test_each_request_of_codexs_has_a_key_of_its_own(name: str) -> None:
    asked = [item.key for item in replay(name).decoded if isinstance(item, REQUESTS)]
    assert len(set(asked)) == len(asked)
