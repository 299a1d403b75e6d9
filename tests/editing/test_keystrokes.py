"""Keys typed where they hurt, in editors of every kind, over the real server process: every key
and every edit is in once, or what is said of the edit is so."""

import os
from collections.abc import Callable

import pytest
from counts import Counts
from rounds import Sitting, rounds
from scripted_editor import POLICIES, Policy
from typing_client import TypingProject

from lsp_agent.text.positions import Encoding

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
Report = Callable[[str, Counts], None]


def type_and_check(
    project: TypingProject, policy: Policy, encoding: Encoding, count: int, seed: int, out: Report
) -> None:
    sitting = Sitting(project, policy, encoding, rounds(count, seed))
    sitting.run()
    out(policy.name, sitting.counts)
    assert sitting.wrong == []


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_what_is_typed_beside_an_edit_and_the_edit_are_in_once(
    project: TypingProject, policy: Policy, report: Report
) -> None:
    index = POLICIES.index(policy)
    seed = int(os.environ.get("SEED", index))
    type_and_check(project, policy, ENCODINGS[index % 3], 24, seed, report)
