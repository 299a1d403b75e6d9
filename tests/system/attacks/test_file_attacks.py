"""The file tools of a real agent do not leave the workspace, hosted and in mirror."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from file_attacks import REFUSED, Attack, attacks, lay_out
from ground import MODES, Ground, new_ground
from support.project import step

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /proc, O_PATH")


class Battery:
    """One server and one agent that knows all attacks."""

    def __init__(self, ground: Ground, mode: str) -> None:
        self.ground = ground
        self.mode = mode
        lay_out(ground)
        ground.cwd = ground.folder / "d1"
        self.attacks = {attack.name: attack for attack in attacks(ground)}
        steps = [
            one
            for attack in self.attacks.values()
            for one in (step("", *attack.calls, match=re.escape(attack.prompt)), step("Done."))
        ]
        self.editor = ground.attacked(mode, *steps, options={"permissions": {"other": "allow"}})

    def carry_out(self, attack: Attack) -> list[tuple[bool, str]]:
        """Whether each call failed, and what it said."""
        before = len(self.editor.events("toolResult"))
        result = self.editor.ask_agent(attack.prompt)
        assert result["stopReason"] == "endTurn", result
        self.editor.call("agent/messages")  # what the model was given
        return [
            (event["isError"], "".join(block.get("text", "") for block in event["content"]))
            for event in self.editor.events("toolResult")[before:]
        ]


@pytest.fixture(scope="module", params=MODES)
def battery(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Battery]:
    with new_ground(tmp_path_factory.mktemp(request.param)) as ground:
        yield Battery(ground, request.param)


def names() -> list[str]:
    ground = Ground.__new__(Ground)
    ground.folder = ground.decoy = ground.home = Path("/")
    return [attack.name for attack in attacks(ground)]


@pytest.mark.parametrize("name", names())
def test_no_call_reaches_outside(
    battery: Battery, name: str, report: Callable[[str, str, str, str], None]
) -> None:
    attack = battery.attacks[name]
    outcome = attack.outcome if battery.mode == "hosted" else attack.mirror_outcome
    words = attack.hosted if battery.mode == "hosted" else attack.mirror
    results = battery.carry_out(attack)
    assert len(results) == len(attack.calls)
    assert words in results[0][1]
    if outcome == REFUSED:
        assert all(failed for failed, _ in results), results
    battery.ground.check(battery.editor)
    report(name, battery.mode, outcome, battery.ground.shown(results[0][1]))
