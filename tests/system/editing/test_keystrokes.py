"""Keys typed where they hurt, in editors of every kind, over the real server process: every key
and every edit is in once, or what is said of the edit is so."""

from collections.abc import Callable

import pytest
from counts import Counts
from rounds import Sitting, rounds
from storm import Storm
from support.scripted_editor import POLICIES, Point, Policy
from typing_client import TypingProject

from lsp_agent.text.positions import Encoding
from lsp_agent.workspace.documents.editor import EditorTraits

pytestmark = pytest.mark.xdist_group("keystrokes")

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
EVERY_ENCODING = [(policy, encoding) for policy in POLICIES for encoding in ENCODINGS]
QUICK = [
    (POLICIES[0], "utf-8"),
    (POLICIES[1], "utf-16"),
    (POLICIES[6], "utf-32"),
    (POLICIES[8], "utf-16"),
]
Report = Callable[[str, Counts], None]


def named(value: object) -> str:
    return value.name if isinstance(value, Policy) else str(value)


@pytest.mark.parametrize(
    ("policy", "encoding"),
    [
        each if each in QUICK else pytest.param(*each, marks=pytest.mark.slow)
        for each in EVERY_ENCODING
    ],
    ids=named,
)
def test_what_is_typed_beside_an_edit_and_the_edit_are_in_once(
    project: TypingProject, policy: Policy, encoding: Encoding, report: Report
) -> None:
    seed = EVERY_ENCODING.index((policy, encoding))
    sitting = Sitting(project, policy, encoding, rounds(18, seed))
    sitting.run()
    report(policy.name, sitting.counts)
    assert sitting.wrong == []


BELIEVED: tuple[Point, ...] = ("before send", "before apply", "unanswered", "same didChange")
LIES = [
    (Policy(f"{name}: {lie}", lie=lie, debounce=debounce, traits=traits), outcome)
    for lie, outcome in (
        ("false, done", "in"),
        ("silent, done", "in"),
        ("true, not done", "unknown"),
        ("silent, not done", "unknown"),
        ("late", "unknown"),
        ("refuses", "conflict"),
    )
    for name, debounce, traits in (
        ("at once", 0.0, EditorTraits()),
        ("synced 150 ms", 0.15, EditorTraits(can_sync=True)),
    )
]


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "outcome"), LIES, ids=named)
def test_an_editor_that_lies_is_not_believed(
    project: TypingProject, policy: Policy, outcome: str, report: Report
) -> None:
    count = 12 if outcome == "in" else 4
    sitting = Sitting(
        project, policy, "utf-16", rounds(count, LIES.index((policy, outcome)), BELIEVED)
    )
    sitting.run()
    report(policy.name, sitting.counts)
    assert sitting.wrong == []
    # One that has refused before is waited for until it answers.
    expected = {outcome, "in"} if policy.lie == "late" else {outcome}
    assert {column for _, column in sitting.counts} & {"in", "conflict", "unknown"} <= expected
    if policy.lie == "late":
        assert sum(n for (_, column), n in sitting.counts.items() if column == "late")


#: A client that says nothing while the person types is left out: what it has not said can be lost
#: to a stray edit. The one that is known, plain eglot, gets proposals instead.
TELLING = [policy for policy in POLICIES if policy.checks != "sent"]


@pytest.mark.parametrize(
    "policy",
    [
        each if each is POLICIES[0] else pytest.param(each, marks=pytest.mark.slow)
        for each in TELLING
    ],
    ids=named,
)
def test_a_fast_typist_loses_nothing_beside_a_turn_of_many_edits(
    project: TypingProject, policy: Policy, report: Report
) -> None:
    seed = POLICIES.index(policy)
    storm = Storm(project, policy, ENCODINGS[seed % 3], 30, seed)
    storm.run()
    report(policy.name, storm.counts)
    assert storm.wrong == []
