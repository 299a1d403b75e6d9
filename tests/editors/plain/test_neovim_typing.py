"""An agent beside a person who types in a real Neovim: nothing is lost and nothing is doubled."""

from collections.abc import Callable

import neovim_sittings as sittings
import pytest
from neovim_tally import Tally
from support.neovim_desk import Desk
from support.neovim_versions import NAMES

pytestmark = [
    pytest.mark.neovim,
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.xdist_group("at a keyboard"),
]

TITLE = "Neovim, beside a person who types 15 keys a second"

Check = Callable[[str, Tally], None]


@pytest.fixture
def check(desk: Desk, record_property: Callable[[str, object], None]) -> Check:
    """Puts what came of a sitting into the table at the run's end, and fails if it is wrong."""

    def check(what: str, tally: Tally) -> None:
        cells = {"what": what, "Neovim": desk.version} | tally.cells()
        widths = {name: max(len(name), 6) for name in cells} | {"what": 14}
        head = " | ".join(f"{name:>{widths[name]}}" for name in cells)
        row = " | ".join(f"{cell!s:>{widths[name]}}" for name, cell in cells.items())
        record_property("table", (TITLE, head, row))
        assert not tally.wrong, "\n".join(tally.wrong)

    return check


def seed(desk: Desk, first: int) -> int:
    """Each Neovim has another one."""
    return first + NAMES.index(desk.version)


def test_fifteen_edits_beside_a_typist_are_each_in_once(desk: Desk, check: Check) -> None:
    check("hosted edits", sittings.hosted(desk, seed=1, count=15))


def test_a_hundred_edits_beside_a_typist_are_each_in_once(desk: Desk, check: Check) -> None:
    tally = sittings.hosted(desk, seed(desk, 11), count=100)
    assert tally.words > 10
    check("hosted edits", tally)


def test_hunks_are_undone_and_kept_beside_a_typist(desk: Desk, check: Check) -> None:
    tally = sittings.reviewed(desk, seed=2, count=15)
    assert tally.undone > 0
    assert tally.compared > 0
    check("hunks decided", tally)


def test_many_hunks_are_undone_and_kept_beside_a_typist(desk: Desk, check: Check) -> None:
    check("hunks decided", sittings.reviewed(desk, seed(desk, 21), count=60))


def test_the_last_turn_is_taken_back_and_brought_back_beside_a_typist(
    desk: Desk, check: Check
) -> None:
    tally = sittings.reverted(desk, seed=3, count=8, apart=True)
    check("revert, apart", tally)
    assert tally.reverted == tally.back > 4


def test_a_long_turn_is_taken_back_and_brought_back_beside_a_typist(
    desk: Desk, check: Check
) -> None:
    check("revert, beside", sittings.reverted(desk, seed(desk, 31), count=30, apart=False))


def test_what_an_agent_writes_under_unsaved_text_comes_in_beside_a_typist(
    desk: Desk, check: Check
) -> None:
    check("mirror", sittings.mirrored(desk, seed=4, count=12))


def test_much_that_an_agent_writes_under_unsaved_text_comes_in_beside_a_typist(
    desk: Desk, check: Check
) -> None:
    check("mirror", sittings.mirrored(desk, seed(desk, 41), count=50))


def test_a_typist_loses_nothing_when_the_server_is_killed(desk: Desk, check: Check) -> None:
    check("server killed", sittings.killed(desk, seed=5, count=14))


def test_a_typist_loses_nothing_whenever_the_server_is_killed(desk: Desk, check: Check) -> None:
    check("server killed", sittings.killed(desk, seed(desk, 51), count=40))
