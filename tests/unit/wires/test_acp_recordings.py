"""Every recording of a real ACP agent through the wire, against what its raw frames say."""

import itertools
import random
from pathlib import Path

import pytest
from acp_oracle import NAMES, answers, loaded, turns
from acp_replay import REQUESTS, Replay, load, replay, shapes
from support.zot_replay import check_sequence

MIRROR = {"qwen-code-edit-no-fs-capability": "mirror"}


def played(name: str, cuts: "itertools.cycle[bool] | None" = None) -> Replay:
    return replay(name, cuts, MIRROR.get(name, "auto"))


def test_the_recordings_are_all_known() -> None:
    assert len(NAMES) == 47
    readme = Path(__file__).parents[2] / "recordings" / "acp" / "README.md"
    missing = [name for name in NAMES if f"`{name}`" not in readme.read_text(encoding="utf-8")]
    assert missing == []


def is_begun(name: str, told: dict[str, object], whole: dict[str, object]) -> bool:
    """A command of Claude's is told with its line, before the model has said what it is for."""
    return name.startswith("claude") and told == {"command": whole.get("command")}


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_told_as_its_frames_say(name: str) -> None:
    seen = played(name)
    check_sequence(seen.events)
    wanted = turns(name)
    assert [turn["prompt"] for turn in seen.turns] == [turn["prompt"] for turn in wanted]
    for was, told in zip(wanted, seen.turns, strict=True):
        assert told["text"] == was["text"]
        assert list(told["calls"]) == list(was["calls"])
        for call, args in told["calls"].items():
            assert args == was["calls"][call] or is_begun(name, args, was["calls"][call])
        assert told["stop"] == was["stop"]
        assert told["usage"] == was["usage"]
        assert told["plans"] == was["plans"]
        assert list(told["results"]) == list(dict.fromkeys([*was["results"], *was["calls"]]))
        for call, result in told["results"].items():
            assert result == was["results"].get(call, [True, result[1]])


def test_a_loaded_session_has_the_messages_that_its_frames_repeat() -> None:
    assert load("opencode-load-session") == loaded("opencode-load-session")


@pytest.mark.parametrize("name", NAMES)
def test_the_agents_requests_are_answered_as_the_recorder_did(name: str) -> None:
    seen = played(name)
    told = [{key: each[key] for key in each if key != "jsonrpc"} for each in seen.answered]
    for ours, recorded in zip(told, answers(name), strict=True):
        if "error" in recorded:
            assert "error" in ours or name.startswith("opencode")
        elif recorded["result"].get("outcome") != {"outcome": "cancelled"}:
            assert ours == recorded


@pytest.mark.parametrize("name", NAMES)
def test_it_does_not_matter_where_the_stream_is_cut(name: str) -> None:
    whole = shapes(played(name).decoded)
    assert shapes(played(name, itertools.cycle([True])).decoded) == whole
    for seed in range(5):
        chance = random.Random(seed)
        cuts = (chance.random() < 0.4 for _ in itertools.count())
        assert shapes(replay(name, cuts, MIRROR.get(name, "auto")).decoded) == whole


@pytest.mark.parametrize("name", NAMES)
def test_each_request_of_the_agents_has_a_key_of_its_own(name: str) -> None:
    asked = [item.key for item in played(name).decoded if isinstance(item, REQUESTS)]
    assert len(set(asked)) == len(asked)
