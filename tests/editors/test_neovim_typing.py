"""An agent's edits beside a person who types in a real Neovim: none is lost, none is doubled."""

import pytest
from neovim_desk import Desk
from typist import Tally, sitting

pytestmark = pytest.mark.neovim


def check(tally: Tally, seed: int) -> None:
    print(f"\n{Tally.HEAD}\n{tally.row()}")
    assert not tally.wrong, f"seed {seed}: " + "\n".join(tally.wrong)


def test_fifteen_edits_beside_a_typist_are_each_in_once(desk: Desk) -> None:
    check(sitting(desk, seed=1, count=15), 1)


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_a_hundred_edits_beside_a_typist_are_each_in_once(desk: Desk, seed: int) -> None:
    tally = sitting(desk, seed, count=100)
    assert tally.words > 10
    check(tally, seed)
